"""What a direct call makes of a program's outputs: arrays, lists of arrays, and their records for machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from whorl.codegen import call_cells as cell
from whorl.codegen.objects import WORD
from whorl.ir.dtypes import STRING
from whorl.ir.types import lengths_of
from whorl.lowering.graph_program import RAGGED, ROWS
from whorl.runtime.buffer_pool import LARGE, is_small
from whorl.runtime.compiled.launch import SPARE_BYTES, BoundLaunch, RunMemory
from whorl.runtime.compiled.lists import split_elements, split_rows

if TYPE_CHECKING:
    from whorl.codegen.lists import Functions


class UnknownForm(Exception):
    """Machine code does not read or make what a program takes or gives."""


class Alive(Struct):
    """What is at addresses."""

    objects: list[object]

    def object(self, value: object) -> int:
        """The address of an object."""
        self.objects.append(value)
        return id(value)

    def numbers(self, numbers: Sequence[int]) -> int:
        """The address of some numbers."""
        return self.elements(np.array(numbers, np.int64))

    def elements(self, array: np.ndarray) -> int:
        """The address of an array's elements."""
        self.objects.append(array)
        return array.ctypes.data


class Answer(Struct, frozen=True):
    """A result that is some outputs of the program: the first, how many, and how they are a list; 0 where they are not.

    `kind` is `ROWS`, `RAGGED`, or the number of the list's arrays, which are the outputs then.
    """

    first: int
    count: int
    kind: int

    @property
    def is_made(self) -> bool:
        """Whether it is a list of arrays that do not lie there as such."""
        return self.kind in (ROWS, RAGGED)


def answers_of(bound: BoundLaunch, order: Sequence[int]) -> list[Answer] | None:
    """What a call answers, if it is all that the program computes; `order` says which of the results each is."""
    graph = bound.graph
    kinds = dict(graph.sequences)
    if len(kinds) < len(graph.sequences) or 0 in kinds.values():
        return None
    results: list[Answer] = []
    first = 0
    while first < len(graph.outputs):
        kind = kinds.get(first, 0)
        count = {ROWS: 1, RAGGED: 2, 0: 1}.get(kind, kind)
        results.append(Answer(first, count, kind))
        first += count
    return [results[n] for n in order] if sorted(order) == [*range(len(results))] else None


