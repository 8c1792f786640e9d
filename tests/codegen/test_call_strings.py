"""Strings in direct calls: programs get their numbers, and what numbers they give become references to strings."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np
import pytest

from codegen.calls import INPUT, OUTPUT, Call, array_at, write
from whorl.codegen import call_cells as cell
from whorl.codegen import lists
from whorl.codegen.objects import WORD

STRING = np.dtype(object)
TEXTS = [f"text {n}" for n in range(6)]


class StringCall(Call):
    """The call of a program that takes four strings and reverses them."""

    def __init__(self, program: Any = None) -> None:
        super().__init__(program or reverse)
        self.table, self.numbers = np.array(TEXTS, object), {text: n for n, text in enumerate(TEXTS)}
        self.known, self.codes, self.results = np.zeros(2, np.int64), np.zeros(4, np.int64), np.zeros(4, np.int64)
        self.known[:] = self.table.ctypes.data, len(TEXTS)
        write(self.feed, {cell.DTYPE: id(STRING), cell.STRINGS: 4, cell.ARRAY: id(self.codes)})
        write(self.cells, {cell.NUMBERS: id(self.numbers), cell.TEXTS: self.known.ctypes.data, cell.OUTPUTS: 0})
        self.lengths, self.memory = np.array([4]), np.array([self.results.ctypes.data])
        self.output = np.array([self.block.ctypes.data + OUTPUT * WORD, 0])
        self.record = np.zeros(cell.GROWN_CELLS, np.int64)
        array = np.array([id(self.results)])
        addresses = [int(n) for n in np.frombuffer(self.sources(), np.int64)]
        self.pairs = np.array([*addresses, self.output[0], array.ctypes.data])
        write(self.cells, {cell.INPUTS: 2, cell.SOURCES: self.pairs.ctypes.data})
        write(self.record, {cell.DTYPE: id(STRING), cell.RANK: 1, cell.LENGTHS: self.lengths.ctypes.data})
        write(self.record, {cell.MEMORY: self.memory.ctypes.data, cell.SIZE: WORD, cell.ARE_STRINGS: 1})
        write(self.cells, {cell.GROWN_COUNT: 1, cell.GROWN: self.record.ctypes.data, cell.MOST_BYTES: 1 << 20})
        self.alive += self.table, self.numbers, self.known, self.codes, self.results, self.lengths, self.memory
        self.alive += self.record, array, self.pairs

    def sources(self) -> bytes:
        """The pair of the cell of the input and that of its array."""
        return ctypes.string_at(int(self.cells[cell.SOURCES]), 2 * WORD)


def reverse(block: np.ndarray) -> int:
    array_at(block, OUTPUT)[:] = array_at(block, INPUT)[::-1]
    return 0


def strings(*texts: Any) -> np.ndarray:
    array = np.empty(len(texts), object)
    array[:] = texts
    return array


def references() -> list[int]:
    return [sys.getrefcount(text) for text in TEXTS]


def test_program_gets_numbers_and_gives_strings() -> None:
    call = StringCall()
    (output,) = call.run({"x": strings("text 1", "text 0", "text 1", "text 5")}) or [strings()]
    assert call.codes.tolist() == [1, 0, 1, 5]
    assert output.tolist() == ["text 5", "text 1", "text 0", "text 1"]
    assert output.dtype == STRING and output.flags.owndata and output[0] is TEXTS[5]


@pytest.mark.parametrize(
    "text", ["text 6", "", None, 3, b"text 1", np.str_("text 1"), type("Own", (str,), {})("text 1"), ["text 1"]]
)
def test_what_has_no_number_is_declined_without_an_exception(text: Any) -> None:
    call = StringCall(lambda _: pytest.fail("the program ran"))
    assert call.run({"x": strings("text 1", "text 0", text, "text 5")}) is None
    assert call.run({"x": np.zeros(4, np.int64)}) is None


def test_number_beyond_the_known_ones_is_declined() -> None:
    call = StringCall()
    call.known[1] = 5
    assert call.run({"x": strings(*TEXTS[1:5])}) is not None
    assert call.run({"x": strings(*TEXTS[2:6])}) is None

    def spoil(block: np.ndarray) -> int:
        array_at(block, OUTPUT)[:] = [0, 1, 6, -1]
        return 0

    assert StringCall(spoil).run({"x": strings(*TEXTS[:4])}) is None


def test_references_to_strings_are_counted() -> None:
    call, x = StringCall(), strings("text 1", "text 1", "text 2", "text 3")
    before = references()
    results = [call.run({"x": x}) for _ in range(100)]
    assert references() == [count + more for count, more in zip(before, [0, 200, 100, 100, 0, 0], strict=True)]
    del results
    assert references() == before
    call.known[1] = 3
    assert call.run({"x": x}) is None
    assert references() == before


def test_lists_of_strings_are_read_and_made_by_their_numbers() -> None:
    functions = lists.functions()
    if functions is None:
        pytest.skip(
            "direct calls read the objects of CPython and NumPy in memory, and do not know those of these versions"
        )
    call, expected, table, elements = StringCall(), np.array([-1]), np.zeros((3, 2), np.int64), np.zeros(4, np.int64)
    reader = functions.cells_to_read(STRING, expected)
    reader[lists.READ_TABLE : lists.READ_TABLE + 2] = [table.ctypes.data, elements.ctypes.data]
    reader[lists.READ_ROWS : lists.READ_ROWS + 2] = [3, 4]
    record, many, address = np.zeros(cell.LIST_CELLS, np.int64), 1 << 62, ctypes.addressof(reader)
    write(record, {cell.READER: address, cell.ARRAYS: 2, cell.TOTAL: 2, cell.LEAST: 2})
    write(record, {cell.SHORT: many, cell.SMALL: many, cell.MOST: many})
    write(call.feed, {cell.LIST: record.ctypes.data, cell.ARRAY: id(elements), cell.STRINGS: 1})
    start = np.array([table.ctypes.data])
    sources = call.memory.ctypes.data, start.ctypes.data, address + lists.READ_COUNT * WORD
    maker = functions.cells_to_make(STRING, 1, 2, sources)
    write(call.record, {cell.MEMORY: ctypes.addressof(maker)})
    write(call.cells, {cell.READ: functions.code[0].address, cell.MAKE: functions.code[1].address, cell.SEEN: 0})
    write(call.cells, {cell.GROWN_COUNT: 0, cell.MADE_COUNT: 1, cell.MADE: call.record.ctypes.data})
    before = references()
    for counts in ((1, 3), (2, 0, 2)):
        ends = np.cumsum(counts)
        fed = [strings(*TEXTS[end - count : end]) for count, end in zip(counts, ends, strict=True)]
        (arrays,) = call.run({"x": fed}) or [[]]
        backwards = TEXTS[3::-1]
        expected_lists = [backwards[end - count : end] for count, end in zip(counts, ends, strict=True)]
        assert [each.tolist() for each in arrays] == expected_lists
        del fed, arrays, backwards, expected_lists
        assert references() == before
    assert call.run({"x": [strings("text 1", "new"), strings("text 2", "text 3")]}) is None
    assert references() == before


def test_rows_of_strings_are_made_to_lists() -> None:
    call = StringCall()
    functions = lists.functions()
    if functions is None:
        pytest.skip(
            "direct calls read the objects of CPython and NumPy in memory, and do not know those of these versions"
        )
    table, count = np.array([0, 2]), np.array([2])
    start, shape = np.array([table.ctypes.data]), np.array([2, 2])
    maker = functions.cells_to_make(STRING, 1, 0, (call.memory.ctypes.data, start.ctypes.data, count.ctypes.data))
    write(call.record, {cell.RANK: 2, cell.LENGTHS: shape.ctypes.data, cell.MEMORY: ctypes.addressof(maker)})
    write(call.record, {cell.SIZE: 1})
    made = {cell.MADE_COUNT: 1, cell.MADE: call.record.ctypes.data, cell.MAKE: functions.code[1].address}
    write(call.cells, {cell.GROWN_COUNT: 0} | made)
    before = references()
    (arrays,) = call.run({"x": strings(*TEXTS[:4])}) or [[]]
    assert [each.tolist() for each in arrays] == [["text 3", "text 2"], ["text 1", "text 0"]]
    assert references() == [count + more for count, more in zip(before, [1, 1, 1, 1, 0, 0], strict=True)]
    del arrays
    assert references() == before
