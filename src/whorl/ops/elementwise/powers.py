"""Powers of numbers, of integers too."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from whorl.errors import RunError
from whorl.ir.dtypes import BY_NAME, FLOAT32, FLOAT64, INT64, is_integer
from whorl.ir.intervals import Intervals
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Operands, View
from whorl.ir.types import Fact, TensorType, tensor
from whorl.ops.core.base import Elementwise, broadcast_shapes, require_dtype
from whorl.ops.elementwise.arithmetic import NUMBERS
from whorl.ops.elementwise.conversion import to_integer


class Pow(Elementwise, frozen=True):
    """x to the power y, in the element type of x; y may have any other. Integers wrap, real results are truncated.

    Errors: zero to a negative integer power is a RunError. Source: ONNX Pow-15.
    """

    dtypes = NUMBERS

    def infer(self, x: Fact, y: Fact) -> TensorType:
        base, exponent = tensor(x), tensor(y)
        require_dtype(base.dtype, self.dtypes)
        require_dtype(exponent.dtype, self.dtypes)
        return base.with_shape(broadcast_shapes(base.shape, exponent.shape))

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if x.dtype.kind in "iu":
            return _integer_power(x, y)
        if x.dtype == y.dtype:
            return np.power(x, y)
        return np.power(x.astype(FLOAT64), y.astype(FLOAT64)).astype(x.dtype)

    def lazily(self, *inputs: object) -> None:
        """Integers may be refused, and NumPy takes another way to a square where the exponent has one element."""
        return None

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        if x.dtype.kind in "iu" and y.dtype.kind in "iu":
            return _native_integer_power(k, x, y)
        is_real = x.dtype.kind not in "iu"
        if is_real and k.number(y) == 2:
            return k.mul(x, x)
        if is_real and k.number(y) == 3:
            wide = k.cast(x, FLOAT32) if x.dtype.itemsize < FLOAT32.itemsize else x
            return k.cast(k.mul(k.mul(wide, wide), wide), x.dtype)
        if is_real and k.number(y) == 0.5:
            infinity = k.const(math.inf, x.dtype)
            root = k.apply("sqrt", k.add(x, k.const(0.0, x.dtype)))
            return k.select(k.compare("eq", x, k.apply("neg", infinity)), infinity, root)
        if x.dtype == y.dtype:
            return k.apply("pow", x, y)
        return k.cast(k.apply("pow", k.cast(x, FLOAT64), k.cast(y, FLOAT64)), x.dtype)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        views = k.elementwise(self.scalar, inputs.present(), outputs[0])
        may_fail = all(view.dtype.kind in "iu" for view in inputs) and inputs[1].dtype not in _SHORT_UNSIGNED
        return [k.materialise(view) for view in views] if may_fail and views is not None else views

    def neutral(self, dtype: np.dtype) -> float | None:
        return 1

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        return not is_integer(tensor(results[0]).dtype) or (inputs[1] is not None and inputs[1].low >= 0)


_SHORT_UNSIGNED = frozenset(BY_NAME[n] for n in ("uint8", "uint16", "uint32"))
"""The unsigned types whose values all fit int64."""


def _native_integer_power(k: NativeBuilder, x: Expr, y: Expr) -> Expr:
    if k.number(y) == 2:
        return k.mul(x, x)
    base, exponent, zero, one = k.cast(x, INT64), k.cast(y, INT64), k.const(0), k.const(1)
    if y.dtype in _SHORT_UNSIGNED:
        return k.cast(k.apply("pow", base, exponent), x.dtype)
    negative = k.compare("lt", exponent, zero)
    fails = negative if y.dtype.kind == "u" else k.apply("and", negative, k.compare("eq", base, zero))
    k.fail_unless(k.apply("not", fails))
    whole = k.apply("pow", base, k.apply("abs", exponent))
    inverse = k.select(k.compare("eq", k.apply("abs", base), one), whole, zero)
    return k.cast(k.select(negative, inverse, whole), x.dtype)


def _integer_power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if y.dtype.kind not in "iu":
        return to_integer(np.power(x.astype(FLOAT64), y.astype(FLOAT64)), x.dtype)
    base, exponent = x.astype(INT64), y.astype(INT64)
    negative = exponent < 0 if y.dtype.kind == "i" else np.False_
    if not np.any(negative):
        return np.power(base, exponent).astype(x.dtype)
    if np.any(negative & (base == 0)):
        raise RunError("zero to a negative power has no integer value")
    whole = np.power(base, np.abs(exponent))
    inverse = np.where(np.abs(base) == 1, whole, 0)
    return np.where(negative, inverse, whole).astype(x.dtype)
