"""Lists of arrays in machine code: the table of their shapes and their elements in a row, and lists made of these.

A row of the table is where the elements of an array begin, then its lengths. Asking arrays for these from Python, and
making arrays there, takes longer than most programs over them. The functions run with Python's lock held.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.codegen.memory import address_of
from whorl.codegen.objects import CONTIGUOUS, WORD, Layout, layout, memory_of, new_array, number_in, python_function
from whorl.codegen.target import MachineCode, host
from whorl.llvm.function import Function
from whorl.llvm.module import Effort, Module
from whorl.llvm.value import Index, Value

READ_TABLE, READ_ROWS, READ_COUNT, READ_CELLS = 3, 8, 10, 12
"""Cells of what is read: the type of arrays, their element type, the addresses of `expected`, the table, the elements
and of `memcpy`, the rank of arrays, the bytes of an element, and how many rows and elements there is memory for
(`READ_ROWS`); after a call, how many arrays and elements there are (`READ_COUNT`). Last, how many cells there are."""
MADE_FROM, MADE_RANK, MADE_CELLS = 3, 3, 17
"""Cells of what a list is made of: the addresses of three cells, which have the address of the elements, that of the
table, and how many arrays there are; the rank of arrays, the step of the table, the bytes of an element, the element
type, the type of arrays and functions of Python, NumPy, C; whether elements are references to objects. At the end are
three cells that may serve as the first."""
MISFIT, NO_ROOM = -1, -2
"""What `read` gives for a list of other arrays, and where there is too little memory."""


def lists_module(known: Layout) -> Module:
    """The functions for a layout."""
    module = Module(host(), Effort.ROUTINES)
    _define_read(module, known)
    _define_make(module, known)
    return module


def _define_read(module: Module, known: Layout) -> None:
    """Write the table of a list of arrays, and their elements, where there is memory for them.

    The cells are those of `READ_CELLS`: objects and memory by their addresses, and numbers. `expected` has the length
    of each axis, -1 for any. Gives twice the number of all elements, and one more where there are arrays of one
    shape; `MISFIT` if one has another type, rank or length, or is not row-major; `NO_ROOM`.
    """
    f = Function(module, "@read", "i64", {"cells": "ptr", "list": "ptr"}, "", "")
    type, dtype, expected, table, elements, copy = (f.load("ptr", _cell(f, n)) for n in range(6))
    rank, size, rows, capacity = (f.load_index(_cell(f, n)) for n in range(6, READ_COUNT))
    items = f.load("ptr", f.offset(f["list"], "i8", known.items))
    count = f.load_index(f.offset(f["list"], "i8", known.count))
    f.store(count, _cell(f, READ_COUNT))
    f.store(f.index(0), _cell(f, READ_COUNT + 1))
    _require(f, count <= rows, NO_ROOM)
    total, differs = f.variable(f.index(0)), f.variable(f.index(0))
    with f.loop(0, count) as n:
        array = f.load("ptr", f.offset(items, "ptr", n))
        for offset, object in ((known.type, type), (known.dtype, dtype)):
            address = f.convert("ptrtoint", object, "i64")
            _require(f, f.load("i64", f.offset(array, "i8", offset)).equals(address))
        _require(f, number_in(f, array, known.rank).equals(rank))
        _require(f, (number_in(f, array, known.flags) & CONTIGUOUS).equals(CONTIGUOUS))
        row, shape = f.offset(table, "i64", n * (rank + 1)), f.load("ptr", f.offset(array, "i8", known.lengths))
        product = f.variable(f.index(1))
        f.store(f.load_index(total), row)
        with f.loop(0, rank) as axis:
            length, declared = (f.load_index(f.offset(each, "i64", axis)) for each in (shape, expected))
            _require(f, (declared < 0) | declared.equals(length))
            f.store(length, f.offset(row, "i64", axis + 1))
            difference = length ^ f.load_index(f.offset(table, "i64", axis + 1))
            f.store(f.load("i64", differs) | difference, differs)
            f.store(f.load_index(product) * length, product)
        f.store(f.load_index(total) + f.load_index(product), total)
    f.store(f.load_index(total), _cell(f, READ_COUNT + 1))
    _require(f, f.load_index(total) <= capacity, NO_ROOM)
    end = f.variable(elements)
    with f.loop(0, count) as n:
        bytes, start = _bytes(f, f.offset(table, "i64", n * (rank + 1)), rank, size), f.load("ptr", end)
        f.run_pointer(copy, start, memory_of(f, known, f.load("ptr", f.offset(items, "ptr", n))), bytes)
        f.store(f.offset(start, "i8", bytes), end)
    is_alike = f.load("i64", differs).equals(0) & (count > 0)
    f.give(f.load_index(total) * 2 + f.choose(is_alike, f.index(1), 0))


def _define_make(module: Module, known: Layout) -> None:
    """A new list of arrays made of their elements in a row; null, and an exception, where there is no memory.

    The cells are those of `MADE_CELLS`; the arrays have the shapes of the table, whose rows are `step` numbers apart.
    """
    f = Function(module, "@make", "ptr", {"cells": "ptr"}, "", "")
    elements, table = (f.load("ptr", f.load("ptr", _cell(f, n))) for n in range(2))
    count = f.load_index(f.load("ptr", _cell(f, 2)))
    rank, step, size = (f.load_index(_cell(f, n)) for n in range(3, 6))
    dtype, type, new_list, new_array, keep, free, copy = (f.load("ptr", _cell(f, n)) for n in range(6, 13))
    are_objects = f.compare("ne", f.load("i64", _cell(f, 13)), f.index(0))
    made = f.call_pointer(new_list, "ptr", count)
    with f.leave_when(f.compare("eq", made, f.null())):
        f.give(f.null())
    items, end = f.load("ptr", f.offset(made, "i8", known.items)), f.variable(elements)
    short_rank = f.convert("trunc", rank, "i32")
    with f.loop(0, count) as n:
        row, start = f.offset(table, "i64", n * step), f.load("ptr", end)
        f.run_pointer(keep, dtype)
        lengths = f.offset(row, "i64", 1)
        array = f.call_pointer(
            new_array, "ptr", type, dtype, short_rank, lengths, f.null(), f.null(), "i32 0", f.null()
        )
        with f.leave_when(f.compare("eq", array, f.null())):
            f.run_pointer(free, made)
            f.give(f.null())
        f.store(array, f.offset(items, "ptr", n))
        bytes = _bytes(f, row, rank, size)
        f.run_pointer(copy, memory_of(f, known, array), start, bytes)
        with f.when(are_objects):
            _keep_objects(f, start, bytes // WORD, keep)
        f.store(f.offset(start, "i8", bytes), end)
    f.give(made)


def _keep_objects(f: Function, start: Value, count: Index, keep: Value) -> None:
    """Count one more reference to each of some objects."""
    with f.loop(0, count) as n:
        f.run_pointer(keep, f.load("ptr", f.offset(start, "ptr", n)))


def _bytes(f: Function, row: Value, rank: Index, size: Index) -> Index:
    """The bytes of an array with the lengths in a row of a table."""
    bytes = f.variable(size)
    with f.loop(0, rank) as axis:
        f.store(f.load_index(bytes) * f.load_index(f.offset(row, "i64", axis + 1)), bytes)
    return f.load_index(bytes)


def _cell(f: Function, number: int) -> Value:
    return f.offset(f["cells"], "i64", number)


def _require(f: Function, condition: Value, otherwise: int = MISFIT) -> None:
    with f.leave_when(f.select(condition, f.number(0, "i1"), f.number(1, "i1"))):
        f.give(f.index(otherwise))


class Functions(Struct, frozen=True):
    """The functions, and what their cells have from `size` on: the bytes of an element, and addresses."""

    read: Callable[[int, object], int]
    make: Callable[[int | ctypes.c_char_p], Any]
    code: tuple[MachineCode, ...]
    interface: tuple[int, ...]
    """The addresses of the type of arrays, of functions of Python and NumPy that `make` calls, and of `memcpy`."""

    def cells_to_read(self, dtype: np.dtype, expected: np.ndarray) -> Any:
        """Cells for lists of arrays of a rank, whose lengths are `expected`, without memory; both must stay alive."""
        *_, copy = self.interface
        cells = id(np.ndarray), id(dtype), expected.ctypes.data, 0, 0, copy, len(expected), dtype.itemsize
        return (ctypes.c_int64 * READ_CELLS)(*cells)

    def cells_to_make(self, dtype: np.dtype, rank: int, step: int, sources: Sequence[int] = ()) -> Any:
        """Cells for lists of such arrays, from the cells at three addresses, or from the last ones."""
        numbers = 0, 0, 0, rank, step, dtype.itemsize, id(dtype), *self.interface, dtype.hasobject
        cells = (ctypes.c_int64 * MADE_CELLS)(*numbers)
        own = ctypes.addressof(cells) + (MADE_CELLS - MADE_FROM) * WORD
        cells[:MADE_FROM] = [*sources] or [own + n * WORD for n in range(MADE_FROM)]
        return cells


@functools.cache
def functions() -> Functions | None:
    """The functions of this process; None where Python or NumPy is of another kind."""
    known = layout()
    new_list, keep, free = map(python_function, ("PyList_New", "Py_IncRef", "Py_DecRef"))
    interface = id(np.ndarray), new_list, new_array(), keep, free, address_of("memcpy")
    if known is None or None in interface:
        return None
    module = lists_module(known)
    read, make = code = tuple(MachineCode(module, name) for name in ("read", "make"))
    return Functions(
        ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.py_object)(read.address),
        ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(make.address),
        code,
        tuple(n for n in interface if n is not None),
    )
