"""Truth values and bits: And, Or, Xor, Not on bools, the same on the bits of integers, and shifts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.errors import TypeRuleError
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL
from whorl.ir.intervals import Interval, Intervals, truth
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.types import Fact, TensorType
from whorl.ops.core.base import Elementwise
from whorl.ops.core.contents import is_equal, negate
from whorl.ops.elementwise.arithmetic import WHOLE
from whorl.ops.movement.lengths import maximum, minimum

_BOOL_ONLY = frozenset((BOOL,))


class And(Elementwise, frozen=True):
    """Whether both are true. Source: ONNX And-7."""

    dtypes = _BOOL_ONLY
    idempotent = True

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x & y

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.apply("and", x, y)

    def of_dims(self, x: Dim, y: Dim) -> Dim:
        return False if x is False or y is False else minimum(x, y)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        known = _known_truths(inputs)
        return truth(False if False in known else True if None not in known else None)

    def neutral(self, dtype: np.dtype) -> float | None:
        return 1

    def absorbing(self, dtype: np.dtype) -> float | None:
        return 0


class Or(Elementwise, frozen=True):
    """Whether one or both are true. Source: ONNX Or-7."""

    dtypes = _BOOL_ONLY
    idempotent = True

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x | y

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.apply("or", x, y)

    def of_dims(self, x: Dim, y: Dim) -> Dim:
        return True if x is True or y is True else maximum(x, y)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        known = _known_truths(inputs)
        return truth(True if True in known else False if None not in known else None)

    def neutral(self, dtype: np.dtype) -> float | None:
        return 0

    def absorbing(self, dtype: np.dtype) -> float | None:
        return 1


class Xor(Elementwise, frozen=True):
    """Whether exactly one is true. Source: ONNX Xor-7."""

    dtypes = _BOOL_ONLY
    cancels = True

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x ^ y

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.apply("xor", x, y)

    def of_dims(self, x: Dim, y: Dim) -> Dim:
        return negate(is_equal(x, y))

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        x, y = _known_truths(inputs)
        return truth(None if x is None or y is None else x != y)

    def neutral(self, dtype: np.dtype) -> float | None:
        return 0


class Not(Elementwise, frozen=True):
    """Whether it is false. Source: ONNX Not-1."""

    dtypes = _BOOL_ONLY

    def run(self, x: np.ndarray) -> np.ndarray:
        return ~x

    def scalar(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.apply("not", x)

    def of_dims(self, x: Dim) -> Dim:
        return negate(x)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        (x,) = _known_truths(inputs)
        return truth(None if x is None else not x)


class BitwiseAnd(Elementwise, frozen=True):
    """The bits that both have. Source: ONNX BitwiseAnd-18."""

    dtypes = WHOLE
    idempotent = True

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x & y

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.apply("and", x, y)

    def neutral(self, dtype: np.dtype) -> float | None:
        return _all_ones(dtype)

    def absorbing(self, dtype: np.dtype) -> float | None:
        return 0


class BitwiseOr(Elementwise, frozen=True):
    """The bits that one or both have. Source: ONNX BitwiseOr-18."""

    dtypes = WHOLE
    idempotent = True

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x | y

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.apply("or", x, y)

    def neutral(self, dtype: np.dtype) -> float | None:
        return 0

    def absorbing(self, dtype: np.dtype) -> float | None:
        return _all_ones(dtype)


class BitwiseXor(Elementwise, frozen=True):
    """The bits that exactly one has. Source: ONNX BitwiseXor-18."""

    dtypes = WHOLE
    cancels = True

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x ^ y

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.apply("xor", x, y)

    def neutral(self, dtype: np.dtype) -> float | None:
        return 0


class BitwiseNot(Elementwise, frozen=True):
    """The bits that it lacks. Source: ONNX BitwiseNot-18."""

    dtypes = WHOLE

    def run(self, x: np.ndarray) -> np.ndarray:
        return ~x

    def scalar(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.apply("not", x)


class BitShift(Elementwise, frozen=True):
    """x with its bits shifted by y to the LEFT or to the RIGHT, copies of the sign bit moving in from the left.

    A shift by the width or more, or by a negative number, leaves 0; -1 where a negative x moves right.
    Source: ONNX BitShift-28.
    """

    direction: str
    dtypes = WHOLE

    def infer(self, *inputs: Fact | None) -> TensorType:
        if self.direction not in ("LEFT", "RIGHT"):
            raise TypeRuleError(f"direction {self.direction!r} does not exist", fix="LEFT or RIGHT")
        return super().infer(*inputs)

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.left_shift(x, y) if self.direction == "LEFT" else np.right_shift(x, y)

    def scalar(self, k: NativeBuilder, x: Expr, y: Expr) -> Expr:
        return k.apply("shl" if self.direction == "LEFT" else "shr", x, y)

    def neutral(self, dtype: np.dtype) -> float | None:
        return 0


def _known_truths(inputs: Intervals) -> list[bool | None]:
    return [bool(x.low) if x is not None and x.is_point else None for x in inputs]


def _all_ones(dtype: np.dtype) -> int:
    return -1 if dtype.kind == "i" else int(np.iinfo(dtype).max)
