"""Lists beside programs: arrays as the elements of all and the table of their shapes, and back; rows as maps.

Machine code does so (`codegen/lists.py`) where it knows Python and NumPy; the functions of `memory` do elsewhere.
"""

from __future__ import annotations

import ctypes
import functools
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from whorl.ir.dtypes import INT64
from whorl.ir.forking import import_whole
from whorl.ir.types import AnyShape, TensorType
from whorl.lowering import graph_program
from whorl.lowering.graph_program import Keys, sequence_of
from whorl.runtime.buffer_pool import empty
from whorl.runtime.compiled.memory import address, flatten_list, unstack
from whorl.runtime.values import is_array, is_sequence

if TYPE_CHECKING:
    from types import ModuleType

    from whorl.codegen.lists import Functions

FEW = 8
"""Arrays that Python copies as fast."""
SHORT, SMALL = 8, 4096
"""Arrays below so many, of no more elements in all, are read faster one by one than they are bound as rows."""
SPARE_COUNT, SPARE_BYTES = 4, 1 << 24
"""Memory for lists that a reader keeps, and how large it may be."""


@functools.cache
def _library() -> ModuleType:
    """What writes the functions, loaded with the first list."""
    return import_whole("whorl.codegen.lists")


def _functions() -> Functions | None:
    return _library().functions()


class ListArrays:
    """The elements of a list's arrays, and the table of their shapes; `is_alike` where they have one shape, as in rows.

    There may be memory for more: `count` rows of the table are those of arrays, and `total` elements are theirs.
    """

    def __init__(self, elements: np.ndarray, table: np.ndarray, is_alike: bool = False) -> None:
        self.elements, self.table, self.is_alike = elements, table, is_alike
        self.count, self.total, self.rank = len(table), elements.size, table.shape[1] - 1

    @property
    def shape(self) -> tuple[int, ...]:
        """That of arrays of one shape as rows."""
        return self.count, *self.table[0, 1:].tolist()

    def rows(self) -> np.ndarray:
        """Arrays of one shape as rows."""
        return self.elements[: self.total].reshape(self.shape)

    def pair(self) -> tuple[np.ndarray, np.ndarray]:
        """The elements and the table."""
        return self.elements[: self.total], self.table[: self.count]


class ListMemory(ListArrays):
    """Memory that one list after the other is read into by machine code: arrays of one rank and element type.

    Of objects there are the addresses, without references.
    """

    def __init__(self, functions: Functions, dtype: np.dtype, expected: np.ndarray, spare: deque[ListMemory]) -> None:
        super().__init__(np.empty(0, INT64 if dtype.hasobject else dtype), np.empty((FEW, 1 + len(expected)), np.int64))
        self.spare = spare
        self.call, self.expected = functions.read, expected
        self.cells = functions.cells_to_read(dtype, expected)
        self.cells_address, self.known = ctypes.addressof(self.cells), _library()
        self.answer = self.known.READ_COUNT
        self._tell()

    def read(self, items: list[object]) -> bool:
        """Take what a list has; False where there is another array."""
        while (answer := self.call(self.cells_address, items)) < 0:
            if answer == self.known.MISFIT:
                return False
            self.enlarge(*self.sizes)
        self.is_alike, self.total, self.count = answer & 1 == 1, answer >> 1, self.cells[self.answer]
        return True

    def give_back(self) -> None:
        """Let the next list be read into this memory."""
        if self.elements.nbytes <= SPARE_BYTES:
            self.spare.append(self)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many arrays and elements the list has that was read last, or did not fit."""
        count, total = self.cells[self.answer :]
        return count, total

    def enlarge(self, count: int, total: int) -> None:
        """Make room for so many arrays and elements, and half as many more."""
        if count > len(self.table):
            self.table = np.empty((count + count // 2, 1 + self.rank), np.int64)
        if total > self.elements.size:
            self.elements = empty((total + total // 2,), self.elements.dtype)
        self._tell()

    def _tell(self) -> None:
        """Write where the memory is."""
        first, rows = self.known.READ_TABLE, self.known.READ_ROWS
        self.cells[first : first + 2] = [address(self.table), address(self.elements)]
        self.cells[rows : rows + 2] = [len(self.table), self.elements.size]


class ListReader:
    """Reads the lists of an input that is a sequence of tensors of this type."""

    def __init__(self, element: TensorType) -> None:
        self.element, self.dtype, self.rank = element, element.dtype, element.rank
        self.spare: deque[ListMemory] = deque(maxlen=SPARE_COUNT)
        self.empty = self._flatten([])

    def read(self, value: object) -> ListArrays | None:
        """The arrays of a list; None where it is none, or an array has another type or another rank.

        They stay as they are until they are given back.
        """
        if not is_sequence(value):
            return None
        if not value:
            return self.empty
        try:
            memory = self.spare.pop()
        except IndexError:
            return self._read_anew([*value])
        return memory if memory.read(value) else self._read_anew([*value])

    def _read_anew(self, items: list[object]) -> ListArrays | None:
        """Read a list into memory for the rank of its arrays, or, what is not row-major and strings, by NumPy."""
        functions = None if self.dtype.hasobject else _functions()
        if functions is not None and is_array(first := items[0]) and self.rank in (None, first.ndim):
            memory = self._memory(functions, first.ndim, self.spare)
            if memory.read(items):
                return memory
        return self._flatten(items)

    def _flatten(self, items: list[object]) -> ListArrays | None:
        pair = flatten_list(items, self.element)
        if pair is None:
            return None
        shapes = pair[1][:, 1:]
        return ListArrays(*pair, bool(items) and bool((shapes == shapes[:1]).all()))

    def own_memory(self, rank: int) -> ListMemory | None:
        """Memory for lists of arrays of a rank that is no reader's; None where machine code does not know arrays."""
        functions = _functions()
        return None if functions is None else self._memory(functions, rank, deque(maxlen=0))

    def _memory(self, functions: Functions, rank: int, spare: deque[ListMemory]) -> ListMemory:
        return ListMemory(functions, self.dtype, self._expected(rank), spare)

    def _expected(self, rank: int) -> np.ndarray:
        """The lengths of all arrays of a rank, -1 for any."""
        shape = self.element.shape
        known = (-1,) * rank if isinstance(shape, AnyShape) else [n if isinstance(n, int) else -1 for n in shape]
        return np.array(known, np.int64)


