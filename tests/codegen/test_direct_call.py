"""The machine code of a direct call: what it checks of feeds, what it makes, and what becomes of a failure."""

from __future__ import annotations

import ctypes
import gc
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from whorl.codegen import direct_call as code
from whorl.codegen import objects

F32 = np.dtype(np.float32)
ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
INPUT, OUTPUT, COPIED = range(3)
"""The cells of the programs here: two arrays, and the bytes that go from one to the other."""


class Call:
    """The call of a program of Python that takes `x`, four floats, and makes four."""

    def __init__(self, program: Callable[[np.ndarray], int], contents: bytes = b"", maker: object = None) -> None:
        interface = code.interface()
        if interface is None:
            pytest.skip("machine code knows neither this Python nor this NumPy")
        block, lengths, positions = np.zeros(3, np.int64), np.array([4]), np.array([0])
        elements, name = np.frombuffer(contents, np.uint8), "x"
        entry = ENTRY(lambda _: program(block))
        feed = [id(name), id(F32), 1, lengths.ctypes.data, elements.size, elements.ctypes.data, 0]
        result = [0 if maker is None else id(maker), id(F32), 1, lengths.ctypes.data, 0]
        records = np.array(feed), np.array(result)
        first = block.ctypes.data
        addresses = ctypes.cast(entry, ctypes.c_void_p).value or 0, first, first, first + objects.WORD, 0
        tables = records[0].ctypes.data, positions.ctypes.data, records[1].ctypes.data
        numbers = [0, 1, 1, 1, *addresses, *tables, *[0] * 6, *interface]
        self.cells = np.array(numbers, np.int64).view(code.Cells)
        self.cells.alive = [block, lengths, positions, elements, name, entry, records, maker]
        self.run = code.function_over(self.cells)


def array_at(block: np.ndarray, cell: int) -> np.ndarray:
    """The array whose object's address is in a cell; the call has a reference to it."""
    return ctypes.cast(int(block[cell]), ctypes.py_object).value


def double(block: np.ndarray) -> int:
    array_at(block, OUTPUT)[:] = array_at(block, INPUT) * 2
    return 0


def floats(*values: float) -> np.ndarray:
    return np.array(values, F32)


def test_program_gets_the_feed_and_a_new_array() -> None:
    call = Call(double)
    results = [call.run({"x": floats(*values)}) for values in ((1, 2, 3, 4), (5, 6, 7, 8))]
    (first,), (second,) = [result or [] for result in results]
    assert (first.tolist(), second.tolist()) == ([2, 4, 6, 8], [10, 12, 14, 16])
    assert first.flags.owndata


@pytest.mark.parametrize(
    "feeds",
    [
        {},
        {"y": floats(1, 2, 3, 4)},
        {"x": floats(1, 2, 3, 4), "y": floats(1)},
        {"x": [1.0, 2.0, 3.0, 4.0]},
        {"x": floats(1, 2, 3)},
        {"x": np.zeros((4, 1), F32)},
        {"x": np.zeros(4)},
        {"x": np.zeros(4, ">f4")},
        {"x": np.zeros(8, F32)[::2]},
        {"x": np.zeros(17, np.uint8)[1:].view(F32)},
        {"x": np.zeros(4, F32).view(np.matrix).T},
        {1: floats(1, 2, 3, 4)},
        [floats(1, 2, 3, 4)],
    ],
)
def test_other_feeds_are_declined_without_an_exception(feeds: Any) -> None:
    call = Call(lambda _: pytest.fail("the program ran"))
    assert call.run(feeds) is None


def test_elements_that_the_program_is_for_are_compared() -> None:
    expected = floats(1, 2, 3, 4)
    call = Call(double, expected.tobytes())
    assert call.run({"x": floats(1, 2, 3, 5)}) is None
    assert call.run({"x": expected.copy()}) == [pytest.approx([2, 4, 6, 8])]


def test_outputs_come_from_their_maker() -> None:
    own = np.zeros(4, F32)
    (result,) = Call(double, maker=lambda: own).run({"x": floats(1, 2, 3, 4)}) or [None]
    assert result is own and own.tolist() == [2, 4, 6, 8]


def test_output_for_which_there_is_no_memory_is_declined() -> None:
    def refuse() -> np.ndarray:
        raise MemoryError

    assert Call(double, maker=refuse).run({"x": floats(1, 2, 3, 4)}) is None


def test_program_that_fails_is_declined_and_runs_again() -> None:
    statuses = [1, 0]
    call, feeds = Call(lambda _: statuses.pop(0)), {"x": floats(1, 2, 3, 4)}
    assert call.run(feeds) is None
    assert [output.shape for output in call.run(feeds) or []] == [(4,)]


def test_call_inside_a_call_is_declined() -> None:
    inner: list[Any] = []

    def program(_: np.ndarray) -> int:
        inner.append(call.run({"x": floats(1, 2, 3, 4)}))
        return 0

    call = Call(program)
    assert call.run({"x": floats(1, 2, 3, 4)}) is not None
    assert inner == [None]


def test_calls_leave_no_references() -> None:
    x, nothing = floats(1, 2, 3, 4), sys.getrefcount(None)
    call = Call(double)
    before = sys.getrefcount(x), sys.getrefcount(F32)
    for _ in range(1000):
        call.run({"x": x})
        call.run({"y": x})
    assert (sys.getrefcount(x), sys.getrefcount(F32)) == before
    assert abs(sys.getrefcount(None) - nothing) < 1000
    (output,) = call.run({"x": x}) or [x]
    alive = weakref.ref(output)
    del output
    gc.collect()
    assert alive() is None
