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

from whorl.codegen.callers import CLOCK, ERROR, NEXT, PERIOD, define_now
from whorl.codegen.memory import address_of
from whorl.codegen.objects import CONTIGUOUS, Layout, layout, memory_of, new_array, number_in, python_function
from whorl.codegen.target import MachineCode, host
from whorl.llvm.function import Function
from whorl.llvm.module import Effort, Module
from whorl.llvm.value import Value

IS_BUSY, FEEDS, INPUTS, OUTPUTS = range(4)
"""Whether a thread is inside; how many feeds there are to be, how many of them the program takes, and its outputs."""
ENTRY, BLOCK, FIRST_INPUT, FIRST_OUTPUT, CONTEXT = range(4, 9)
"""Addresses: of the program, its cells, the first of these that has an input and an output, and its context, or 0."""
EXPECTED, POSITIONS, RESULTS = range(9, 12)
"""Addresses of the records of feeds, of the numbers of the feeds that are inputs, and of the records of outputs."""
INTERFACE = 12
"""Cells with addresses: None, the type of arrays, NumPy's function for new ones, `memcmp`, and those of `PYTHON`."""
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
_NONE, _TYPE, _NEW_ARRAY, _COMPARE, _FIRST_OF_PYTHON = range(INTERFACE, INTERFACE + 5)
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
    made = f.call_pointer(_python(f, "PyList_New"), "ptr", outputs)
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
        f.give(made)
    f.run_pointer(_python(f, "Py_DecRef"), made)
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
    result, maker, cells = f.variable(f.null()), _address(f, record, MAKER), f["cells"]
    with f.when(_exists(f, maker)):
        f.store(f.call_pointer(_python(f, "PyObject_CallNoArgs"), "ptr", maker), result)
    with f.when(f.compare("eq", maker, f.null())):
        dtype, rank = _address(f, record, DTYPE), f.convert("trunc", f.load_index(f.offset(record, "i64", RANK)), "i32")
        f.run_pointer(_python(f, "Py_IncRef"), dtype)
        of_class = dtype, rank, _address(f, record, LENGTHS), f.null(), f.null(), "i32 0", f.null()
        new = _address(f, cells, _NEW_ARRAY)
        f.store(f.call_pointer(new, "ptr", _address(f, cells, _TYPE), *of_class), result)
    return f.load("ptr", result)


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
    known = id(None), id(np.ndarray), new_array(), address_of("memcmp"), *map(python_function, PYTHON)
    return None if layout() is None or None in known else tuple(n for n in known if n is not None)


@functools.cache
def _definition() -> tuple[_Definition, MachineCode]:
    known = layout()
    if known is None:
        raise RuntimeError("objects of this Python have another layout")
    code = MachineCode(call_module(known), "call")
    return _Definition(b"run", code.address, _FLAGS, None), code


def function_over(cells: np.ndarray) -> Callable[[Any], list[Any] | None]:
    """The function of cells, which it keeps alive: the outputs for a dict of feeds, or None."""
    definition, _ = _definition()
    kind = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return kind(("PyCFunction_NewEx", ctypes.pythonapi))(ctypes.addressof(definition), cells, None)
