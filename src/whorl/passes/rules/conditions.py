"""What rules ask of a match: element types, shapes, the elements of constants, and what the options allow."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from whorl.ir import dims
from whorl.ir.constants import LazyArray, as_array, blocks
from whorl.ir.dtypes import BOOL, STRING, is_float, is_integer
from whorl.ir.elements.base import elements_of
from whorl.ir.graph import Value
from whorl.ir.types import AnyShape, TensorType, Type
from whorl.passes.rules.pattern import Condition, Match, constant_of

_LARGEST = 1 << 16
"""Elements up to which a constant is looked at as a whole."""
_SAMPLE = 16
"""Elements that are looked at before all of them are."""


_SMALL = 4096
"""Elements up to which constants may grow by being broadcast together."""


def same_type(a: Type, b: Type) -> bool:
    """Whether two tensors have one element type and, as far as is proved, one shape."""
    if not isinstance(a, TensorType) or not isinstance(b, TensorType) or a.dtype != b.dtype:
        return False
    return same_shape(a, b)


def same_shape(a: TensorType, b: TensorType) -> bool:
    """Whether two shapes are proved equal."""
    if isinstance(a.shape, AnyShape) or isinstance(b.shape, AnyShape) or len(a.shape) != len(b.shape):
        return False
    return all(dims.equal(x, y) for x, y in zip(a.shape, b.shape, strict=True))


def static_shape(type: Type) -> tuple[int, ...] | None:
    """The shape of a tensor whose dims are all numbers."""
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
        return None
    lengths = tuple(dim for dim in type.shape if isinstance(dim, int))
    return lengths if len(lengths) == len(type.shape) else None


def size_in_bytes(type: Type) -> int | None:
    """The bytes of the elements of a tensor whose dims are all numbers."""
    shape = static_shape(type)
    return None if shape is None or not isinstance(type, TensorType) else math.prod(shape) * type.dtype.itemsize


def is_scalar(value: Value) -> bool:
    """Whether a value is a tensor of rank 0, or of rank 1 with one element."""
    return static_shape(value.type) in ((), (1,))


def preserves_type(name: str) -> Condition:
    """The root gives a tensor of the very type of a value."""
    return lambda m: same_type(m[name].type, m.result.type)


def may_regroup(m: Match) -> bool:
    """Sums and products may be regrouped: of integers, which wrap, always; of floats where `fast_math` says so."""
    return is_integer(m.dtype) or (m.rewriter.context.options.fast_math and is_float(m.dtype))


def joins_small(m: Match) -> bool:
    """The constants `c1` and `c2`, if both are there, broadcast to little more than they are."""
    pair = [m.values[name] for name in ("c1", "c2") if name in m.values]
    shapes = [static_shape(value.type) for value in pair]
    if len(pair) < 2 or any(shape is None for shape in shapes):
        return True
    known = [shape for shape in shapes if shape is not None]
    rank = max(map(len, known))
    padded = [(1,) * (rank - len(shape)) + shape for shape in known]
    broadcast = math.prod(max(lengths) if min(lengths) else 0 for lengths in zip(*padded, strict=True))
    return broadcast <= max(_SMALL, 2 * sum(map(math.prod, known)))


def is_whole(m: Match) -> bool:
    """The root gives integers."""
    return is_integer(m.dtype)


def is_truth(m: Match) -> bool:
    """The root gives bools."""
    return m.dtype == BOOL


def fast_math(m: Match) -> bool:
    """The options allow last bits to change."""
    return m.rewriter.context.options.fast_math


def is_not_scalar(name: str) -> Condition:
    return lambda m: not is_scalar(m[name])


def elements(value: Value | None, most: int = _LARGEST) -> np.ndarray | None:
    """The elements of a constant that has not more than so many."""
    constant = constant_of(value)
    if constant is None or math.prod(constant.value.shape) > most:
        return None
    return as_array(constant.value)


def all_are(name: str, test: Callable[[np.ndarray], np.ndarray | bool]) -> Condition:
    """Every element of a constant passes a test; false for an empty one. No more is read than is needed."""

    def passes(m: Match) -> bool:
        constant = constant_of(m[name])
        if constant is None or constant.value.dtype == STRING or not math.prod(constant.value.shape):
            return False
        return bool(np.all(test(_first(constant.value)))) and all(
            np.all(test(block)) for block in blocks(constant.value)
        )

    return passes


def _first(value: np.ndarray | LazyArray) -> np.ndarray:
    """A few elements of a constant."""
    if isinstance(value, np.ndarray):
        return value.flat[:_SAMPLE]
    return elements_of(value).flat(0, min(_SAMPLE, math.prod(value.shape)))


def bits_are(name: str, number: float) -> Condition:
    """Every element of a constant is the number, the sign of a zero included."""
    sign = math.copysign(1.0, number)
    return all_are(name, lambda a: (a == number) & (not is_float(a.dtype) or np.signbit(a) == (sign < 0)))


def equals(name: str, number: float) -> Condition:
    """Every element of a constant equals the number; -0 equals 0."""
    return all_are(name, lambda a: a == number)
