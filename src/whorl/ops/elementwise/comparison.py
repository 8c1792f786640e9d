"""Elementwise comparisons, and Where."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import BOOL, BY_NAME, name_of
from whorl.ir.intervals import TRUTH, Interval, Intervals, truth, union
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.types import Fact, TensorType, tensor
from whorl.ops.core.base import COMPUTED_FLOATS, Elementwise, Predicate, broadcast_shapes, same_dtype
from whorl.ops.core.contents import is_equal, is_less, negate
from whorl.ops.elementwise.arithmetic import NUMBERS
from whorl.ops.movement.lengths import at_most

SPECIAL_FLOATS = COMPUTED_FLOATS | {BY_NAME[f"float8{n}"] for n in ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz")}
"""The floating-point types that IsNaN and IsInf accept."""


class Equal(Predicate, frozen=True):
    """x == y, of numbers, bools or texts; NaN equals nothing. Source: ONNX Equal-19."""

    polymorphic = True

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.equal(x, y)

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.compare("eq", x, y)

    def of_dims(self, x: Dim, y: Dim) -> Dim:
        return is_equal(x, y)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        x, y = inputs
        if x is None or y is None:
            return None
        if x.high < y.low or y.high < x.low:
            return truth(False)
        return truth(True if x.is_point and y.is_point and x.low == y.low else None)


class Less(Predicate, frozen=True):
    """x < y. Source: ONNX Less-13."""

    dtypes = NUMBERS

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x < y

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.compare("lt", x, y)

    def of_dims(self, x: Dim, y: Dim) -> Dim:
        return is_less(x, y)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        return _is_less(inputs[0], inputs[1], operands[1])


class LessOrEqual(Predicate, frozen=True):
    """x <= y. Source: ONNX LessOrEqual-16."""

    dtypes = NUMBERS

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x <= y

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.compare("le", x, y)

    def of_dims(self, x: Dim, y: Dim) -> Dim:
        return negate(is_less(y, x))

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        return _is_at_most(inputs[0], inputs[1])


class Greater(Predicate, frozen=True):
    """x > y. Source: ONNX Greater-13."""

    dtypes = NUMBERS

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x > y

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.compare("gt", x, y)

    def of_dims(self, x: Dim, y: Dim) -> Dim:
        return is_less(y, x)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        return _is_less(inputs[1], inputs[0], operands[0])


class GreaterOrEqual(Predicate, frozen=True):
    """x >= y. Source: ONNX GreaterOrEqual-16."""

    dtypes = NUMBERS

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x >= y

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.compare("ge", x, y)

    def of_dims(self, x: Dim, y: Dim) -> Dim:
        return negate(is_less(x, y))

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        return _is_at_most(inputs[1], inputs[0])


class IsNaN(Predicate, frozen=True):
    """Whether it is not a number. Source: ONNX IsNaN-20."""

    dtypes = SPECIAL_FLOATS

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.isnan(x)

    def scalar(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.apply("isnan", x, dtype=BOOL)


class IsInf(Predicate, frozen=True):
    """Whether it is infinite, of a sign that `detect_positive` or `detect_negative` selects. Source: ONNX IsInf-20."""

    detect_negative: int = 1
    detect_positive: int = 1
    dtypes = SPECIAL_FLOATS

    def run(self, x: np.ndarray) -> np.ndarray:
        infinite = np.isinf(x)
        if self.detect_negative and self.detect_positive:
            return infinite
        if not self.detect_negative and not self.detect_positive:
            return np.zeros_like(infinite)
        return infinite & (np.signbit(x) if self.detect_negative else ~np.signbit(x))

    def scalar(self, k: NativeBuilder, x: Expr) -> Expr:
        result: Expr = k.const(False, BOOL)
        for detects, infinity in ((self.detect_negative, -math.inf), (self.detect_positive, math.inf)):
            if detects:
                result = k.apply("or", result, k.compare("eq", x, k.const(infinity, x.dtype)))
        return result


class Where(Elementwise, frozen=True):
    """x where the condition is true, else y; all three broadcast. Source: ONNX Where-16."""

    polymorphic = True

    def infer(self, condition: Fact, x: Fact, y: Fact) -> TensorType:
        if tensor(condition).dtype != BOOL:
            raise TypeRuleError(f"the condition is {name_of(tensor(condition).dtype)}, expected bool")
        shapes = (tensor(fact).shape for fact in (condition, x, y))
        return TensorType(same_dtype(x, y), broadcast_shapes(*shapes))

    def run(self, condition: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where(condition, x, y)

    def scalar(self, k: NativeBuilder, condition: Expr, x: Expr, y: Expr) -> Expr:
        return k.select(condition, x, y)

    def of_dims(self, condition: Dim, x: Dim, y: Dim) -> Dim:
        if not isinstance(condition, bool):
            return x if dims.equal(x, y) else UNKNOWN
        return x if condition else y

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        condition, x, y = inputs
        if condition is None or not condition.is_point:
            return union((x, y))
        return x if condition.low else y


def _is_less(x: Interval | None, y: Interval | None, limit: Fact | None) -> Interval:
    """Whether x < y, by their intervals, or since x is below a dim that no known element of y is below."""
    if x is None or y is None:
        return TRUTH
    if x.low >= y.high:
        return truth(False)
    if x.nan or y.nan:
        return TRUTH
    if x.high < y.low:
        return truth(True)
    known, below = None if limit is None else limit.known, x.below
    if known is None or below is None or not known.size:
        return TRUTH
    return truth(True if all(at_most(below, dim) for dim in known.flat) else None)


def _is_at_most(x: Interval | None, y: Interval | None) -> Interval:
    if x is None or y is None:
        return TRUTH
    if x.low > y.high:
        return truth(False)
    return truth(True if x.high <= y.low and not x.nan and not y.nan else None)
