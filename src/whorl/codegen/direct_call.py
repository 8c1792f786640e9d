"""A run in machine code: feeds are checked and a program is called as a C extension would, and no Python runs.

`call(self, feeds)` is the code of a Python function. Its `self` is an array of cells, which say what arrays are
expected under which names, what program takes them, and what arrays it writes. It gives None where feeds are others,
and where the program failed without an exception: whoever called it then goes the long way. It has Python's lock but
while the program runs, which one thread at a time does on these cells; others get None.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from whorl.codegen.callers import CLOCK, ERROR, IS_MISSED, NEXT, PERIOD, define_now
from whorl.codegen.memory import address_of
from whorl.codegen.objects import CONTIGUOUS, Layout, layout, memory_of, new_array, number_in, python_function
from whorl.codegen.target import MachineCode, host
from whorl.llvm.function import Function
from whorl.llvm.module import Effort, Module
from whorl.llvm.value import Index, Value

IS_BUSY, FEEDS, INPUTS, OUTPUTS = range(4)
"""Whether a thread is inside, or nobody is to be any more; how many feeds there are to be, how many of them the program
takes, and how many outputs have shapes that are known before."""
ENTRY, BLOCK, FIRST_INPUT, FIRST_OUTPUT, CONTEXT = range(4, 9)
"""Addresses: of the program, its cells, the first of these that has an input and an output, and its context, or 0."""
EXPECTED, POSITIONS, RESULTS, GROWN = range(9, 13)
"""Addresses of the records of feeds, of the numbers of the feeds that are inputs, of the records of outputs, and of
those of outputs whose lengths the program tells."""
GROWN_COUNT, MOST_BYTES, IS_LARGE, FINISH, GIVE_UP = range(13, 18)
"""How many of these there are, and how large one may be that is copied here; the address of a number that is not 0 once
the program has much memory; and Python functions: the list of all of them, and what a failure is followed by, or 0."""
INTERFACE = 18
"""Cells with addresses: None, the type of arrays, NumPy's function for new ones, `memcmp`, `memcpy`, and `PYTHON`."""
PYTHON = (
    "PyDict_Size",
    "PyDict_GetItemWithError",
    "PyList_New",
    "PyObject_CallNoArgs",
    "Py_IncRef",
    "Py_DecRef",
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
    "PyErr_Clear",
    "PyErr_Restore",
)
NAME, DTYPE, RANK, LENGTHS, BYTES, CONTENTS, ARRAY, FEED_CELLS = range(8)
"""The record of a feed: its name, dtype and rank, the address of its lengths, how many bytes of its elements are known
and where these are, and in a run the array. Last: its size."""
MAKER, ITEM, RESULT_CELLS = 0, 4, 5
"""The record of an output: what makes the array, if it is not NumPy; dtype, rank and lengths as a feed's; and its item
of the list. Last: its size."""
AXES, LENGTH_CELLS, MEMORY, SIZE, GROWN_CELLS = 0, 5, 6, 7, 8
"""The record of an output whose lengths the program tells: how many of them, and the addresses of pairs of an axis and
a number of a cell of the program, and of the cell with the address of its memory; the bytes of an element; the rest as
an output's. Last: its size."""
_NONE, _TYPE, _NEW_ARRAY, _COMPARE, _COPY, _FIRST_OF_PYTHON = range(INTERFACE, INTERFACE + 6)
_FLAGS = 8
"""METH_O, a function of one argument; Python says so in its stable interface."""


def call_module(known: Layout) -> Module:
    """The function for a layout of objects."""
    module = Module(host(), Effort.ROUTINES)
    define_now(module)
    _define_attempt(module, known)
    f = Function(module, "@call", "ptr", {"self": "ptr", "feeds": "ptr"}, "", "")
    cells = f.load("ptr", f.offset(f["self"], "i8", known.memory))
    busy = f.offset(cells, "i64", IS_BUSY)
    with f.leave_when(f.compare("ne", f.load("i64", busy), f.index(0))):
        f.give(_nothing(f, cells))
    f.store(f.index(1), busy)
    result = f.call("@attempt", "ptr", cells, f["feeds"])
    f.store(f.index(0), busy)
    context = _address(f, cells, CONTEXT)
    with f.when(_exists(f, context)):
        f.store(f.load("i64", f.offset(context, "i64", IS_MISSED)), busy)
    f.give(result)
    return module


