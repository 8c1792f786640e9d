"""The memory of carried values: two arrays that trade places, or blocks that grow with what they hold."""

from __future__ import annotations

import ctypes
import math
from typing import Any, NamedTuple

import numpy as np

from whorl.codegen.arrays import address_offset
from whorl.debug import poison
from whorl.ir.types import TensorType
from whorl.kernels.aligned import aligned_empty
from whorl.lowering.storage import lengths_of
from whorl.runtime.buffer_pool import empty

WASTE = 1 << 20
"""Bytes that a value may leave unused behind it before it is copied to memory of its own."""
_BYTES = np.dtype(np.uint8)
_OFFSET = address_offset()


class Blocks:
    """Memory that a program asks for while it runs, by address."""

    def __init__(self) -> None:
        self.arrays: dict[int, np.ndarray] = {}

    def take(self, size: int) -> int:
        """The address of a new block."""
        array = poison(aligned_empty((size,), _BYTES))
        found = address(array)
        self.arrays[found] = array
        return found

    def replace(self, old: int, size: int) -> int:
        """The address of a new block in the place of an old one, whose contents nobody needs."""
        found = self.take(size)
        self.arrays.pop(old, None)
        return found

    def grow(self, old: int, size: int) -> int:
        """A larger block with the contents of an old one, which is given back; 0 where there is no memory."""
        try:
            found = self.take(size)
        except (MemoryError, ValueError, OverflowError):
            return 0
        before = self.arrays.pop(old, None) if old else None
        if before is not None:
            self.arrays[found][: len(before)] = before
        return found


class Pair:
    """Two arrays for a carried value of fixed shape; one holds it, and the next one is computed into the other."""

    capacities: tuple[int, ...] = ()

    def __init__(self, value: np.ndarray) -> None:
        self.arrays = empty(value.shape, value.dtype), empty(value.shape, value.dtype)
        self.arrays[0][...] = value
        self.addresses = tuple(map(address, self.arrays))

    def current(self, place: int, cells: np.ndarray) -> np.ndarray:
        """The array at an address."""
        return self.arrays[self.addresses.index(place)]


class Lengthening:
    """Two blocks for a carried value whose lengths along `axes` change; `cell` is the first of its lengths."""

    def __init__(self, value: np.ndarray, blocks: Blocks, size: int, axes: tuple[int, ...], cell: int) -> None:
        self.blocks, self.axes, self.cell = blocks, axes, cell
        self.shape, self.dtype = value.shape, value.dtype
        first = blocks.take(size)
        blocks.arrays[first][: value.nbytes] = np.ascontiguousarray(value).reshape(-1).view(_BYTES)
        self.addresses, self.capacities = (first, 0), (size, 0)

    def current(self, place: int, cells: np.ndarray) -> np.ndarray:
        """The value at an address."""
        shape = list(self.shape)
        for n, axis in enumerate(self.axes):
            shape[axis] = int(cells[self.cell + n])
        size = math.prod(shape) * self.dtype.itemsize
        if not size:
            return np.empty(shape, self.dtype)
        block = self.blocks.arrays[place]
        found = block[:size].view(self.dtype).reshape(shape)
        return found.copy() if len(block) - size > WASTE and len(block) > 2 * size else found


class Rows(NamedTuple):
    """What tells one sequence of equal tensors from another, in the place of a dtype and a shape."""

    dtype: Any
    shape: tuple[int, ...]


def signature_of(value: Any) -> np.ndarray | Rows | None:
    """What a program depends on of a carried value; None for one that it cannot hold."""
    if not isinstance(value, list):
        return value if isinstance(value, np.ndarray) else None
    kinds = {(x.dtype, x.shape) if isinstance(x, np.ndarray) else None for x in value}
    if None in kinds or len(kinds) > 1:
        return None
    return Rows(("sequence", *kinds), ())


def as_rows(value: Any, type: TensorType) -> np.ndarray:
    """A tensor, or the tensors of a sequence stacked."""
    if not isinstance(value, list):
        return value
    shape = tuple(n for n in lengths_of(type)[1:] if isinstance(n, int))
    return np.stack(value) if value else np.empty((0, *shape), type.dtype)


def address(array: np.ndarray) -> int:
    """Where the first element of an array lies."""
    if _OFFSET is None:
        return array.ctypes.data
    return ctypes.c_size_t.from_address(id(array) + _OFFSET).value
