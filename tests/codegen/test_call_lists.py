"""Lists of arrays in direct calls: what is read of feeds, what programs learn of sizes, and lists that are made."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np
import pytest

from codegen.calls import F32, INPUT, NUMBER, OUTPUT, Call, array_at, floats, write
from whorl.codegen import call_cells as cell
from whorl.codegen import callers, lists
from whorl.codegen.memory import address_of
from whorl.codegen.objects import WORD

ANY = 1 << 62


class ListCall(Call):
    """The call of a program that takes a list of vectors, whose elements are doubled into four floats."""

    def __init__(self, program: Any = None, rows: int = 4, capacity: int = 8, **record: int) -> None:
        super().__init__(program or double)
        functions = lists.functions()
        if functions is None:
            pytest.skip(
                "direct calls read the objects of CPython and NumPy in memory, and do not know those of these versions"
            )
        self.functions = functions
        expected, self.table, self.elements = np.array([-1]), np.zeros((rows, 2), np.int64), np.zeros(capacity, F32)
        self.reader = functions.cells_to_read(F32, expected)
        memory = {lists.READ_TABLE: self.table.ctypes.data, lists.READ_TABLE + 1: self.elements.ctypes.data}
        for number, value in (memory | {lists.READ_ROWS: rows, lists.READ_ROWS + 1: capacity}).items():
            self.reader[number] = value
        self.enlarged: list[list[int]] = []
        enlarge = self.enlarge
        usual = {"ARRAYS": 2, "TOTAL": 2, "LEAST": 2, "SHORT": 8, "SMALL": 4096, "MOST": ANY}
        self.record = np.zeros(cell.LIST_CELLS, np.int64)
        write(self.record, {cell.READER: ctypes.addressof(self.reader), cell.ENLARGE: id(enlarge)})
        write(self.record, {getattr(cell, name): value for name, value in (usual | record).items()})
        write(
            self.feed, {cell.LIST: self.record.ctypes.data, cell.ARRAY: id(self.elements), cell.TABLE: id(self.table)}
        )
        write(self.cells, {cell.READ: functions.code[0].address, cell.SEEN: 0})
        self.alive += expected, self.table, self.elements, self.reader, self.record, enlarge

    def enlarge(self) -> None:
        self.enlarged.append(self.reader[lists.READ_COUNT :])


def double(block: np.ndarray) -> int:
    array_at(block, OUTPUT)[:] = array_at(block, INPUT)[:4] * 2
    return 0


def test_elements_of_a_list_are_the_array_that_the_program_gets() -> None:
    call = ListCall()
    for arrays in ([floats(1), floats(2, 3, 4)], [floats(1, 2), floats(3, 4)], [floats(), floats(1, 2), floats(3, 4)]):
        (output,) = call.run({"x": arrays}) or [floats()]
        assert output.tolist() == (np.concatenate(arrays) * 2).tolist()
    assert call.table[:3].tolist() == [[0, 0], [0, 2], [2, 2]]


@pytest.mark.parametrize(
    "fed",
    [
        [],
        [floats(1, 2, 3, 4)],
        [floats(1), floats()],
        (floats(1, 2), floats(3, 4)),
        type("Own", (list,), {})([floats(1, 2), floats(3, 4)]),
        floats(1, 2, 3, 4),
        None,
        [floats(1, 2), None],
        [floats(1, 2), np.zeros(2)],
        [floats(1, 2), np.zeros((1, 2), F32)],
        [floats(1, 2), np.zeros(4, F32)[::2]],
    ],
)
def test_other_lists_are_declined_without_an_exception(fed: Any) -> None:
    call = ListCall(lambda _: pytest.fail("the program ran"))
    assert call.run({"x": fed}) is None
    assert call.enlarged == []


def test_list_without_room_asks_for_some_and_is_declined() -> None:
    call = ListCall(lambda _: pytest.fail("the program ran"))
    assert call.run({"x": [floats(*range(5)), floats(*range(4))]}) is None
    assert call.run({"x": [floats(1)] * 5}) is None
    assert call.enlarged == [[2, 9], [5, 0]]


def test_error_while_room_is_made_is_left_to_the_long_way(monkeypatch) -> None:
    def refuse(_: ListCall) -> None:
        raise MemoryError

    monkeypatch.setattr(ListCall, "enlarge", refuse)
    assert ListCall().run({"x": [floats(*range(9)), floats(1)]}) is None


def test_long_lists_of_one_shape_are_declined_and_others_are_not() -> None:
    call = ListCall(SHORT=3, SMALL=5)
    assert call.run({"x": [floats(1, 2)] * 3}) is None
    assert call.run({"x": [floats(1, 2, 3)] * 2}) is None
    assert call.run({"x": [floats(1, 2)] * 2}) is not None
    assert call.run({"x": [floats(1, 2), floats(1), floats(2)]}) is not None
    assert call.run({"x": [floats(1, 2, 3), floats(1, 2)]}) is not None
    write(call.cells, {cell.SEEN: cell.LONG})
    assert call.run({"x": [floats(1, 2)] * 2}) is None
    assert call.run({"x": [floats(1, 2, 3), floats(1)]}) is not None


def test_sizes_may_have_to_be_the_same() -> None:
    call = ListCall(ARRAYS=2, TOTAL=4, LEAST=ANY)
    assert call.run({"x": [floats(1), floats(2, 3, 4)]}) is not None
    assert call.run({"x": [floats(1), floats(2), floats(3, 4)]}) is None
    assert call.run({"x": [floats(1), floats(2, 3, 4, 5)]}) is None


def test_lists_that_had_work_for_several_cores_are_declined_from_then_on() -> None:
    context = np.zeros(callers.COUNT, np.int64)
    address = address_of("clock_gettime")
    write(context, {callers.CLOCK: address, callers.IS_MISSED: 1})
    call = ListCall()
    forms = np.array([call.block.ctypes.data + NUMBER * WORD, call.block.ctypes.data, 0, 0])
    write(call.cells, {cell.CONTEXT: context.ctypes.data, cell.FORM_COUNT: 1, cell.FORMS: forms.ctypes.data})
    assert call.run({"x": [floats(1, 2), floats(3, 4, 5)]}) is not None
    assert context[callers.IS_MISSED] == 0
    assert call.run({"x": [floats(1, 2), floats(3, 4, 5)]}) is None
    assert call.run({"x": [floats(1, 2), floats(3, 4)]}) is not None
    context[callers.IS_MISSED] = 1
    write(call.cells, {cell.FORM_COUNT: 0})
    assert call.run({"x": [floats(1, 2), floats(3, 4)]}) is not None
    assert call.run({"x": [floats(1), floats(3)]}) is None and call.cells[cell.IS_BUSY] == 1


def test_rows_have_the_shape_of_the_feed() -> None:
    call = ListCall(ARRAYS=2, TOTAL=4, LEAST=ANY, IS_ROWS=1)
    write(call.cells, {cell.SEEN: cell.UNLIKE})
    lengths = np.array([2])
    write(call.feed, {cell.LENGTHS: lengths.ctypes.data})
    assert call.run({"x": [floats(1, 2), floats(3, 4)]}) is not None
    assert call.run({"x": [floats(1), floats(2, 3, 4)]}) is None
    lengths[0] = 4
    assert call.run({"x": [floats(1, 2), floats(3, 4)]}) is None


def test_cells_of_the_program_follow_from_sizes() -> None:
    seen: list[int] = []

    def note(block: np.ndarray) -> int:
        seen.append(int(block[NUMBER]))
        return double(block)

    call = ListCall(note)
    count = ctypes.addressof(call.reader) + lists.READ_COUNT * WORD
    forms = np.array([call.block.ctypes.data + NUMBER * WORD, count + WORD, 5, -3])
    write(call.cells, {cell.FORM_COUNT: 1, cell.FORMS: forms.ctypes.data})
    for arrays in ([floats(1), floats(2, 3, 4)], [floats(1, 2, 3), floats(1, 2)]):
        assert call.run({"x": arrays}) is not None
    assert seen == [5 - 3 * 4, 5 - 3 * 5]


def made(call: ListCall) -> np.ndarray:
    """Have the list that is fed be made again, behind the four floats, and give its record."""
    table, elements, count = np.zeros(2, np.int64), np.zeros(1, np.int64), call.block.ctypes.data + NUMBER * WORD
    table[0], elements[0] = call.table.ctypes.data, call.elements.ctypes.data
    maker = call.functions.cells_to_make(F32, 1, 2, (elements.ctypes.data, table.ctypes.data, count))
    record = np.zeros(cell.GROWN_CELLS, np.int64)
    write(record, {cell.ITEM: 1, cell.MEMORY: ctypes.addressof(maker)})
    code = call.functions.code[1].address
    write(call.cells, {cell.MADE_COUNT: 1, cell.MADE: record.ctypes.data, cell.MAKE: code})
    call.alive += table, elements, maker, record
    return record


def count_two(block: np.ndarray) -> int:
    block[NUMBER] = 2
    return double(block)


def test_lists_are_made_after_the_program() -> None:
    call = ListCall(count_two)
    made(call)
    output, arrays = call.run({"x": [floats(1), floats(2, 3, 4)]}) or [None, []]
    assert [each.tolist() for each in arrays] == [[1], [2, 3, 4]]
    assert output.tolist() == [2, 4, 6, 8] and sys.getrefcount(arrays) == 2
    assert all(each.flags.owndata and sys.getrefcount(each) == 3 for each in arrays)


def test_lengths_that_the_program_says_are_written_before_a_list_is_made() -> None:
    call = ListCall(count_two)
    record, lengths, pairs = made(call), np.zeros(2, np.int64), np.array([1, NUMBER])
    write(record, {cell.AXES: 1, cell.LENGTHS: lengths.ctypes.data, cell.LENGTH_CELLS: pairs.ctypes.data})
    assert call.run({"x": [floats(1), floats(2, 3, 4)]}) is not None
    assert lengths.tolist() == [0, 2]


def test_list_for_which_there_is_no_memory_is_declined() -> None:
    def spoil(block: np.ndarray) -> int:
        call.table[1, 1] = 1 << 60
        return count_two(block)

    call = ListCall(spoil)
    made(call)
    assert call.run({"x": [floats(1), floats(2, 3, 4)]}) is None


def test_arrays_are_grouped_to_lists() -> None:
    call = ListCall(count_two)
    made(call)
    groups = np.array([1, 0, 0, 2])
    write(call.cells, {cell.GROUP_COUNT: 2, cell.GROUPS: groups.ctypes.data})
    arrays, (output, others) = call.run({"x": [floats(1), floats(2, 3, 4)]}) or [None, []]
    assert others is arrays and output.tolist() == [2, 4, 6, 8]
    assert sys.getrefcount(output) == 2
