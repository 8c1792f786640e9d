"""What ops that move elements share: following dims through them, integer inputs, indices in range, memory."""

from __future__ import annotations

import functools
import math
import operator
import os
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dims import Dim
from whorl.ir.dtypes import INTEGERS, STRING, name_of
from whorl.ir.graph import Op, as_types
from whorl.ir.types import KNOWN_LIMIT, AnyShape, Fact, TensorType, Type, tensor


class Rearranging(Op, frozen=True):
    """An op whose `run` only moves elements, so that it moves dims as well.

    What it would refuse at run time, or what is too large to follow, is not known.
    """

    abstract: ClassVar[bool] = True

    symbolic = True
    polymorphic = True

    def infer_known(self, *inputs: Any, **options: Any) -> tuple[np.ndarray | None, ...]:
        if any(x is not None and x.known is None for x in inputs):
            return ()
        if not is_small(as_types(self.infer(*inputs))[0]):
            return ()
        try:
            return super().infer_known(*inputs)
        except RunError:
            return ()


def is_small(type: Type) -> bool:
    """Whether a tensor surely has so few elements that inference follows them."""
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
        return False
    lengths = [dim for dim in type.shape if isinstance(dim, int)]
    return len(lengths) == len(type.shape) and math.prod(lengths) <= KNOWN_LIMIT


def as_objects(elements: Sequence[Dim]) -> np.ndarray:
    """Dims as the known elements of a rank-1 tensor."""
    array = np.empty(len(elements), dtype=object)
    array[:] = elements
    return array


def integer_input(fact: Fact, what: str) -> TensorType:
    """The type of an input that must hold integers."""
    type = tensor(fact, what)
    if type.dtype not in INTEGERS:
        raise TypeRuleError(f"{what} holds {name_of(type.dtype)}, expected integers")
    return type


def vector_length(fact: Fact, what: str) -> int | None:
    """The number of integers in an input of rank 1 (or a scalar), if its type says it."""
    shape = integer_input(fact, what).shape
    if isinstance(shape, AnyShape):
        return None
    if len(shape) > 1:
        raise TypeRuleError(f"{what} has rank {len(shape)}, expected 1")
    length = shape[0] if shape else 1
    return length if isinstance(length, int) else None


def integers(value: np.ndarray) -> list[int]:
    """The elements of a small integer tensor as Python numbers; TypeError where one is a named dim."""
    return [operator.index(element) for element in value.reshape(-1).tolist()]


def sizes(value: np.ndarray, what: str) -> tuple[int, ...]:
    """The elements of a shape tensor, none of them negative."""
    lengths = tuple(integers(value))
    if any(size < 0 for size in lengths):
        raise RunError(f"{what} is {list(lengths)}, lengths must not be negative")
    return lengths


def run_axis(axis: int, rank: int) -> int:
    """An axis counted from the front, for `run`; out of range is a RunError."""
    if not -rank <= axis < rank:
        raise RunError(f"axis {axis} is outside [{-rank}, {rank}) of a tensor of rank {rank}")
    return axis % rank


def in_range(indices: np.ndarray, length: int, axis: int) -> np.ndarray:
    """Indices into an axis counted from the front; one outside the axis is a RunError."""
    index = indices.astype(np.int64)
    lowest, highest = (index.min(), index.max()) if index.size else (0, 0)
    if lowest < -length or (highest >= length and index.size):
        bad = index[(index < -length) | (index >= length)]
        raise RunError(f"index {bad[0]} is outside [{-length}, {length}) of axis {axis}")
    return index if lowest >= 0 else np.where(index < 0, index + length, index)


def zero_of(dtype: np.dtype) -> np.ndarray:
    """Zero, False or the empty string."""
    return np.array("", dtype=object) if dtype == STRING else np.zeros((), dtype)


@functools.cache
def machine_memory() -> int:
    """Bytes of memory this machine has; where the system does not tell, the largest array NumPy can describe."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return (1 << 63) - 1


def require_memory(shape: Sequence[int], dtype: np.dtype) -> None:
    """Refuse a result that this machine can never hold, before anything is allocated."""
    need = math.prod(shape) * dtype.itemsize
    if need > machine_memory():
        raise RunError(f"{name_of(dtype)}{list(shape)} takes {need} bytes, more than this machine's memory")


def broadcast_value(value: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """A broadcast view: elements that repeat share memory."""
    try:
        return np.broadcast_to(value, shape)
    except ValueError:
        raise RunError(f"{name_of(value.dtype)}{list(shape)} has more elements than memory can ever hold") from None
