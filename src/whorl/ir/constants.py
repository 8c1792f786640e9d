"""The Constant op and what it may hold: arrays, elements that are not computed yet, all that can become an array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from msgspec import Struct

from whorl.errors import WhorlError
from whorl.ir.dtypes import STRING
from whorl.ir.elements.base import Leaf, elements_of
from whorl.ir.elements.regions import unraveled
from whorl.ir.graph import Op
from whorl.ir.types import KNOWN_LIMIT, TensorType


class LazyArray(Protocol):
    """An array whose bytes are fetched when somebody asks for them; `ir.elements` are such."""

    @property
    def dtype(self) -> np.dtype: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    def numpy(self) -> np.ndarray: ...


FixedArray = np.ndarray | LazyArray
"""Elements that are the same in every run."""


class MissingArray(Struct, frozen=True):
    """A tensor whose elements cannot be read, for those who look at types alone; `numpy()` raises the reason."""

    dtype: np.dtype
    shape: tuple[int, ...]
    reason: WhorlError

    def numpy(self) -> np.ndarray:
        raise self.reason


def as_array(value: np.ndarray | LazyArray) -> np.ndarray:
    """The elements of a constant; a NumPy array, memory-mapped or not, is used as it is."""
    return value if isinstance(value, np.ndarray) else value.numpy()


def as_value(value: Any) -> Any:
    """What an input has by default: the elements of a tensor, or the items of a sequence."""
    return as_array(value) if hasattr(value, "dtype") else value


def blocks(value: np.ndarray | LazyArray) -> Iterator[np.ndarray]:
    """The elements of a constant as arrays that follow each other in row-major order; few are in memory at a time."""
    if isinstance(value, np.ndarray) and (value.dtype == STRING or value.nbytes <= _AT_ONCE):
        yield value
        return
    yield from elements_of(value).blocks()


_AT_ONCE = 1 << 16
_SAMPLES = 8
_COMPARED = 1 << 28
"""Bytes of elements that are computed to be compared."""


class Constant(Op, frozen=True, eq=False):
    """A tensor fixed in the program. Source: ONNX Constant-25, initializers."""

    value: Any

    def infer(self) -> TensorType:
        return TensorType(self.value.dtype, tuple(self.value.shape))

    def infer_known(self) -> tuple[np.ndarray | None, ...]:
        shape = self.value.shape
        is_large = len(shape) > 1 or (shape and shape[0] > KNOWN_LIMIT)
        if is_large or self.value.dtype == object or isinstance(self.value, MissingArray):
            return (None,)
        return (as_array(self.value).astype(object),)

    def run(self) -> np.ndarray:
        return as_array(self.value)


def sample_of(value: np.ndarray | LazyArray) -> Any:
    """A few elements of a constant, the same ones of any that has its type and shape."""
    if value.dtype == STRING:
        return tuple(as_array(value).reshape(-1)[:_SAMPLES].tolist())
    source = elements_of(value)
    if source.size <= _SAMPLES:
        return source.numpy().tobytes()
    indices = (unraveled(k * (source.size - 1) // (_SAMPLES - 1), source.shape) for k in range(_SAMPLES))
    with np.errstate(all="ignore"):
        return [source.read(tuple((k, k + 1) for k in index), {}).tobytes() for index in indices]


def same_elements(a: np.ndarray | LazyArray, b: np.ndarray | LazyArray) -> bool:
    """Whether two constants hold the same, bit for bit; read block by block until they differ.

    No answer is False: where it takes too long to compute them.
    """
    if a is b:
        return True
    if a.dtype != b.dtype or tuple(a.shape) != tuple(b.shape):
        return False
    if a.dtype == STRING:
        return as_array(a).tolist() == as_array(b).tolist()
    x, y = elements_of(a), elements_of(b)
    if x.nbytes > _COMPARED and not (isinstance(x, Leaf) and isinstance(y, Leaf)):
        return False
    limit = max(x.window, y.window)
    return all(p.tobytes() == q.tobytes() for p, q in zip(x.blocks(limit), y.blocks(limit), strict=True))
