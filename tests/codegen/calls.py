"""Direct calls of programs written in Python, which take `x` and make four floats."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from whorl.codegen import call_cells as cell
from whorl.codegen import direct_call as code
from whorl.codegen import objects

F32 = np.dtype(np.float32)
ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
INPUT, OUTPUT, NUMBER = range(3)
"""The cells of the programs here: two arrays, and a number."""


class Call:
    """The call of a program of Python that takes `x`, four floats, and makes four.

    Tests change its cells and the record of its feed; `alive` is what these refer to.
    """

    def __init__(self, program: Callable[[np.ndarray], int], contents: bytes = b"", maker: object = None) -> None:
        interface = code.interface()
        if interface is None:
            pytest.skip(
                "direct calls read the objects of CPython and NumPy in memory, and do not know those of these versions"
            )
        block, lengths = np.zeros(3, np.int64), np.array([4])
        elements, name = np.frombuffer(contents, np.uint8), "x"
        entry = ENTRY(lambda _: program(block))
        feed, result = np.zeros(cell.FEED_CELLS, np.int64), np.zeros(cell.RESULT_CELLS, np.int64)
        first = block.ctypes.data
        sources = np.array([first, feed.ctypes.data + cell.ARRAY * objects.WORD])
        write(feed, {cell.NAME: id(name), cell.BYTES: elements.size, cell.CONTENTS: elements.ctypes.data})
        write(result, {cell.MAKER: 0 if maker is None else id(maker), cell.OUTPUT: first + objects.WORD})
        for record in (feed, result):
            write(record, {cell.DTYPE: id(F32), cell.RANK: 1, cell.LENGTHS: lengths.ctypes.data})
        self.cells = np.zeros(cell.COUNT, np.int64).view(code.Cells)
        write(self.cells, {cell.ENTRY: ctypes.cast(entry, ctypes.c_void_p).value or 0, cell.BLOCK: first})
        write(self.cells, {cell.FEEDS: 1, cell.EXPECTED: feed.ctypes.data, cell.SEEN: cell.UNLIKE})
        write(self.cells, {cell.INPUTS: 1, cell.SOURCES: sources.ctypes.data})
        write(self.cells, {cell.OUTPUTS: 1, cell.RESULTS: result.ctypes.data})
        self.cells[cell.INTERFACE :] = interface
        self.block, self.feed = block, feed
        self.alive: list[object] = [block, lengths, elements, name, entry, feed, result, sources, maker]
        self.cells.alive = self.alive
        self.run = code.function_over(self.cells)


def write(cells: np.ndarray, numbers: Mapping[int, int]) -> None:
    for number, value in numbers.items():
        cells[number] = value


def array_at(block: np.ndarray, cell: int) -> np.ndarray:
    """The array whose object's address is in a cell; the call has a reference to it."""
    return ctypes.cast(int(block[cell]), ctypes.py_object).value


def double(block: np.ndarray) -> int:
    array_at(block, OUTPUT)[:] = array_at(block, INPUT) * 2
    return 0


def floats(*values: float) -> np.ndarray:
    return np.array(values, F32)
