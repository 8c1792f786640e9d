"""Elementwise comparisons, and Where."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import BOOL, BY_NAME, name_of
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.types import Fact, TensorType, tensor
from whorl.ops.core.base import COMPUTED_FLOATS, Elementwise, Predicate, broadcast_shapes, same_dtype
from whorl.ops.core.contents import proved_equal, proved_less
from whorl.ops.elementwise.arithmetic import NUMBERS

SPECIAL_FLOATS = COMPUTED_FLOATS | {BY_NAME[f"float8{n}"] for n in ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz")}
"""The floating-point types of which NaN and infinity are asked."""


@dataclass(frozen=True)
class Equal(Predicate):
    """x == y, of numbers, bools or texts; NaN equals nothing. Source: ONNX Equal-19."""

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.equal(x, y)

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.compare("eq", x, y)

    def of_dims(self, x: Dim, y: Dim) -> Any:
        return proved_equal(x, y)


@dataclass(frozen=True)
class Less(Predicate):
    """x < y. Source: ONNX Less-13."""

    dtypes = NUMBERS

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x < y

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.compare("lt", x, y)

    def of_dims(self, x: Dim, y: Dim) -> Any:
        return proved_less(x, y)


@dataclass(frozen=True)
class LessOrEqual(Predicate):
    """x <= y. Source: ONNX LessOrEqual-16."""

    dtypes = NUMBERS

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x <= y

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.compare("le", x, y)

    def of_dims(self, x: Dim, y: Dim) -> Any:
        return _opposite(proved_less(y, x))


@dataclass(frozen=True)
class Greater(Predicate):
    """x > y. Source: ONNX Greater-13."""

    dtypes = NUMBERS

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x > y

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.compare("gt", x, y)

    def of_dims(self, x: Dim, y: Dim) -> Any:
        return proved_less(y, x)


@dataclass(frozen=True)
class GreaterOrEqual(Predicate):
    """x >= y. Source: ONNX GreaterOrEqual-16."""

    dtypes = NUMBERS

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x >= y

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.compare("ge", x, y)

    def of_dims(self, x: Dim, y: Dim) -> Any:
        return _opposite(proved_less(x, y))


def _opposite(answer: Any) -> Any:
    return UNKNOWN if answer is UNKNOWN else not answer


@dataclass(frozen=True)
class IsNaN(Predicate):
    """Whether it is not a number. Source: ONNX IsNaN-20."""

    dtypes = SPECIAL_FLOATS

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.isnan(x)

    def scalar(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.apply("isnan", x, dtype=BOOL)


@dataclass(frozen=True)
class IsInf(Predicate):
    """Whether it is infinite, of a sign that is asked for. Source: ONNX IsInf-20."""

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
        result = k.const(False, BOOL)
        for wanted, infinity in ((self.detect_negative, -math.inf), (self.detect_positive, math.inf)):
            if wanted:
                result = k.apply("or", result, k.compare("eq", x, k.const(infinity, x.dtype)))
        return result


@dataclass(frozen=True)
class Where(Elementwise):
    """x where the condition is true, else y; all three broadcast. Source: ONNX Where-16."""

    def infer(self, condition: Fact, x: Fact, y: Fact) -> TensorType:
        if tensor(condition).dtype != BOOL:
            raise TypeRuleError(f"the condition is {name_of(tensor(condition).dtype)}, expected bool")
        shapes = (tensor(fact).shape for fact in (condition, x, y))
        return TensorType(same_dtype(x, y), broadcast_shapes(*shapes))

    def run(self, condition: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where(condition, x, y)

    def scalar(self, k: NativeBuilder, condition: Expr, x: Expr, y: Expr) -> Expr:
        return k.select(condition, x, y)

    def of_dims(self, condition: Any, x: Dim, y: Dim) -> Dim:
        if condition is UNKNOWN:
            return x if dims.equal(x, y) else UNKNOWN
        return x if condition else y
