"""Lists beside programs: arrays as the elements of all and the table of their shapes, and back; rows as maps.

Machine code does so (`codegen/lists.py`) where it knows Python and NumPy; the functions of `memory` do elsewhere.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from whorl.ir.forking import import_whole
from whorl.ir.types import AnyShape, TensorType
from whorl.lowering.graph_program import sequence_of
from whorl.runtime.buffer_pool import empty
from whorl.runtime.compiled.memory import flatten_list, unstack
from whorl.runtime.values import is_array, is_sequence

if TYPE_CHECKING:
    from types import ModuleType

    from whorl.codegen.lists import Functions

FEW = 8
"""Arrays that Python copies as fast."""


@functools.cache
def _library() -> ModuleType:
    """What writes the functions, loaded with the first list."""
    return import_whole("whorl.codegen.lists")


def _functions() -> Functions | None:
    return _library().functions()


class ListArrays(Struct, frozen=True):
    """The elements of a list's arrays, and the table of their shapes; `is_alike` where they have one shape."""

    elements: np.ndarray
    table: np.ndarray
    is_alike: bool

    def rows(self) -> np.ndarray:
        """The arrays of one shape as rows."""
        return self.elements.reshape(len(self.table), *self.table[0, 1:].tolist())


class ListReader:
    """Reads the lists of an input that is a sequence of tensors of this type."""

    def __init__(self, element: TensorType) -> None:
        self.element, self.dtype, self.rank = element, element.dtype, element.rank
        self.expected: dict[int, np.ndarray] = {}
        self.total = 0

    def read(self, value: object) -> ListArrays | None:
        """The arrays of a list; None where it is none or empty, or an array has another type or another rank."""
        if not is_sequence(value) or not value:
            return None
        items, functions = [*value], _functions()
        first = items[0]
        if functions is None or not is_array(first):
            return self._read_slowly(items)
        if self.rank not in (None, first.ndim):
            return None
        count, rank, dtype, total = len(items), first.ndim, self.dtype, self.total
        expected, table = self._expected(rank), np.empty((count, 1 + rank), np.int64)
        while True:
            elements = empty((total,), dtype)
            objects = id(items), id(np.ndarray), id(dtype), id(expected), id(table), id(elements)
            size = functions.read(functions.pack_read(*objects, functions.copy, count, rank, dtype.itemsize, total))
            if size < 0:
                return self._read_slowly(items)
            if size >> 1 == total:
                return ListArrays(elements, table, bool(size & 1))
            self.total = total = size >> 1

    def _expected(self, rank: int) -> np.ndarray:
        """The lengths of all arrays of a rank, -1 for any."""
        expected = self.expected.get(rank)
        if expected is None:
            shape = self.element.shape
            known = (-1,) * rank if isinstance(shape, AnyShape) else [n if isinstance(n, int) else -1 for n in shape]
            expected = self.expected[rank] = np.array(known, np.int64)
        return expected

    def _read_slowly(self, items: list[object]) -> ListArrays | None:
        pair = flatten_list(items, self.element)
        return None if pair is None else ListArrays(*pair, bool((pair[1][:, 1:] == pair[1][0, 1:]).all()))


def split_rows(rows: np.ndarray) -> list[np.ndarray]:
    """The arrays of a list that lie in memory as rows, each in memory of its own."""
    count = len(rows)
    functions = _functions() if count >= FEW else None
    if functions is None:
        return unstack(rows)
    _, *shape = rows.shape
    dtype, rank, table = rows.dtype, len(shape), np.array([0, *shape], np.int64)
    arrays = [np.empty(shape, dtype) for _ in range(count)]
    objects = id(arrays), id(table), id(rows)
    functions.deal(functions.pack_deal(*objects, functions.copy, count, rank, 0, dtype.itemsize))
    return arrays


def split_elements(elements: np.ndarray, table: np.ndarray) -> list[np.ndarray]:
    """The arrays of a list whose elements lie one after the other, each in memory of its own."""
    count, width = table.shape
    functions = _functions() if count >= FEW else None
    if functions is None:
        return sequence_of(elements, table)
    dtype = elements.dtype
    shapes = table[:, 1].tolist() if width == 2 else table[:, 1:].tolist()
    arrays = [np.empty(shape, dtype) for shape in shapes]
    objects = id(arrays), id(table), id(elements)
    functions.deal(functions.pack_deal(*objects, functions.copy, count, width - 1, width, dtype.itemsize))
    return arrays


def label_rows(keys: Sequence[object], rows: np.ndarray) -> list[dict[object, object]]:
    """Each row of a matrix as a map with these keys.

    Two and three are written out, and elements come from lists of columns: Python then makes no object but the maps.
    """
    elements = zip(*rows.T.tolist(), strict=True)
    match keys:
        case ():
            return [{} for _ in rows]
        case (first, second):
            return [{first: x, second: y} for x, y in elements]
        case (first, second, third):
            return [{first: x, second: y, third: z} for x, y, z in elements]
        case _:
            return [dict(zip(keys, row)) for row in elements]  # noqa: B905 - `strict` takes longer than the rest
