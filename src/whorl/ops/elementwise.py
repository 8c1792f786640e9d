"""Arithmetic element by element: sums, products, quotients, powers, extremes and rounding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import FLOAT64, INT64, INTEGERS, PACKED_BITS, SIGNED
from whorl.ir.op import Op
from whorl.ir.types import AnyShape, Fact, TensorType, Type, tensor
from whorl.ops.base import (
    COMPUTED_FLOATS,
    Elementwise,
    broadcast_shapes,
    require_dtype,
    same_dtype,
    widened,
)
from whorl.ops.conversion import to_integer
from whorl.ops.lengths import bounds, maximum, minimum

WHOLE = INTEGERS - frozenset(PACKED_BITS)
"""The integer types with arithmetic; those that share a byte are only stored."""
NUMBERS = WHOLE | COMPUTED_FLOATS


@dataclass(frozen=True)
class Identity(Op):
    """The input itself: a tensor, sequence, optional or map. Source: ONNX Identity-25."""

    def infer(self, x: Fact) -> Type:
        return x.type

    def infer_known(self, *inputs: Fact | None) -> tuple[np.ndarray | None, ...]:
        return tuple(None if x is None else x.known for x in inputs)

    def run(self, x: Any) -> Any:
        return x

    def lower(self, k: Any, inputs: Sequence[Any], outputs: Sequence[Type]) -> Sequence[Any] | None:
        return inputs


@dataclass(frozen=True)
class Add(Elementwise):
    """x + y; integers wrap. Source: ONNX Add-14."""

    dtypes = NUMBERS
    symbolic = True

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x + y

    def scalar(self, k: Any, x: Any, y: Any) -> Any:
        return k.add(x, y)


@dataclass(frozen=True)
class Sub(Elementwise):
    """x - y; integers wrap. Source: ONNX Sub-14."""

    dtypes = NUMBERS
    symbolic = True

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x - y

    def scalar(self, k: Any, x: Any, y: Any) -> Any:
        return k.sub(x, y)


@dataclass(frozen=True)
class Mul(Elementwise):
    """x * y; integers wrap. Source: ONNX Mul-14."""

    dtypes = NUMBERS
    symbolic = True

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x * y

    def scalar(self, k: Any, x: Any, y: Any) -> Any:
        return k.mul(x, y)


@dataclass(frozen=True)
class Div(Elementwise):
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

    def of_dims(self, x: Dim, y: Dim) -> Dim:
        floored = bounds(x)[0] >= 0 and bounds(y)[0] >= 0
        exact = isinstance(y, int) and y > 0 and dims.equal(dims.call("mod", x, y), 0)
        return dims.call("floor", x, y) if floored or exact else UNKNOWN


@dataclass(frozen=True)
class Mod(Elementwise):
    """x - floor(x / y) * y, with the sign of y; with `fmod` truncated instead of floored, with the sign of x.

    Errors: an integer modulus of zero is a RunError. Source: ONNX Mod-28.
    """

    fmod: int = 0
    dtypes = NUMBERS

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if x.dtype.kind in "iu":
            refuse_zero_divisor(x, y)
        return np.fmod(x, y) if self.fmod else np.mod(x, y)

    def of_dims(self, x: Dim, y: Dim) -> Dim:
        floored = bounds(y)[0] >= 0 and (not self.fmod or bounds(x)[0] >= 0)
        return dims.call("mod", x, y) if floored else UNKNOWN


def refuse_zero_divisor(x: np.ndarray, y: np.ndarray) -> None:
    """A RunError where an integer would be divided by zero."""
    if y.all() or not x.size:
        return
    place = np.argwhere(y == 0)[0].tolist()
    raise RunError(f"integer division by zero{f', at {place} of the divisor' if place else ''}")


@dataclass(frozen=True)
class Pow(Elementwise):
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


@dataclass(frozen=True)
class Neg(Elementwise):
    """-x; the smallest integer is its own negative. Source: ONNX Neg-13."""

    dtypes = (SIGNED & WHOLE) | COMPUTED_FLOATS
    symbolic = True

    def run(self, x: np.ndarray) -> np.ndarray:
        return -x


@dataclass(frozen=True)
class Abs(Elementwise):
    """|x|; the smallest integer is its own absolute value. Source: ONNX Abs-13."""

    dtypes = NUMBERS

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.abs(x)

    def of_dims(self, x: Dim) -> Dim:
        return x if bounds(x)[0] >= 0 else UNKNOWN


@dataclass(frozen=True)
class Sign(Elementwise):
    """-1, 0 or 1; NaN for NaN. Source: ONNX Sign-13."""

    dtypes = NUMBERS

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.sign(x)


@dataclass(frozen=True)
class Reciprocal(Elementwise):
    """1 / x. Source: ONNX Reciprocal-13."""

    dtypes = COMPUTED_FLOATS

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.reciprocal(x)


@dataclass(frozen=True)
class Ceil(Elementwise):
    """The smallest whole number that is at least x. Source: ONNX Ceil-13."""

    dtypes = COMPUTED_FLOATS

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.ceil(x)


@dataclass(frozen=True)
class Floor(Elementwise):
    """The largest whole number that is at most x. Source: ONNX Floor-13."""

    dtypes = COMPUTED_FLOATS

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.floor(x)


@dataclass(frozen=True)
class Round(Elementwise):
    """The nearest whole number, halves to the even one. Source: ONNX Round-22."""

    dtypes = COMPUTED_FLOATS

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.rint(x)


@dataclass(frozen=True)
class Max(Elementwise):
    """The largest of any number of inputs; NaN where one is NaN. Source: ONNX Max-13."""

    dtypes = NUMBERS

    def run(self, *inputs: np.ndarray) -> np.ndarray:
        return reduce(np.maximum, inputs)

    def of_dims(self, *elements: Dim) -> Dim:
        return reduce(maximum, elements)


@dataclass(frozen=True)
class Min(Elementwise):
    """The smallest of any number of inputs; NaN where one is NaN. Source: ONNX Min-13."""

    dtypes = NUMBERS

    def run(self, *inputs: np.ndarray) -> np.ndarray:
        return reduce(np.minimum, inputs)

    def of_dims(self, *elements: Dim) -> Dim:
        return reduce(minimum, elements)


@dataclass(frozen=True)
class Sum(Elementwise):
    """The sum of any number of inputs, narrow floats added in float32. Source: ONNX Sum-13."""

    dtypes = COMPUTED_FLOATS

    def run(self, *inputs: np.ndarray) -> np.ndarray:
        return _total(inputs).astype(inputs[0].dtype, copy=False)


@dataclass(frozen=True)
class Mean(Elementwise):
    """The mean of any number of inputs, narrow floats added in float32. Source: ONNX Mean-13."""

    dtypes = COMPUTED_FLOATS

    def run(self, *inputs: np.ndarray) -> np.ndarray:
        return (_total(inputs) / len(inputs)).astype(inputs[0].dtype, copy=False)


def _total(inputs: tuple[np.ndarray, ...]) -> np.ndarray:
    return reduce(np.add, [widened(x) for x in inputs])


@dataclass(frozen=True)
class Clip(Elementwise):
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
            x = np.maximum(x, _bound(low, "min"))
        if high is not None:
            x = np.minimum(x, _bound(high, "max"))
        return x

    def of_dims(self, x: Dim, low: Dim | None = None, high: Dim | None = None) -> Dim:
        raised = x if low is None else maximum(x, low)
        return raised if high is None else minimum(raised, high)


def _check_bound(bound: TensorType, what: str) -> None:
    if not isinstance(bound.shape, AnyShape) and any(isinstance(dim, int) and dim != 1 for dim in bound.shape):
        raise TypeRuleError(f"{what} is {bound}, expected one element")


def _bound(bound: np.ndarray, what: str) -> np.ndarray:
    if bound.ndim == 0:
        return bound
    if bound.size != 1:
        raise RunError(f"{what} has shape {list(bound.shape)}, expected one element")
    return bound.reshape(())
