"""Changes of the element type: by value, and by bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from whorl.errors import TypeRuleError
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import (
    BOOL,
    BY_NAME,
    COMPLEX,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    SIGNED,
    STRING,
    UNSIGNED,
    bits,
    is_float,
    name_of,
)
from whorl.ir.graph import Op
from whorl.ir.intervals import Interval, Intervals, truth, whole, within
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Operands, View
from whorl.ir.types import Fact, TensorType, tensor
from whorl.ops.core.base import Elementwise
from whorl.ops.core.contents import is_true
from whorl.ops.elementwise.conversion import FLOAT8E8M0, ROUND_MODES, SATURATING, convert

UINT8 = BY_NAME["uint8"]


def check_conversion(source: np.dtype, target: np.dtype, round_mode: str) -> None:
    """Refuse a pair of element types that no cast defines, and an unknown rounding."""
    if source in COMPLEX and target not in COMPLEX:
        raise TypeRuleError(f"cannot cast {name_of(source)} to {name_of(target)}")
    if target in COMPLEX and source == STRING:
        raise TypeRuleError(f"cannot cast string to {name_of(target)}")
    if round_mode not in ROUND_MODES:
        raise TypeRuleError(f"round_mode {round_mode!r} does not exist", fix=f"one of {', '.join(ROUND_MODES)}")


class Cast(Elementwise, frozen=True):
    """The input in the element type `to`.

    Integers keep their low bits, floats are truncated to integers, zero is False; texts are read and written as
    decimal numbers. `saturate` and `round_mode` are for float8 targets. Errors: a text that is no number is a RunError.
    Source: ONNX Cast-28.
    """

    to: np.dtype
    saturate: int = 1
    round_mode: str = "up"

    def infer(self, x: Fact) -> TensorType:
        check_conversion(tensor(x).dtype, self.to, self.round_mode)
        return tensor(x).with_dtype(self.to)

    def run(self, x: np.ndarray) -> np.ndarray:
        return convert(x, self.to, bool(self.saturate), self.round_mode)

    def scalar(self, k: NativeBuilder, x: Expr) -> Expr:
        if self.to == FLOAT8E8M0 and x.dtype != self.to:
            return _native_power_of_two(k, x, bool(self.saturate), self.round_mode)
        if self.saturate and self.to in SATURATING and x.dtype != self.to:
            x = x if is_float(x.dtype) and x.dtype.itemsize > 1 else k.cast(x, FLOAT32)
            low, high = (k.const(bound, x.dtype) for bound in SATURATING[self.to])
            x = k.apply("min", k.apply("max", x, low), high)
        return k.cast(x, self.to)

    def numbered(self, inputs: Sequence[Fact | None], number: Callable[[str], int]) -> Op | None:
        (x,) = inputs
        return Cast(INT64) if x is not None and tensor(x).dtype == self.to else None

    def of_dims(self, x: Dim) -> Dim:
        return x if self.to in (INT32, INT64) else is_true(x) if self.to == BOOL else UNKNOWN

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        x, dtype = inputs[0], tensor(result).dtype
        limits = whole(dtype)
        if x is None or limits is None:
            return None
        if dtype == BOOL:
            has_zero = x.nan or x.low <= 0 <= x.high
            return truth(True if not has_zero else False if x.is_point else None)
        if x.nan or (dtype.kind in "iu" and not x.is_finite):
            return limits
        if dtype.kind in "iu":
            whole_numbers = Interval(math.trunc(x.low), math.trunc(x.high), below=x.below)
            return within(whole_numbers, dtype)
        with np.errstate(all="ignore"):
            return Interval(float(dtype.type(x.low)), float(dtype.type(x.high)))

    def is_identity(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        return inputs[0] is not None and tensor(inputs[0]).dtype == tensor(outputs[0]).dtype


def _native_power_of_two(k: NativeBuilder, x: Expr, saturate: bool, round_mode: str) -> Expr:
    """float8e8m0 of a number: the code made of the exponent of a float64, one more where the fraction rounds up."""
    x = k.cast(x, FLOAT64)
    bits = k.apply("bits", x, dtype=INT64)
    fraction = k.apply("and", bits, k.const((1 << 52) - 1))
    least = {"up": 1, "down": 1 << 52, "nearest": 1 << 51}[round_mode]
    raised = k.cast(k.compare("ge", fraction, k.const(least)), INT64)
    code = k.add(k.sub(k.apply("shr", bits, k.const(52)), k.const(1023 - 127)), raised)
    code = k.select(k.compare("eq", x, k.const(0, FLOAT64)), k.const(-1), code)
    code = k.select(k.compare("eq", x, k.const(math.inf, FLOAT64)), k.const(255), code)
    if saturate:
        code = k.apply("min", k.apply("max", code, k.const(0)), k.const(254))
    valid = k.compare("ge", x, k.const(0, FLOAT64))
    for bound, compare in ((0, "ge"), (254, "le")):
        valid = k.apply("and", valid, k.compare(compare, code, k.const(bound)))
    return k.apply("bits", k.cast(k.select(valid, code, k.const(255)), UINT8), dtype=FLOAT8E8M0)


class CastLike(Op, frozen=True):
    """The first input in the element type of the second. Source: ONNX CastLike-25."""

    any_length = True
    never_fails = True

    saturate: int = 1
    round_mode: str = "up"

    def infer(self, x: Fact, like: Fact) -> TensorType:
        return self._cast(tensor(like).dtype).infer(x)

    def infer_known(self, *inputs: Fact | None) -> tuple[np.ndarray | None, ...]:
        x, like = inputs
        if x is None or like is None:
            return ()
        return self._cast(tensor(like).dtype).infer_known(x)

    def run(self, x: np.ndarray, like: np.ndarray) -> np.ndarray:
        return convert(x, like.dtype, bool(self.saturate), self.round_mode)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, like = inputs
        return k.elementwise(self._cast(like.dtype).scalar, [x], outputs[0])

    def _cast(self, to: np.dtype) -> Cast:
        return Cast(to, self.saturate, self.round_mode)


class BitCast(Op, frozen=True):
    """The bits of the input read as another type of the same width. Source: ONNX BitCast-26."""

    any_length = True

    to: np.dtype

    def infer(self, x: Fact) -> TensorType:
        source = tensor(x).dtype
        for dtype in (source, self.to):
            if dtype == STRING:
                raise TypeRuleError("does not accept string")
        if bits(source) != bits(self.to):
            widths = f"{name_of(source)} has {bits(source)} bits, {name_of(self.to)} has {bits(self.to)}"
            raise TypeRuleError(widths, fix="use Cast to convert the values")
        return tensor(x).with_dtype(self.to)

    def run(self, x: np.ndarray) -> np.ndarray:
        width = bits(x.dtype)
        if width < 8:
            return _from_codes(x.view(np.uint8) & np.uint8((1 << width) - 1), self.to, width)
        return x.view(np.uint8) != 0 if self.to == BOOL else x.view(self.to)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return k.elementwise(self._scalar, inputs.present(), outputs[0])

    def _scalar(self, k: NativeBuilder, x: Expr) -> Expr:
        if x.dtype == BOOL:
            return k.cast(x, self.to)
        if self.to == BOOL:
            return k.cast(k.apply("bits", x, dtype=UINT8), BOOL)
        return k.apply("bits", x, dtype=self.to)


def _from_codes(codes: np.ndarray, dtype: np.dtype, width: int) -> np.ndarray:
    if dtype in SIGNED:
        codes = codes.astype(np.int8)
        return np.where(codes >> (width - 1), codes - (1 << width), codes).astype(dtype)
    return codes.astype(dtype) if dtype in UNSIGNED else codes.astype(np.uint8).view(dtype)