def split_rows(rows: np.ndarray) -> list[np.ndarray]:
    """The arrays of a list that lie in memory as rows, each in memory of its own."""
    count = len(rows)
    functions = _functions() if count >= FEW else None
    if functions is None:
        return unstack(rows)
    table = np.array([0, *rows.shape[1:]], np.int64)
    return _make(functions, functions.cells_to_make(rows.dtype, rows.ndim - 1, 0), rows, table, count)


def split_elements(elements: np.ndarray, table: np.ndarray) -> list[np.ndarray]:
    """The arrays of a list whose elements lie one after the other, each in memory of its own."""
    count, width = table.shape
    functions = _functions() if count >= FEW else None
    if functions is None:
        return sequence_of(elements, table)
    return _make(functions, functions.cells_to_make(elements.dtype, width - 1, width), elements, table, count)


def list_maker(dtype: np.dtype, width: int, sources: Sequence[int]) -> Callable[[], list[np.ndarray]] | None:
    """What makes lists of elements and a table of rows of `width` numbers.

    At three addresses are the address of the elements, that of the table, and how many arrays there are.
    """
    functions = _functions() if len(sources) == _library().MADE_FROM else None
    if functions is None:
        return None
    cells = functions.cells_to_make(dtype, width - 1, width, sources)
    # As bytes, the cells stay alive with the function.
    return functools.partial(functions.make, ctypes.c_char_p(bytes(cells)))


def _make(functions: Functions, cells: Any, elements: np.ndarray, table: np.ndarray, count: int) -> list[np.ndarray]:
    cells[-_library().MADE_FROM :] = [address(elements), address(table), count]
    return functions.make(ctypes.addressof(cells))


def nothing() -> None:
    """What stands for the table of a list that is made already."""


def form_lists(results: list[Any], sequences: Sequence[tuple[int, int]], maps: Sequence[tuple[int, Keys]]) -> None:
    """Put lists and maps where a program has arrays, as `GraphProgram` says which."""
    for n, count in reversed(sequences):
        match count:
            case graph_program.ROWS:
                results[n] = split_rows(results[n])
            case graph_program.RAGGED:
                elements, table = results[n : n + 2]
                results[n : n + 2] = [elements if table is None else split_elements(elements, table)]
            case _:
                results[n : n + count] = [results[n : n + count]]
    for n, keys in maps:
        results[n] = label_rows(keys, results[n])


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
