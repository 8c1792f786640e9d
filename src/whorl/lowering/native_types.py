"""Types that have native code: tensors of known rank, whose lengths are numbers or dims."""

from __future__ import annotations

import math

from whorl.ir.dtypes import BY_NAME, COMPLEX, STRING, name_of
from whorl.ir.types import AnyShape, TensorType, Type, lengths_of
from whorl.lowering.expressions import Unsupported

NATIVE = frozenset(BY_NAME.values()) - COMPLEX - {STRING}
"""The element types that have native code."""


MOST_BYTES = 1 << 62
"""Bytes of a tensor, also of one that is never in memory: indices and distances are 64 bits wide."""


def native_type(type: Type, what: str) -> TensorType:
    """A tensor type of known rank whose element type has native code, or Unsupported."""
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
        raise Unsupported(f"{what} is {type}")
    if type.dtype not in NATIVE:
        raise Unsupported(f"{what} is {name_of(type.dtype)}")
    if math.prod(d for d in type.shape if isinstance(d, int)) * type.dtype.itemsize > MOST_BYTES:
        raise Unsupported(f"{what} is {type}, more than memory can ever hold")
    return type


def fixed_type(type: Type, what: str) -> TensorType:
    """A tensor type with numbers for lengths and an element type with native code, or Unsupported."""
    result = native_type(type, what)
    if not is_fixed(result):
        raise Unsupported(f"the shape of {what} changes or is not known: {type}")
    return result


def is_fixed(type: TensorType) -> bool:
    """Whether every length is a number."""
    return not isinstance(type.shape, AnyShape) and all(isinstance(d, int) for d in type.shape)


def sizes(type: Type) -> tuple[int, ...]:
    """The shape of a tensor whose lengths are all numbers."""
    assert isinstance(type, TensorType) and not isinstance(type.shape, AnyShape)
    return tuple(int(d) for d in type.shape)  # type: ignore[arg-type]


def is_single(type: TensorType) -> bool:
    """Whether a tensor surely has one element."""
    return math.prod(lengths_of(type)) == 1