class Results:
    """The records of what a call makes, which refer to the memory of its program.

    `sources` are pairs: the address of a cell of the program, and that of what it is to have in each run. Raises
    UnknownForm where an answer has another form than machine code makes.
    """

    def __init__(
        self, bound: BoundLaunch, memory: RunMemory, answers: Sequence[Answer], lists: Functions | None, alive: Alive
    ) -> None:
        self.bound, self.memory, self.answers, self.lists, self.alive = bound, memory, answers, lists, alive
        graph, launch = bound.graph, bound.launch
        known = [n for n in range(len(graph.outputs)) if n not in graph.grown]
        first = memory.address + launch.outputs_offset
        self.cells = {n: first + k * WORD for k, n in enumerate(known)}
        self.shapes = {n: bound.numbers[shape] for n, (shape, _) in zip(known, launch.outputs, strict=True)}
        self.allocators = dict(zip(known, bound.allocators, strict=True))
        self.strings = frozenset(graph.strings.outputs if graph.strings is not None else ())
        self.arrays: dict[int, np.ndarray] = {}
        self.sources: list[int] = []
        self.finishers: list[Callable[[dict[int, Any]], Any]] = []
        made = [answer for answer in answers if answer.is_made]
        self.listed = {n for each in made for n in range(each.first, each.first + each.count)}
        self.numbers = self._known() | self._grown() | self._made() | self._groups() | self._callbacks()

    @property
    def items(self) -> dict[int, int]:
        """The items of the list of all that is made, by the first or only output that each is."""
        outputs = [n for a in self.answers for n in ([a.first] if a.is_made else range(a.first, a.first + a.count))]
        return {n: item for item, n in enumerate(outputs)}

    def _known(self) -> dict[int, int]:
        """Outputs whose shapes are known before; strings, and what lists are made of, lie in memory of the call."""
        items, cells = self.items, list[int]()
        outputs = [n for n in self.cells if n not in self.listed | self.strings]
        for n in outputs:
            lengths, dtype, allocate = self.shapes[n], self.bound.graph.outputs[n].dtype, self.allocators[n]
            maker = 0 if is_small(lengths, dtype) else self.alive.object(allocate)
            cells += maker, self.alive.object(dtype), len(lengths), self.alive.numbers(lengths), items[n], self.cells[n]
        for n in (self.listed | self.strings) & self.cells.keys():
            self.arrays[n] = array = self.allocators[n]()
            if array.nbytes >= LARGE:
                raise UnknownForm("an output has much memory")
            self.sources += self.cells[n], self.alive.numbers([self.alive.object(array)])
        return {cell.OUTPUTS: len(outputs), cell.RESULTS: self.alive.numbers(cells)}

    def _grown(self) -> dict[int, int]:
        """Outputs that are copied: strings, and what lies in memory that grows, as the program says their lengths."""
        items, cells = self.items, list[int]()
        outputs = [n for n in items if n not in self.listed and (n in self.memory.outputs or n in self.strings)]
        for n in outputs:
            elements, shape, pairs = self._memory_of(n)
            dtype, are_strings = self._type_of(n), int(n in self.strings)
            axes = self.alive.numbers([k for pair in pairs for k in pair])
            cells += len(pairs), self.alive.object(dtype), len(shape), self.alive.numbers(shape), items[n]
            cells += axes, elements, dtype.itemsize, are_strings
            self.finishers.append(partial(self._take, n))
        return {cell.GROWN_COUNT: len(outputs), cell.GROWN: self.alive.numbers(cells), cell.MOST_BYTES: LARGE}

    def _made(self) -> dict[int, int]:
        """Lists of arrays."""
        items, cells = self.items, list[int]()
        made = [answer for answer in self.answers if answer.is_made]
        for answer in made:
            if answer.kind == ROWS:
                lengths, axes, maker = self._rows(answer.first)
                self.finishers.append(partial(self._split_rows, answer.first))
            else:
                lengths, axes, maker = 0, list[int](), self._table(answer.first)
                self.finishers.append(partial(self._split_elements, answer.first))
            cells += len(axes) // 2, 0, 0, lengths, items[answer.first], self.alive.numbers(axes), maker
            cells += 0, int(answer.first in self.strings)
        code = 0 if self.lists is None else self.lists.code[1].address
        return {cell.MADE_COUNT: len(made), cell.MADE: self.alive.numbers(cells), cell.MAKE: code}

    def _rows(self, output: int) -> tuple[int, list[int], int]:
        """Where the lengths of rows lie, which of them the program says, and the cells that make a list of them."""
        elements, shape, pairs = self._memory_of(output)
        lengths = self.alive.numbers(shape)
        # The table is one row, read for each array: a number that is not read, then the lengths.
        sources = elements, self.alive.numbers([lengths]), lengths
        maker = self._maker(self._type_of(output), len(shape) - 1, 0, sources)
        return lengths, [n for pair in pairs for n in pair], maker

    def _memory_of(self, output: int) -> tuple[int, Sequence[int], Sequence[tuple[int, int]]]:
        """The cell with the address of an output's memory, its lengths, and pairs of an axis and a cell for it."""
        if output in self.arrays:
            start = self.alive.numbers([self.alive.elements(self.arrays[output])])
            return start, self.shapes[output], ()
        source, shape, pairs, _ = self.memory.outputs[output]
        return self._scratch(source), shape, pairs

    def _type_of(self, output: int) -> np.dtype:
        """The element type of what is made of an output."""
        return STRING if output in self.strings else self.bound.graph.outputs[output].dtype

    def _table(self, output: int) -> int:
        """The cells that make a list of elements and a table."""
        columns = lengths_of(self.bound.graph.outputs[output + 1])[1]
        if not isinstance(columns, int):
            raise UnknownForm("arrays of a list have no known rank")
        (elements, _, _), (table, shape, pairs) = (self._memory_of(n) for n in (output, output + 1))
        counts = [self.memory.address + number * WORD for axis, number in pairs if axis == 0]
        count = counts[0] if counts else self.alive.numbers(shape[:1])
        return self._maker(self._type_of(output), columns - 1, columns, (elements, table, count))

    def _maker(self, dtype: np.dtype, rank: int, step: int, sources: Sequence[int]) -> int:
        if self.lists is None:
            raise UnknownForm("machine code knows no lists")
        cells = self.lists.cells_to_make(dtype, rank, step, sources)
        self.alive.objects += dtype, cells, self.lists
        return ctypes.addressof(cells)

    def _scratch(self, number: int) -> int:
        """The address of the cell with that of memory."""
        return self.memory.address + number * WORD

    def _groups(self) -> dict[int, int]:
        """Answers that are lists of some of the arrays."""
        counts = [1 if answer.is_made else answer.count for answer in self.answers]
        ends = [*accumulate(counts)]
        pairs = [(end - n, end if a.kind > 0 else 0) for a, n, end in zip(self.answers, counts, ends, strict=True)]
        is_grouped = any(answer.kind > 0 for answer in self.answers)
        records = self.alive.numbers([number for pair in pairs for number in pair])
        return {cell.GROUP_COUNT: len(pairs) if is_grouped else 0, cell.GROUPS: records}

    def _callbacks(self) -> dict[int, int]:
        """What the program asks for memory, and what makes all answers where it has much."""
        memory = self.memory
        if not memory.growing:
            return {}
        is_large = np.zeros(1, np.int64)

        def grow(old: int, size: int) -> int:
            start = memory.buffers.grow(old, size)
            is_large[0] = memory.buffers.size > SPARE_BYTES
            return start

        def finish() -> list[Any]:
            results = self.arrays | dict(zip(memory.outputs, memory.take_outputs(), strict=True))
            is_large[0] = 0
            return [make(results) for make in self.finishers]

        memory.context.set_callbacks(memory.run_op, grow)
        give_up = partial(memory.trim, is_stale=True)
        return {
            cell.IS_LARGE: self.alive.elements(is_large),
            cell.FINISH: self.alive.object(finish),
            cell.GIVE_UP: self.alive.object(give_up),
        }

    def _take(self, output: int, results: dict[int, Any]) -> np.ndarray:
        """What Python makes of an output."""
        table = self.bound.launch.table
        if table is None or output not in self.strings:
            return results[output]
        return table.decode_array(results[output], ())

    def _split_rows(self, output: int, results: dict[int, Any]) -> list[np.ndarray]:
        return split_rows(self._take(output, results))

    def _split_elements(self, output: int, results: dict[int, Any]) -> list[np.ndarray]:
        table = results[output + 1]
        return results[output] if table is None else split_elements(self._take(output, results), table)