def _define_attempt(module: Module, known: Layout) -> None:
    """The list of outputs; None; or null, and an exception."""
    f = Function(module, "@attempt", "ptr", {"cells": "ptr", "feeds": "ptr"}, "private", "")
    cells = f["cells"]
    expected, results = _address(f, cells, EXPECTED), _address(f, cells, RESULTS)
    feeds, inputs, outputs = (f.load_index(f.offset(cells, "i64", n)) for n in (FEEDS, INPUTS, OUTPUTS))
    size = f.index(f.call_pointer(_python(f, "PyDict_Size"), "i64", f["feeds"]))
    _decline_unless(f, size.equals(feeds))
    with f.loop(0, feeds) as n:
        _check_feed(f, known, f.offset(expected, "i64", n * FEED_CELLS))
    first = _address(f, cells, FIRST_INPUT)
    with f.loop(0, inputs) as n:
        position = f.load_index(f.offset(_address(f, cells, POSITIONS), "i64", n))
        f.store(_address(f, f.offset(expected, "i64", position * FEED_CELLS), ARRAY), f.offset(first, "i64", n))
    grown = f.load_index(f.offset(cells, "i64", GROWN_COUNT))
    made = f.call_pointer(_python(f, "PyList_New"), "ptr", outputs + grown)
    _decline_unless(f, _exists(f, made))
    items, first = f.load("ptr", f.offset(made, "i8", known.items)), _address(f, cells, FIRST_OUTPUT)
    with f.loop(0, outputs) as n:
        record = f.offset(results, "i64", n * RESULT_CELLS)
        array = _new_result(f, record)
        with f.leave_when(f.compare("eq", array, f.null())):
            f.run_pointer(_python(f, "Py_DecRef"), made)
            f.give(_decline(f))
        f.store(array, f.offset(items, "ptr", f.load_index(f.offset(record, "i64", ITEM))))
        f.store(array, f.offset(first, "i64", n))
    with f.loop(0, feeds) as n:
        f.run_pointer(_python(f, "Py_IncRef"), _address(f, f.offset(expected, "i64", n * FEED_CELLS), ARRAY))
    status = _run(f)
    with f.loop(0, feeds) as n:
        f.run_pointer(_python(f, "Py_DecRef"), _address(f, f.offset(expected, "i64", n * FEED_CELLS), ARRAY))
    with f.leave_when(f.compare("eq", status, f.index(0))):
        _add_grown(f, known, items, made)
        f.give(made)
    f.run_pointer(_python(f, "Py_DecRef"), made)
    with f.when(_exists(f, _address(f, cells, GIVE_UP))):
        answer = f.call_pointer(_python(f, "PyObject_CallNoArgs"), "ptr", _address(f, cells, GIVE_UP))
        with f.when(_exists(f, answer)):
            f.run_pointer(_python(f, "Py_DecRef"), answer)
    _raise_error(f)
    f.give(_decline(f))


def _check_feed(f: Function, known: Layout, record: Value) -> None:
    """Find the array of a feed, and go the long way where it is another one than expected."""
    array = f.call_pointer(_python(f, "PyDict_GetItemWithError"), "ptr", f["feeds"], _address(f, record, NAME))
    _decline_unless(f, _exists(f, array))
    for offset, object in ((known.type, _address(f, f["cells"], _TYPE)), (known.dtype, _address(f, record, DTYPE))):
        _decline_unless(f, f.compare("eq", f.load("ptr", f.offset(array, "i8", offset)), object))
    rank = f.load_index(f.offset(record, "i64", RANK))
    _decline_unless(f, number_in(f, array, known.rank).equals(rank))
    _decline_unless(f, (number_in(f, array, known.flags) & CONTIGUOUS).equals(CONTIGUOUS))
    lengths = f.load("ptr", f.offset(array, "i8", known.lengths))
    with f.loop(0, rank) as axis:
        length, other = (f.load_index(f.offset(x, "i64", axis)) for x in (lengths, _address(f, record, LENGTHS)))
        _decline_unless(f, length.equals(other))
    bytes = f.load_index(f.offset(record, "i64", BYTES))
    with f.when(bytes > 0):
        elements, known_ones = memory_of(f, known, array), _address(f, record, CONTENTS)
        difference = f.call_pointer(_address(f, f["cells"], _COMPARE), "i32", elements, known_ones, bytes)
        _decline_unless(f, f.compare("eq", difference, f.number(0, "i32")))
    f.store(array, f.offset(record, "ptr", ARRAY))


