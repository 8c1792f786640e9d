"""A pool of the memory of large results, which later results reuse: fresh pages cost more than many a loop."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from whorl.debug import debug, poison
from whorl.kernels.aligned import aligned_empty

LARGE, LARGEST = 1 << 17, 1 << 26
"""Bytes of the arrays whose memory goes to the pool."""
_BYTES = np.dtype(np.uint8)
_spare: deque[Memory] = deque(maxlen=6)


class Memory(np.ndarray):
    """Bytes of a class of their own: NumPy takes a view of a plain array for that array, and does not keep the view."""

    __slots__ = ()


class Lone(np.ndarray):
    """A view of memory that an array lies in; the memory goes back to the system with it: it is more than the pool may
    keep, or has contents that are its own."""

    __slots__ = ()


class Block(Lone):
    """The same of memory that goes back to the pool when the array and all views of it are gone."""

    __slots__ = ()

    def __del__(self) -> None:
        memory = self.base
        if isinstance(memory, Memory):  # that of a view which somebody makes of this one is this one
            _spare.append(memory)


def _array_in(kind: type[Lone], memory: Memory, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """An array in memory, by way of a view that says where this goes; to describe it to `np.asarray` takes longer."""
    return np.ndarray(shape, dtype, np.ndarray.__new__(kind, memory.shape, _BYTES, memory))


def adopt(memory: np.ndarray, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """An array in memory that nobody else has, of as many bytes or more."""
    return _array_in(Lone, memory.view(Memory), shape, dtype)


def empty(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """An array without contents; a large one begins at a cache line, in memory used before if there is some."""
    size = math.prod(shape) * dtype.itemsize
    if not LARGE <= size <= LARGEST or dtype.isbuiltin != 1 or dtype.hasobject:
        return np.empty(shape, dtype) if dtype.hasobject else poison(np.empty(shape, dtype))
    return _array_in(Block, _take(size), shape, dtype)


def release() -> None:
    """Give what is in the pool back to the system, as where memory is short."""
    _spare.clear()


def make_allocator(shape: Sequence[int], dtype: np.dtype) -> Callable[[], np.ndarray]:
    """A function that makes such arrays; for small ones NumPy's own."""
    return partial(np.empty if is_small(shape, dtype) else empty, tuple(shape), dtype)


def is_small(shape: Sequence[int], dtype: np.dtype) -> bool:
    """Whether NumPy itself makes such arrays."""
    return math.prod(shape) * dtype.itemsize < LARGE and not debug().poisons


def is_recycled(array: np.ndarray) -> bool:
    """Whether an array is all that lies in its memory, which is not NumPy's own."""
    return isinstance(array.base, Lone)


def _take(size: int) -> Memory:
    """Memory of a size, poisoned: the latest in the pool, which caches may still hold, or fresh."""
    for _ in range(len(_spare)):
        try:
            memory = _spare.pop()
        except IndexError:
            break
        if memory.nbytes == size:
            poison(memory)
            return memory
        _spare.appendleft(memory)
    return poison(aligned_empty((size,), _BYTES)).view(Memory)
