"""Runs of one shape as calls of machine code that checks feeds, makes outputs and runs the program, without Python.

Of a run that does little, Python takes most of the time. Other shapes, and what fails, go the long way: a call gives
None then. It runs on one thread; after a run that had work for more, it gives None for good. Lists of arrays are read
into memory of the call's own, and so are the numbers of strings; strings that are new go the long way. Where the
program is for lists of any sizes, so is the call, which then gives None for those that had work for more threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from whorl.codegen import call_cells as cell
from whorl.codegen import direct_call as code
from whorl.codegen.callers import CLOCK
from whorl.codegen.objects import WORD
from whorl.codegen.target import is_available
from whorl.debug import debug
from whorl.errors import CompileError
from whorl.ir.forking import import_whole
from whorl.runtime.compiled.binding import LEAST
from whorl.runtime.compiled.call_results import Alive, Results, UnknownForm, answers_of
from whorl.runtime.compiled.launch import OWN_BYTES, BoundLaunch, RunMemory
from whorl.runtime.compiled.list_launch import ListLaunch
from whorl.runtime.compiled.lists import SHORT, SMALL, ListArrays, ListMemory, ListReader
from whorl.runtime.limits import Budget

if TYPE_CHECKING:
    from whorl.codegen.lists import Functions

DirectCall = Callable[[Mapping[str, object]], list[Any] | None]
"""The outputs for feeds; None where they are others, or the program failed. Errors: what the budget's check raises."""
MOST_BYTES = OWN_BYTES << 3
"""Scratch memory that a call may have of its own."""
MOST_FED = 1 << 20
"""Bytes of the elements of a list that is fed, and of their table: to copy more takes longer than Python does."""
_ANY = 1 << 62


class Feed(Struct, frozen=True):
    """A name, an array as is to be fed under it, and the elements that it is to have, if the program is for these."""

    name: str
    array: np.ndarray
    contents: bytes | None


class ListFeed(Struct, frozen=True):
    """A name, the arrays of a list as is to be fed under it, and what reads such lists."""

    name: str
    arrays: ListArrays
    reader: ListReader


class Feeds(Struct, frozen=True):
    """What is to be fed. Lists are tables of shapes or, unless `are_tables`, rows.

    Lists of arrays of one shape are tables only where they are small and the program `prefers_tables`.
    """

    feeds: Sequence[Feed | ListFeed]
    are_tables: bool = False
    prefers_tables: bool = False

    @property
    def has_lists(self) -> bool:
        """Whether one is a list."""
        return any(isinstance(feed, ListFeed) for feed in self.feeds)

    @property
    def seen(self) -> int:
        """What counts as seen before a list is read."""
        if not self.are_tables:
            return cell.UNLIKE
        return 0 if self.prefers_tables else cell.LONG


def direct_call(
    feeds: Feeds, bound: BoundLaunch, inputs: Sequence[int], order: Sequence[int], budget: Budget
) -> DirectCall | None:
    """The call for arrays of these names, types and shapes, some of which are a launch's inputs; None if there is none.

    `order` says which of the launch's results each output is. The budget answers polls.
    """
    interface = code.interface() if is_available() else None
    answers = answers_of(bound, order) if _may_be_called(bound) else None
    if interface is None or answers is None:
        return None
    alive = Alive([bound])
    has_lists = feeds.has_lists or any(answer.is_made for answer in answers)
    try:
        lists: Functions | None = import_whole("whorl.codegen.lists").functions() if has_lists else None
        memory = RunMemory(bound.launch)
        memory.bind(bound)
        if bound.needs_help and not _prepare(memory, budget):
            return None
        expected = _Expected(feeds, bound, inputs, lists, alive)
        results = Results(bound, memory, answers, lists, alive)
    except (MemoryError, UnknownForm):
        return None
    sources = expected.pairs(memory.address + bound.launch.inputs_offset) + results.sources
    alive.objects.append(memory)
    numbers = {
        cell.ENTRY: bound.launch.code.address,
        cell.BLOCK: memory.address,
        cell.CONTEXT: memory.context.address if bound.needs_help else 0,
        cell.INPUTS: len(sources) // 2,
        cell.SOURCES: alive.numbers(sources),
    }
    table = bound.launch.table
    if table is not None:
        numbers |= {cell.NUMBERS: alive.object(table.numbers), cell.TEXTS: alive.elements(table.cells)}
    cells = np.zeros(cell.COUNT, np.int64).view(code.Cells)
    for number, value in (numbers | expected.numbers(memory) | results.numbers).items():
        cells[number] = value
    cells[cell.INTERFACE :] = interface
    cells.alive = alive
    try:
        return code.function_over(cells)
    except (CompileError, MemoryError, RuntimeError):  # the long way gives the same results
        if debug().is_strict:
            raise
        return None


def _may_be_called(bound: BoundLaunch) -> bool:
    """Whether a program takes arrays and gives arrays, by code that will not change."""
    launch = bound.launch
    is_known = launch.takes_arrays and launch.improving is None and not launch.has_calls and not bound.graph.maps
    return is_known and bound.size <= MOST_BYTES