def _new_result(f: Function, record: Value) -> Value:
    """A new array for an output; null, and an exception, where there is no memory."""
    result, maker = f.variable(f.null()), _address(f, record, MAKER)
    with f.when(_exists(f, maker)):
        f.store(f.call_pointer(_python(f, "PyObject_CallNoArgs"), "ptr", maker), result)
    with f.when(f.compare("eq", maker, f.null())):
        f.store(_new_array(f, record), result)
    return f.load("ptr", result)


def _new_array(f: Function, record: Value) -> Value:
    """An array that NumPy makes; null, and an exception, where there is no memory."""
    cells, dtype, rank = f["cells"], _address(f, record, DTYPE), f.load_index(f.offset(record, "i64", RANK))
    f.run_pointer(_python(f, "Py_IncRef"), dtype)
    shape = f.convert("trunc", rank, "i32"), _address(f, record, LENGTHS)
    others = f.null(), f.null(), "i32 0", f.null()
    return f.call_pointer(_address(f, cells, _NEW_ARRAY), "ptr", _address(f, cells, _TYPE), dtype, *shape, *others)


def _add_grown(f: Function, known: Layout, items: Value, made: Value) -> None:
    """Put copies of outputs whose lengths the program tells into the list; Python makes them where there is much.

    Where there is no memory for them, the long way says so.
    """
    cells = f["cells"]
    count, records = f.load_index(f.offset(cells, "i64", GROWN_COUNT)), _address(f, cells, GROWN)
    is_large = f.variable(f.index(0))
    with f.when(count > 0):
        f.store(f.load("i64", _address(f, cells, IS_LARGE)), is_large)
    with f.loop(0, count) as n:
        size = _measure(f, f.offset(records, "i64", n * GROWN_CELLS))
        with f.when(size >= f.load_index(f.offset(cells, "i64", MOST_BYTES))):
            f.store(f.index(1), is_large)
    with f.leave_when(f.compare("ne", f.load("i64", is_large), f.index(0))):
        all = f.call_pointer(_python(f, "PyObject_CallNoArgs"), "ptr", _address(f, cells, FINISH))
        with f.leave_when(f.compare("eq", all, f.null())):
            f.run_pointer(_python(f, "Py_DecRef"), made)
            f.give(_decline(f))
        sources = f.load("ptr", f.offset(all, "i8", known.items))
        with f.loop(0, count) as n:
            array, record = f.load("ptr", f.offset(sources, "ptr", n)), f.offset(records, "i64", n * GROWN_CELLS)
            f.run_pointer(_python(f, "Py_IncRef"), array)
            f.store(array, f.offset(items, "ptr", f.load_index(f.offset(record, "i64", ITEM))))
        f.run_pointer(_python(f, "Py_DecRef"), all)
        f.give(made)
    with f.loop(0, count) as n:
        record = f.offset(records, "i64", n * GROWN_CELLS)
        array = _new_array(f, record)
        with f.leave_when(f.compare("eq", array, f.null())):
            f.run_pointer(_python(f, "Py_DecRef"), made)
            f.give(_decline(f))
        f.store(array, f.offset(items, "ptr", f.load_index(f.offset(record, "i64", ITEM))))
        source = f.load("ptr", _address(f, record, MEMORY))
        f.run_pointer(_address(f, cells, _COPY), memory_of(f, known, array), source, _measure(f, record))


