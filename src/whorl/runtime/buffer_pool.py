"""A pool of the memory of large results, which later results reuse: fresh pages cost more than many a loop."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from whorl.debug import debug, poison
from whorl.kernels.aligned import aligned_empty

LARGE, LARGEST = 1 << 17, 1 << 26
"""Bytes of the arrays whose memory goes to the pool."""
_spare: deque[np.ndarray] = deque(maxlen=6)


class Block:
    """Memory that an array lies in, which goes back when the array and all views of it are gone."""

    def __init__(self, memory: np.ndarray, shape: Sequence[int], dtype: np.dtype) -> None:
        self.memory = memory
        self.__array_interface__: dict[str, Any] = {
            "version": 3,
            "typestr": dtype.str,
            "shape": tuple(shape),
            "data": memory.__array_interface__["data"],
        }

    def __del__(self) -> None:
        _spare.append(self.memory)


class Lone(Block):
    """Memory that goes back to the system: more than the pool may keep, or with contents that are its own."""

    def __del__(self) -> None:
        pass


def adopt(memory: np.ndarray, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """An array in memory that nobody else has, of as many bytes or more."""
    return np.asarray(Lone(memory, shape, dtype))


def empty(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """An array without contents; a large one begins at a cache line, in memory used before if there is some."""
    size = math.prod(shape) * dtype.itemsize
    if not LARGE <= size <= LARGEST or dtype.isbuiltin != 1 or dtype.hasobject:
        return np.empty(shape, dtype) if dtype.hasobject else poison(np.empty(shape, dtype))
    return np.asarray(Block(poison(_take(size)), shape, dtype))


def release() -> None:
    """Give what is in the pool back to the system, as where memory is short."""
    _spare.clear()


def make_allocator(shape: Sequence[int], dtype: np.dtype) -> Callable[[], np.ndarray]:
    """A function that makes such arrays; for small ones NumPy's own."""
    is_small = math.prod(shape) * dtype.itemsize < LARGE and not debug().poisons
    return partial(np.empty if is_small else empty, tuple(shape), dtype)


def is_recycled(array: np.ndarray) -> bool:
    """Whether an array is all that lies in its memory, which is not NumPy's own."""
    return isinstance(array.base, Block)


def _take(size: int) -> np.ndarray:
    """Memory of a size: the latest in the pool, which caches may still hold, or fresh."""
    for _ in range(len(_spare)):
        try:
            memory = _spare.pop()
        except IndexError:
            break
        if memory.nbytes == size:
            return memory
        _spare.appendleft(memory)
    return aligned_empty((size,), np.dtype(np.uint8))
