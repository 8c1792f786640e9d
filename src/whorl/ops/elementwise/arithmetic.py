"""Arithmetic element by element: sums, products, quotients, extremes and rounding."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import partial, reduce

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import BY_NAME, INTEGERS, PACKED_BITS, SIGNED, is_float, is_integer
from whorl.ir.elements.base import Elements
from whorl.ir.graph import Op
from whorl.ir.intervals import Interval, Intervals, corners, within
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Operands, View
from whorl.ir.types import AnyShape, Fact, TensorType, Type, tensor
from whorl.ops.core.base import (
    COMPUTED_FLOATS,
    Elementwise,
    accumulator,
    known_ints,
    larger,
    require_dtype,
    same_dtype,
    smaller,
    widen,
)
from whorl.ops.core.lazy import Lazy, lazy_map, lazy_view
from whorl.ops.movement.lengths import bounds, maximum, minimum

WHOLE = INTEGERS - frozenset(PACKED_BITS)
"""The integer types with arithmetic; packed ones are only stored."""
NUMBERS = WHOLE | COMPUTED_FLOATS
BFLOAT16 = BY_NAME["bfloat16"]


class Identity(Op, frozen=True):
    """The input itself: a tensor, sequence, optional or map. Source: ONNX Identity-25."""

    polymorphic = True
    any_length = True
    never_fails = True

    def infer(self, x: Fact) -> Type:
        return x.type

    def infer_known(self, *inputs: Fact | None) -> tuple[np.ndarray | None, ...]:
        return tuple(None if x is None else x.known for x in inputs)

    lazily = lazy_view
    moves_elements = True

    def run(self, x: object) -> object:
        return x

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return inputs

    def is_identity(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        return True


class Add(Elementwise, frozen=True):
    """x + y; integers wrap. Source: ONNX Add-14."""

    dtypes = NUMBERS
    symbolic = True

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x + y

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.add(x, y)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        return corners(operator.add, inputs, tensor(result).dtype)

    def neutral(self, dtype: np.dtype) -> float | None:
        return -0.0 if is_float(dtype) else 0


class Sub(Elementwise, frozen=True):
    """x - y; integers wrap. Source: ONNX Sub-14."""

    dtypes = NUMBERS
    symbolic = True
    cancels = True

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x - y

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.sub(x, y)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        return corners(operator.sub, inputs, tensor(result).dtype)

    def neutral(self, dtype: np.dtype) -> float | None:
        return 0


class Mul(Elementwise, frozen=True):
    """x * y; integers wrap. Source: ONNX Mul-14."""

    dtypes = NUMBERS
    symbolic = True

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x * y

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.mul(x, y)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        return corners(operator.mul, inputs, tensor(result).dtype)

    def neutral(self, dtype: np.dtype) -> float | None:
        return 1

    def absorbing(self, dtype: np.dtype) -> float | None:
        return 0 if is_integer(dtype) else None


class Div(Elementwise, frozen=True):
    """x / y; of integers truncated toward zero, the smallest by -1 wraps to itself.

    Errors: an integer division by zero is a RunError. Source: ONNX Div-14.
    """

    dtypes = NUMBERS

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        kind = x.dtype.kind
        if kind not in "iu":
            return x / y
        refuse_zero_divisor(x, y)
        quotient = x // y
        return quotient if kind == "u" else quotient + ((quotient < 0) & (quotient * y != x))

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.div(x, nonzero_divisor(k, y))

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return divide_views(k, self, inputs, outputs)

    def lazily(self, *inputs: Elements) -> Lazy:
        return lazy_map(self, *inputs) if inputs[0].dtype in COMPUTED_FLOATS else None

    def of_dims(self, x: Dim, y: Dim) -> Dim:
        floored = bounds(x)[0] >= 0 and bounds(y)[0] >= 0
        exact = isinstance(y, int) and y > 0 and dims.equal(dims.call("mod", x, y), 0)
        return dims.call("floor", x, y) if floored or exact else UNKNOWN

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        return not is_integer(tensor(results[0]).dtype) or has_no_zero(inputs[1], operands[1])

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        x, y = inputs
        if x is None or y is None or not _divides_positively(y, result):
            return None
        ends = [_truncated(int(a), int(b)) for a in (x.low, x.high) for b in (y.low, y.high)]
        return Interval(min(ends), max(ends))

    def neutral(self, dtype: np.dtype) -> float | None:
        return 1


class Mod(Elementwise, frozen=True):
    """x - floor(x / y) * y, with the sign of y; with `fmod` truncated instead of floored, with the sign of x.

    Errors: an integer modulus of zero is a RunError. Source: ONNX Mod-28.
    """

    fmod: int = 0
    dtypes = NUMBERS

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if x.dtype.kind in "iu":
            refuse_zero_divisor(x, y)
        return np.fmod(x, y) if self.fmod else np.mod(x, y)

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        y = nonzero_divisor(k, y)
        zero = k.const(0, x.dtype)
        rest = k.apply("rem" if x.dtype.kind in "iu" else "fmod", x, y)
        if self.fmod or x.dtype.kind == "u":
            return rest
        opposed = k.apply("xor", k.compare("lt", rest, zero), k.compare("lt", y, zero))
        none = zero if x.dtype.kind == "i" else k.select(k.compare("lt", y, zero), k.const(-0.0, x.dtype), zero)
        return k.select(k.compare("eq", rest, zero), none, k.select(opposed, k.add(rest, y), rest))

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return divide_views(k, self, inputs, outputs)

    def lazily(self, *inputs: Elements) -> Lazy:
        return lazy_map(self, *inputs) if inputs[0].dtype in COMPUTED_FLOATS else None

    def of_dims(self, x: Dim, y: Dim) -> Dim:
        floored = bounds(y)[0] >= 0 and (not self.fmod or bounds(x)[0] >= 0)
        return dims.call("mod", x, y) if floored else UNKNOWN

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        return not is_integer(tensor(results[0]).dtype) or has_no_zero(inputs[1], operands[1])

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        x, y = inputs
        if x is None or y is None or not _divides_positively(y, result):
            return None
        if x.low >= 0:
            return Interval(0, min(y.high - 1, x.high))
        return Interval(1 - y.high if self.fmod else 0, y.high - 1)


def refuse_zero_divisor(x: np.ndarray, y: np.ndarray) -> None:
    """A RunError where an integer would be divided by zero."""
    if y.all() or not x.size:
        return
    for index in np.argwhere(y == 0)[:1].tolist():
        raise RunError(f"integer division by zero{f', at {index} of the divisor' if index else ''}")


def has_no_zero(interval: Interval | None, operand: Fact | None) -> bool:
    """Whether no element of an operand is 0, by an interval of them or because they are known."""
    known = known_ints(operand)
    return all(known) if known is not None else interval is not None and not interval.has_zero


def nonzero_divisor(k: NativeBuilder, y: Expr) -> Expr:
    """A divisor, read once; native code fails where an integer would be divided by zero."""
    if y.dtype.kind in "iu":
        y = k.let(y)
        k.fail_unless(k.compare("ne", y, k.const(0, y.dtype)))
    return y


def divide_views(
    k: NativeBuilder, op: Elementwise, inputs: Operands, outputs: Sequence[TensorType]
) -> Sequence[View] | None:
    """The native form of a division. One that may fail is materialised: it fails also where no element is read."""
    views = k.elementwise(op.scalar, inputs.present(), outputs[0])
    divisors = inputs[1].known
    is_safe = divisors is not None and all(isinstance(n, int) and n for n in divisors.flat)
    if views is None or is_safe or inputs[1].dtype.kind not in "iu":
        return views
    return [k.materialise(view) for view in views]


class Neg(Elementwise, frozen=True):
    """-x; the smallest integer is its own negative. Source: ONNX Neg-13."""

    dtypes = (SIGNED & WHOLE) | COMPUTED_FLOATS
    symbolic = True

    def run(self, x: np.ndarray) -> np.ndarray:
        return -x

    def scalar(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.apply("neg", x)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        x = inputs[0]
        return None if x is None else within(Interval(-x.high, -x.low, x.nan), tensor(result).dtype)


class Abs(Elementwise, frozen=True):
    """|x|; the smallest integer is its own absolute value. Source: ONNX Abs-13."""

    dtypes = NUMBERS

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.abs(x)

    def scalar(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.apply("abs", x)

    def of_dims(self, x: Dim) -> Dim:
        return x if bounds(x)[0] >= 0 else UNKNOWN

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        x = inputs[0]
        if x is None:
            return None
        low = 0 if x.low <= 0 <= x.high else min(abs(x.low), abs(x.high))
        return within(Interval(low, max(abs(x.low), abs(x.high)), x.nan), tensor(result).dtype)

    def selected_operand(self, inputs: Intervals, operands: Sequence[Fact | None]) -> int | None:
        return 0 if inputs[0] is not None and inputs[0].has_no_sign else None


class Sign(Elementwise, frozen=True):
    """-1, 0 or 1; NaN for NaN. Source: ONNX Sign-13."""

    dtypes = NUMBERS

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.sign(x)

    def scalar(self, k: NativeBuilder, x: Expr) -> Expr:
        zero, one = k.const(0, x.dtype), k.const(1, x.dtype)
        rest = x if x.dtype == BFLOAT16 else k.select(k.compare("eq", x, zero), zero, x)
        if x.dtype.kind != "u":
            rest = k.select(k.compare("lt", x, zero), k.const(-1, x.dtype), rest)
        return k.select(k.compare("gt", x, zero), one, rest)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        x = inputs[0]
        return None if x is None else Interval(int(np.sign(x.low)), int(np.sign(x.high)), x.nan)


class Reciprocal(Elementwise, frozen=True):
    """1 / x. Source: ONNX Reciprocal-13."""

    dtypes = COMPUTED_FLOATS

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.reciprocal(x)

    def scalar(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.div(k.const(1, x.dtype), x)


class Ceil(Elementwise, frozen=True):
    """The smallest whole number that is at least x. Source: ONNX Ceil-13."""

    dtypes = COMPUTED_FLOATS

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.ceil(x)

    def scalar(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.apply("ceil", x)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        x = inputs[0]
        return None if x is None or not x.is_finite else Interval(float(math.ceil(x.low)), float(math.ceil(x.high)))


class Floor(Elementwise, frozen=True):
    """The largest whole number that is at most x. Source: ONNX Floor-13."""

    dtypes = COMPUTED_FLOATS

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.floor(x)

    def scalar(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.apply("floor", x)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        x = inputs[0]
        return None if x is None or not x.is_finite else Interval(float(math.floor(x.low)), float(math.floor(x.high)))


class Round(Elementwise, frozen=True):
    """The nearest whole number, halves to the even one. Source: ONNX Round-22."""

    dtypes = COMPUTED_FLOATS

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.rint(x)

    def scalar(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.apply("rint", x)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        x = inputs[0]
        return None if x is None or not x.is_finite else Interval(float(round(x.low)), float(round(x.high)))


class Max(Elementwise, frozen=True):
    """The largest of any number of inputs; NaN where one is NaN. Source: ONNX Max-13."""

    dtypes = NUMBERS
    idempotent = True

    def run(self, *inputs: np.ndarray) -> np.ndarray:
        return reduce(larger, inputs)

    def scalar(self, k: NativeBuilder, *elements: Expr) -> Expr:
        return reduce(partial(k.apply, "max"), elements)

    def of_dims(self, *elements: Dim) -> Dim:
        return reduce(maximum, elements)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        known = [x for x in inputs if x is not None]
        if len(known) < len(inputs):
            return None
        return Interval(max(x.low for x in known), max(x.high for x in known), any(x.nan for x in known))

    def selected_operand(self, inputs: Intervals, operands: Sequence[Fact | None]) -> int | None:
        return _extreme_operand(inputs, operands, lambda x, y: x.low > y.high)

    def neutral(self, dtype: np.dtype) -> float | None:
        return np.iinfo(dtype).min if is_integer(dtype) else -math.inf

    def is_identity(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        return len(inputs) == 1


class Min(Elementwise, frozen=True):
    """The smallest of any number of inputs; NaN where one is NaN. Source: ONNX Min-13."""

    dtypes = NUMBERS
    idempotent = True

    def run(self, *inputs: np.ndarray) -> np.ndarray:
        return reduce(smaller, inputs)

    def scalar(self, k: NativeBuilder, *elements: Expr) -> Expr:
        return reduce(partial(k.apply, "min"), elements)

    def of_dims(self, *elements: Dim) -> Dim:
        return reduce(minimum, elements)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        known = [x for x in inputs if x is not None]
        if len(known) < len(inputs):
            return None
        return Interval(min(x.low for x in known), min(x.high for x in known), any(x.nan for x in known))

    def selected_operand(self, inputs: Intervals, operands: Sequence[Fact | None]) -> int | None:
        return _extreme_operand(inputs, operands, lambda x, y: x.high < y.low)

    def neutral(self, dtype: np.dtype) -> float | None:
        return np.iinfo(dtype).max if is_integer(dtype) else math.inf

    def is_identity(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        return len(inputs) == 1


class Sum(Elementwise, frozen=True):
    """The sum of any number of inputs, narrow floats added in float32. Source: ONNX Sum-13."""

    dtypes = COMPUTED_FLOATS

    def run(self, *inputs: np.ndarray) -> np.ndarray:
        return _total(inputs).astype(inputs[0].dtype, copy=False)

    def scalar(self, k: NativeBuilder, *elements: Expr) -> Expr:
        return k.cast(_native_total(k, elements), elements[0].dtype)

    def is_identity(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        return len(inputs) == 1


class Mean(Elementwise, frozen=True):
    """The mean of any number of inputs, narrow floats added in float32. Source: ONNX Mean-13."""

    dtypes = COMPUTED_FLOATS

    def run(self, *inputs: np.ndarray) -> np.ndarray:
        return (_total(inputs) / len(inputs)).astype(inputs[0].dtype, copy=False)

    def scalar(self, k: NativeBuilder, *elements: Expr) -> Expr:
        total = _native_total(k, elements)
        return k.cast(k.div(total, k.const(len(elements), total.dtype)), elements[0].dtype)

    def is_identity(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        return len(inputs) == 1


def _total(inputs: tuple[np.ndarray, ...]) -> np.ndarray:
    return reduce(np.add, [widen(x) for x in inputs])


def _native_total(k: NativeBuilder, elements: Sequence[Expr]) -> Expr:
    return reduce(k.add, [k.cast(x, accumulator(x.dtype)) for x in elements])


class Clip(Elementwise, frozen=True):
    """min(high, max(low, x)), each bound optional: NaN stays, and `high` rules where it is below `low`.

    Shapes: the bounds have one element. Source: ONNX Clip-13.
    """

    dtypes = NUMBERS

    def infer(self, x: Fact, low: Fact | None = None, high: Fact | None = None) -> TensorType:
        require_dtype(same_dtype(x, low, high), self.dtypes)
        for bound, what in ((low, "min"), (high, "max")):
            if bound is not None:
                _check_bound(tensor(bound), what)
        return tensor(x)

    def run(self, x: np.ndarray, low: np.ndarray | None = None, high: np.ndarray | None = None) -> np.ndarray:
        if low is not None:
            x = larger(x, _bound(low, "min"))
        if high is not None:
            x = smaller(x, _bound(high, "max"))
        return x

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, low, high = inputs[0], inputs.optional(1), inputs.optional(2)
        bounds = [(name, view) for name, view in (("max", low), ("min", high)) if view is not None]
        if any(view.size != 1 for _, view in bounds):
            return None

        def clip(k: NativeBuilder, element: Expr) -> Expr:
            for name, view in bounds:
                element = k.apply(name, element, view.at((k.const(0),) * len(view.shape)))
            return element

        return k.elementwise(clip, [x], outputs[0])

    def of_dims(self, x: Dim, low: Dim | None = None, high: Dim | None = None) -> Dim:
        raised = x if low is None else maximum(x, low)
        return raised if high is None else minimum(raised, high)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        x, low, high = (*inputs, None, None)[:3]
        if x is not None and low is not None:
            x = Interval(max(x.low, low.low), max(x.high, low.high), x.nan or low.nan)
        if x is not None and high is not None:
            x = Interval(min(x.low, high.low), min(x.high, high.high), x.nan or high.nan)
        return x

    def selected_operand(self, inputs: Intervals, operands: Sequence[Fact | None]) -> int | None:
        x, low, high = (*inputs, None, None)[:3]
        if x is None or (low is None and high is None) or any(y is not None and y.nan for y in (x, low, high)):
            return None
        return 0 if (low is None or low.high < x.low) and (high is None or high.low > x.high) else None

    def is_identity(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        return all(limit is None for limit in inputs[1:])


def _check_bound(bound: TensorType, what: str) -> None:
    if not isinstance(bound.shape, AnyShape) and any(isinstance(dim, int) and dim != 1 for dim in bound.shape):
        raise TypeRuleError(f"{what} is {bound}, expected one element")


def _bound(bound: np.ndarray, what: str) -> np.ndarray:
    if bound.ndim == 0:
        return bound
    if bound.size != 1:
        raise RunError(f"{what} has shape {list(bound.shape)}, expected one element")
    return bound.reshape(())


def _divides_positively(divisor: Interval, result: Fact) -> bool:
    return tensor(result).dtype.kind in "iu" and divisor.low > 0


def _truncated(a: int, b: int) -> int:
    return a // b if a >= 0 else -(-a // b)


def _extreme_operand(
    inputs: Intervals, operands: Sequence[Fact | None], is_beyond: Callable[[Interval, Interval], bool]
) -> int | None:
    """The operand that is beyond all others; it must not touch them, since 0 and -0 are equal in an interval."""
    known = [x for x in inputs if x is not None and not x.nan]
    if len(known) < len(inputs):
        return None
    for k, x in enumerate(known):
        others = [y for y, operand in zip(known, operands, strict=True) if operand is not operands[k]]
        if others and all(is_beyond(x, y) for y in others):
            return k
    return None