def _measure(f: Function, record: Value) -> Index:
    """The bytes of an output, whose lengths are written down where its record has them."""
    lengths, pairs, block = (
        _address(f, record, LENGTHS),
        _address(f, record, LENGTH_CELLS),
        _address(f, f["cells"], BLOCK),
    )
    with f.loop(0, f.load_index(f.offset(record, "i64", AXES))) as n:
        axis, cell = (f.load_index(f.offset(pairs, "i64", n * 2 + k)) for k in range(2))
        f.store(f.load("i64", f.offset(block, "i64", cell)), f.offset(lengths, "i64", axis))
    bytes = f.variable(f.load_index(f.offset(record, "i64", SIZE)))
    with f.loop(0, f.load_index(f.offset(record, "i64", RANK))) as axis:
        f.store(f.load_index(bytes) * f.load_index(f.offset(lengths, "i64", axis)), bytes)
    return f.load_index(bytes)


def _run(f: Function) -> Value:
    """The status of the program, which runs without Python's lock, and for a whole period before it asks for it."""
    cells = f["cells"]
    context = _address(f, cells, CONTEXT)
    with f.when(_exists(f, context)):
        now = f.index(f.call("@now", "i64", _address(f, context, CLOCK)))
        f.store(now + f.load_index(f.offset(context, "i64", PERIOD)), f.offset(context, "i64", NEXT))
    state = f.call_pointer(_python(f, "PyEval_SaveThread"), "ptr")
    status = f.call_pointer(_address(f, cells, ENTRY), "i64", _address(f, cells, BLOCK))
    f.run_pointer(_python(f, "PyEval_RestoreThread"), state)
    return status


def _raise_error(f: Function) -> None:
    """Raise what Python raised inside the program, if it did."""
    context = _address(f, f["cells"], CONTEXT)
    with f.when(_exists(f, context)):
        error = [_address(f, context, ERROR + n) for n in range(3)]
        with f.leave_when(_exists(f, error[0])):
            for n in range(3):
                f.store(f.null(), f.offset(context, "ptr", ERROR + n))
            f.run_pointer(_python(f, "PyErr_Restore"), *error)
            f.give(f.null())


def _decline_unless(f: Function, condition: Value) -> None:
    with f.leave_when(f.select(condition, f.number(0, "i1"), f.number(1, "i1"))):
        f.give(_decline(f))


def _decline(f: Function) -> Value:
    """None, and no exception: the long way meets its cause again."""
    f.run_pointer(_python(f, "PyErr_Clear"))
    return _nothing(f, f["cells"])


def _nothing(f: Function, cells: Value) -> Value:
    """A new reference to None."""
    nothing = _address(f, cells, _NONE)
    f.run_pointer(_address(f, cells, _FIRST_OF_PYTHON + PYTHON.index("Py_IncRef")), nothing)
    return nothing


def _python(f: Function, name: str) -> Value:
    """A function of Python's C interface."""
    return _address(f, f["cells"], _FIRST_OF_PYTHON + PYTHON.index(name))


def _address(f: Function, cells: Value, number: int) -> Value:
    """The address in a cell."""
    return f.load("ptr", f.offset(cells, "i64", number))


def _exists(f: Function, pointer: Value) -> Value:
    return f.compare("ne", pointer, f.null())


class _Definition(ctypes.Structure):
    """Python's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


@functools.cache
def interface() -> tuple[int, ...] | None:
    """The cells from `INTERFACE` on; None where Python or NumPy is of another kind."""
    known = id(None), id(np.ndarray), new_array(), *map(address_of, ("memcmp", "memcpy")), *map(python_function, PYTHON)
    return None if layout() is None or None in known else tuple(n for n in known if n is not None)


@functools.cache
def _definition() -> tuple[_Definition, MachineCode]:
    known = layout()
    if known is None:
        raise RuntimeError("objects of this Python have another layout")
    code = MachineCode(call_module(known), "call")
    return _Definition(b"run", code.address, _FLAGS, None), code


class Cells(np.ndarray):
    """Numbers and addresses, and what keeps alive that which is at the addresses."""

    alive: object
    code: object


def function_over(cells: Cells) -> Callable[[Any], list[Any] | None]:
    """The function of cells, which it keeps alive: the outputs for a dict of feeds, or None."""
    # Threads that come here at once may each have code of their own.
    cells.code = definition, _ = _definition()
    kind = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return kind(("PyCFunction_NewEx", ctypes.pythonapi))(ctypes.addressof(definition), cells, None)