def _prepare(memory: RunMemory, budget: Budget) -> bool:
    """Have the budget answer polls; False where there is no clock to tell when."""
    memory.set_budget(budget)
    memory.context.leave_pool()
    return bool(memory.context.block[CLOCK])


class _Expected:
    """The records of feeds. Raises UnknownForm where a list is too large for memory of the call's own."""

    def __init__(
        self, feeds: Feeds, bound: BoundLaunch, chosen: Sequence[int], lists: Functions | None, alive: Alive
    ) -> None:
        self.feeds, self.bound, self.chosen, self.lists, self.alive = feeds, bound, chosen, lists, alive
        strings = bound.graph.strings
        self.strings = {chosen[n] for n in strings.inputs} if strings is not None else set[int]()
        self.records = np.zeros((len(feeds.feeds), cell.FEED_CELLS), np.int64)
        self.inputs: list[int] = []
        """The addresses of the cells with the arrays that the feeds are."""
        self.sizes: list[int] = []
        """The addresses of their lengths, where they are a list's elements and table."""
        for n, feed in enumerate(feeds.feeds):
            if isinstance(feed, ListFeed):
                self._add_list(n, feed)
            else:
                self._add_array(n, feed)

    def _add_array(self, number: int, feed: Feed) -> None:
        dtype, shape, contents = feed.array.dtype, feed.array.shape, np.frombuffer(feed.contents or b"", np.uint8)
        self._write(number, feed.name, dtype, shape)
        self.records[number, [cell.BYTES, cell.CONTENTS]] = contents.size, self.alive.elements(contents)
        if len(self.inputs) in self.strings:
            numbers = np.zeros(shape, np.int64)
            self.records[number, [cell.STRINGS, cell.ARRAY]] = numbers.size, self.alive.object(numbers)
        self.inputs.append(self._address(number, cell.ARRAY))
        self.sizes.append(0)

    def _write(self, number: int, name: str, dtype: np.dtype, shape: Sequence[int]) -> None:
        cells = cell.NAME, cell.DTYPE, cell.RANK, cell.LENGTHS
        objects = self.alive.object(name), self.alive.object(dtype)
        self.records[number, cells] = *objects, len(shape), self.alive.numbers(shape)

    def _add_list(self, number: int, feed: ListFeed) -> None:
        known, memory = feed.arrays, feed.reader.own_memory(feed.arrays.rank)
        if memory is None:
            raise UnknownForm("there is nothing that reads lists")
        enlarge, record = _enlarger(memory, self.records[number]), self.alive.numbers
        if not enlarge(known.count, known.total):
            raise UnknownForm("a list has much memory")
        is_rows = not self.feeds.are_tables
        self._write(number, feed.name, feed.reader.dtype, known.shape[1:] if is_rows else ())
        least = LEAST if isinstance(self.bound, ListLaunch) else _ANY
        count, total = min(known.count, least), min(known.total, least)
        make_room = self.alive.object(lambda: enlarge(*memory.sizes))
        cells = memory.cells_address, make_room, is_rows, count, total, least, SHORT, SMALL, _ANY
        self.records[number, cell.LIST] = record(cells)
        self.records[number, cell.STRINGS] = len(self.inputs) in self.strings
        self.inputs.append(self._address(number, cell.ARRAY))
        if self.feeds.are_tables:
            self.inputs.append(self._address(number, cell.TABLE))
        count_address = memory.cells_address + memory.answer * WORD
        self.sizes += count_address + WORD, count_address

    def _address(self, number: int, field: int) -> int:
        return self.records.ctypes.data + (number * cell.FEED_CELLS + field) * WORD

    def pairs(self, first: int) -> list[int]:
        """The addresses of the cells from `first` on, which have a program's inputs, each with that of its array."""
        return [n for k, number in enumerate(self.chosen) for n in (first + k * WORD, self.inputs[number])]

    def numbers(self, memory: RunMemory) -> dict[int, int]:
        """The cells of a call that are about feeds."""
        forms = self.bound.forms if isinstance(self.bound, ListLaunch) else []
        cells = [
            n
            for target, number, source, times in forms
            for n in (memory.address + target * WORD, self.sizes[source], number, times)
        ]
        return {
            cell.FEEDS: len(self.feeds.feeds),
            cell.EXPECTED: self.alive.elements(self.records),
            cell.SEEN: self.feeds.seen,
            cell.FORM_COUNT: len(forms),
            cell.FORMS: self.alive.numbers(cells),
            cell.READ: 0 if self.lists is None else self.lists.code[0].address,
        }


def _enlarger(memory: ListMemory, record: np.ndarray) -> Callable[[int, int], bool]:
    """What makes room for so many arrays and elements and says so in the record of a feed; False where it is much."""

    def enlarge(count: int, total: int) -> bool:
        size = total * memory.elements.itemsize, count * memory.table.itemsize * memory.table.shape[1]
        if max(size) > MOST_FED:
            return False
        memory.enlarge(count, total)
        record[[cell.ARRAY, cell.TABLE]] = id(memory.elements), id(memory.table)
        return True

    return enlarge
