"""The memory of programs while they run: growable buffers, sequences as rows, arrays at addresses."""

from __future__ import annotations

import ctypes
import math
import mmap
from collections.abc import Sequence
from itertools import accumulate
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from whorl.codegen.array_address import address_offset
from whorl.debug import poison
from whorl.ir.dims import Dim
from whorl.ir.native.expressions import Buffer, Expr
from whorl.ir.types import AnyShape, TensorType, lengths_of
from whorl.kernels.aligned import aligned_empty
from whorl.runtime.buffer_pool import adopt
from whorl.runtime.compiled.mapping import bytes_of, map_memory, resize
from whorl.runtime.values import is_array, is_sequence

BYTES = np.dtype(np.uint8)
_OFFSET = address_offset()
ANY_RANK = 1
"""The rank of a list's arrays where there is none and no type says it."""
_DTYPE, _SHAPE, _NDIM, _SIZE = map(attrgetter, ("dtype", "shape", "ndim", "size"))


class GrowableMemory:
    """Memory that a program asks for while it runs, by address, and how many bytes it is."""

    def __init__(self) -> None:
        self.arrays: dict[int, np.ndarray] = {}
        self.mappings: dict[int, mmap.mmap] = {}
        self.size = 0

    def clear(self) -> None:
        """Give all of it back."""
        self.arrays.clear()
        self.mappings.clear()
        self.size = 0

    def allocate(self, size: int) -> int:
        """The address of a new buffer. Errors: MemoryError, OSError, ValueError, OverflowError where there is none."""
        mapping = map_memory(size)
        if mapping is not None:
            return self._keep(bytes_of(mapping), mapping)
        return self._keep(poison(aligned_empty((size,), BYTES)))

    def _keep(self, array: np.ndarray, mapping: mmap.mmap | None = None) -> int:
        start = address(array)
        self.arrays[start] = array
        if mapping is not None:
            self.mappings[start] = mapping
        self.size += len(array)
        return start

    def free(self, start: int) -> np.ndarray | None:
        """Give a buffer back."""
        array = self.arrays.pop(start, None)
        self.mappings.pop(start, None)
        self.size -= 0 if array is None else len(array)
        return array

    def replace(self, old: int, size: int) -> int:
        """The address of a new buffer instead of an old one, whose contents are lost."""
        start = self.allocate(size)
        self.free(old)
        return start

    def grow(self, old: int, size: int) -> int:
        """A larger buffer with the contents of an old one, which is given back; 0 where there is no memory."""
        try:
            moved = self._resize(old, size) if old in self.mappings else 0
            if moved:
                return moved
            start = self.allocate(size)
        except (MemoryError, OSError, ValueError, OverflowError):
            return 0
        before = self.free(old) if old else None
        if before is not None:
            self.arrays[start][: len(before)] = before
        return start

    def _resize(self, old: int, size: int) -> int:
        """The address of a mapped buffer once it has another size; 0 where an array shows it. Errors: OSError."""
        mapping, before = self.mappings[old], len(self.arrays.pop(old))
        try:
            is_done = resize(mapping, size)
        except OSError:
            self.arrays[old] = bytes_of(mapping)
            raise
        if not is_done:
            self.arrays[old] = bytes_of(mapping)
            return 0
        del self.mappings[old]
        self.size -= before
        return self._keep(bytes_of(mapping), mapping)

    def take(self, start: int, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
        """What a buffer begins with as an array, which the buffer's memory is then alone for."""
        size = math.prod(shape) * dtype.itemsize
        if start in self.mappings:
            start = self._resize(start, size) or start
        array = self.arrays[start]
        self.free(start)
        return adopt(array, shape, dtype)


class SequenceSignature(NamedTuple):
    """The signature of a sequence of equal tensors, in the form of an element type and a shape."""

    dtype: tuple[str, np.dtype | None, tuple[int, ...]]
    shape: tuple[int, ...] = ()


def state_signature(value: object) -> np.ndarray | SequenceSignature | None:
    """What a program depends on of a carried value; None for one that has no native form."""
    if is_array(value):
        return value
    if not is_sequence(value):
        return None
    if not value:
        return SequenceSignature(("sequence", None, ()))
    first = value[0]
    if not is_array(first):
        return None
    dtype, shape = first.dtype, first.shape
    for item in value:
        if not is_array(item) or item.shape != shape or item.dtype != dtype:
            return None
    return SequenceSignature(("sequence", dtype, shape))


def stack_sequence(value: np.ndarray | Sequence[np.ndarray], type: TensorType) -> np.ndarray:
    """A tensor, or the tensors of a sequence stacked."""
    if isinstance(value, np.ndarray):
        return value
    if value:
        shape = value[0].shape
        return np.concatenate(value).reshape(len(value), *shape) if shape else np.stack(value)
    return np.empty((0, *(n for n in lengths_of(type)[1:] if isinstance(n, int))), type.dtype)


def flatten_list(value: object, element: TensorType) -> tuple[np.ndarray, np.ndarray] | None:
    """The elements of a list of arrays of one rank and this type, and the table of their shapes, else None.

    A row of the table is where the elements of an array begin, then its lengths (`lowering/ragged.py`). Without arrays,
    the rank is that of the type, or `ANY_RANK`.
    """
    items = _arrays_of(value, element.dtype)
    if items is None:
        return None
    if not items:
        rank = ANY_RANK if element.rank is None else element.rank
        return np.empty(0, element.dtype), np.empty((0, 1 + rank), np.int64)
    if len({*map(_NDIM, items)}) > 1:
        return None
    rank = items[0].ndim
    table = np.empty((len(items), 1 + rank), np.int64)
    if rank:
        table[:, 1:] = [*map(_SHAPE, items)]
    table[:, 0] = [0, *accumulate(map(_SIZE, items[:-1]))]
    if not isinstance(element.shape, AnyShape) and not _fits(table, element.shape):
        return None
    return np.concatenate(items if rank == 1 else [*map(np.ravel, items)]), table


def _fits(table: np.ndarray, shape: Sequence[Dim]) -> bool:
    """Whether all arrays of a list have the lengths that their type says."""
    columns = table[:, 1:].T
    pairs = zip(columns, shape, strict=False)
    return len(columns) == len(shape) and all((n == column).all() for column, n in pairs if isinstance(n, int))


def _arrays_of(value: object, dtype: np.dtype) -> list[np.ndarray] | None:
    """A list of arrays of this element type; None for all else."""
    if not is_sequence(value):
        return None
    items: list[Any] = value
    count = len(items)
    is_typed = [*map(type, items)].count(np.ndarray) == count and [*map(_DTYPE, items)].count(dtype) == count
    return items if is_typed else None


def unstack(rows: np.ndarray) -> list[np.ndarray]:
    """The tensors of a sequence that lies in memory as rows, each in memory of its own."""
    return [*map(np.ndarray.copy, rows)] if rows.ndim > 1 else [rows[n, ...].copy() for n in range(len(rows))]


def buffer_shape(buffer: Buffer, unknown: int = 0) -> tuple[int, ...]:
    """The shape of a buffer whose lengths are numbers, but for the first, which may be unknown."""
    return tuple(unknown if n is None else n for n in buffer.shape if not isinstance(n, Expr))


def array_at(start: int, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """The tensor at an address, in the program's own memory."""
    size = math.prod(shape) * dtype.itemsize
    if not size:
        return np.empty(shape, dtype)
    memory: Any = (ctypes.c_char * size).from_address(start)  # NumPy's annotations do not know ctypes as buffers
    return np.frombuffer(memory, dtype).reshape(shape)


def address(array: np.ndarray) -> int:
    """The address of the first element of an array."""
    if _OFFSET is None:
        return array.ctypes.data
    return ctypes.c_size_t.from_address(id(array) + _OFFSET).value
