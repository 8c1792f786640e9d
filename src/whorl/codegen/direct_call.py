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

from whorl.codegen.call_cells import (
    ARE_STRINGS,
    ARRAY,
    BLOCK,
    BYTES,
    COMPARE,
    CONTENTS,
    CONTEXT,
    COPY,
    DTYPE,
    ENTRY,
    EXPECTED,
    FEED_CELLS,
    FEEDS,
    FINISH,
    FORM_COUNT,
    GIVE_UP,
    GROWN,
    GROWN_CELLS,
    GROWN_COUNT,
    INPUTS,
    IS_BUSY,
    IS_LARGE,
    ITEM,
    LENGTHS,
    LIST,
    MADE,
    MADE_COUNT,
    MAKER,
    MEMORY,
    MOST_BYTES,
    NAME,
    NEW_ARRAY,
    OUTPUT,
    OUTPUTS,
    PYTHON,
    RANK,
    RESULT_CELLS,
    RESULTS,
    SOURCES,
    STRINGS,
    TYPE,
    address,
    decline,
    decline_unless,
    exists,
    is_set,
    nothing,
    python,
)
from whorl.codegen.call_lists import (
    add_lists,
    check_seen,
    first_seen,
    group,
    leave_large,
    measure,
    read_list,
    write_sizes,
)
from whorl.codegen.call_strings import decode, encode
from whorl.codegen.callers import CLOCK, ERROR, IS_MISSED, NEXT, PERIOD, define_now
from whorl.codegen.memory import address_of
from whorl.codegen.objects import CONTIGUOUS, WORD, Layout, layout, memory_of, new_array, number_in, python_function
from whorl.codegen.target import MachineCode, host
from whorl.llvm.function import Function
from whorl.llvm.module import Effort, Module
from whorl.llvm.value import Value

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
        f.give(nothing(f, cells))
    f.store(f.index(1), busy)
    result = f.call("@attempt", "ptr", cells, f["feeds"])
    f.store(f.index(0), busy)
    context = address(f, cells, CONTEXT)
    with f.when(exists(f, context)):
        _leave_cores(f, cells, f.offset(context, "i64", IS_MISSED))
    f.give(result)
    return module


def _leave_cores(f: Function, cells: Value, missed: Value) -> None:
    """After a run that had work for other cores, give None for good, or for lists as large as these."""
    is_for_any = f.load_index(f.offset(cells, "i64", FORM_COUNT)) > 0
    with f.when(f.compare("ne", f.load("i64", missed), f.index(0))):
        f.store(f.choose(is_for_any, f.index(0), 1), f.offset(cells, "i64", IS_BUSY))
        with f.when(is_for_any):
            f.store(f.index(0), missed)
            leave_large(f, cells)


def _define_attempt(module: Module, known: Layout) -> None:
    """The list of outputs; None; or null, and an exception."""
    f = Function(module, "@attempt", "ptr", {"cells": "ptr", "feeds": "ptr"}, "private", "")
    cells = f["cells"]
    expected, results = address(f, cells, EXPECTED), address(f, cells, RESULTS)
    feeds, inputs, outputs, grown, lists = (
        f.load_index(f.offset(cells, "i64", n)) for n in (FEEDS, INPUTS, OUTPUTS, GROWN_COUNT, MADE_COUNT)
    )
    size = f.index(f.call_pointer(python(f, "PyDict_Size"), "i64", f["feeds"]))
    decline_unless(f, size.equals(feeds))
    seen = first_seen(f)
    with f.loop(0, feeds) as n:
        _check_feed(f, known, f.offset(expected, "i64", n * FEED_CELLS), seen)
    check_seen(f, seen)
    with f.loop(0, inputs) as n:
        pair = f.offset(address(f, cells, SOURCES), "i64", n * 2)
        f.store(f.load("i64", address(f, pair, 1)), address(f, pair, 0))
    write_sizes(f)
    made = f.call_pointer(python(f, "PyList_New"), "ptr", outputs + grown + lists)
    decline_unless(f, exists(f, made))
    items = f.load("ptr", f.offset(made, "i8", known.items))
    with f.loop(0, outputs) as n:
        record = f.offset(results, "i64", n * RESULT_CELLS)
        array = _new_result(f, record)
        with f.leave_when(f.compare("eq", array, f.null())):
            f.run_pointer(python(f, "Py_DecRef"), made)
            f.give(decline(f))
        f.store(array, f.offset(items, "ptr", f.load_index(f.offset(record, "i64", ITEM))))
        f.store(array, address(f, record, OUTPUT))
    with f.loop(0, feeds) as n:
        f.run_pointer(python(f, "Py_IncRef"), address(f, f.offset(expected, "i64", n * FEED_CELLS), ARRAY))
    status = _run(f)
    with f.loop(0, feeds) as n:
        f.run_pointer(python(f, "Py_DecRef"), address(f, f.offset(expected, "i64", n * FEED_CELLS), ARRAY))
    with f.leave_when(f.compare("eq", status, f.index(0))):
        _add_grown(f, known, items, made)
        add_lists(f, items, made)
        f.give(group(f, known, items, made))
    f.run_pointer(python(f, "Py_DecRef"), made)
    with f.when(exists(f, address(f, cells, GIVE_UP))):
        answer = f.call_pointer(python(f, "PyObject_CallNoArgs"), "ptr", address(f, cells, GIVE_UP))
        with f.when(exists(f, answer)):
            f.run_pointer(python(f, "Py_DecRef"), answer)
    _raise_error(f)
    f.give(decline(f))


def _check_feed(f: Function, known: Layout, record: Value, seen: Value) -> None:
    """Find what is fed, and go the long way where it is something else than expected."""
    fed = f.call_pointer(python(f, "PyDict_GetItemWithError"), "ptr", f["feeds"], address(f, record, NAME))
    decline_unless(f, exists(f, fed))
    list = address(f, record, LIST)
    with f.when(exists(f, list)):
        read_list(f, known, record, list, fed, seen)
    with f.when(f.compare("eq", list, f.null())):
        _check_array(f, known, record, fed)


def _check_array(f: Function, known: Layout, record: Value, array: Value) -> None:
    for offset, object in ((known.type, address(f, f["cells"], TYPE)), (known.dtype, address(f, record, DTYPE))):
        decline_unless(f, f.compare("eq", f.load("ptr", f.offset(array, "i8", offset)), object))
    rank = f.load_index(f.offset(record, "i64", RANK))
    decline_unless(f, number_in(f, array, known.rank).equals(rank))
    decline_unless(f, (number_in(f, array, known.flags) & CONTIGUOUS).equals(CONTIGUOUS))
    lengths = f.load("ptr", f.offset(array, "i8", known.lengths))
    with f.loop(0, rank) as axis:
        length, other = (f.load_index(f.offset(x, "i64", axis)) for x in (lengths, address(f, record, LENGTHS)))
        decline_unless(f, length.equals(other))
    bytes = f.load_index(f.offset(record, "i64", BYTES))
    with f.when(bytes > 0):
        elements, known_ones = memory_of(f, known, array), address(f, record, CONTENTS)
        difference = f.call_pointer(address(f, f["cells"], COMPARE), "i32", elements, known_ones, bytes)
        decline_unless(f, f.compare("eq", difference, f.number(0, "i32")))
    count = f.load_index(f.offset(record, "i64", STRINGS))
    with f.when(count > 0):
        encode(f, known, memory_of(f, known, array), memory_of(f, known, address(f, record, ARRAY)), count)
    with f.when(count.equals(0)):
        f.store(array, f.offset(record, "ptr", ARRAY))


def _new_result(f: Function, record: Value) -> Value:
    """A new array for an output; null, and an exception, where there is no memory."""
    result, maker = f.variable(f.null()), address(f, record, MAKER)
    with f.when(exists(f, maker)):
        f.store(f.call_pointer(python(f, "PyObject_CallNoArgs"), "ptr", maker), result)
    with f.when(f.compare("eq", maker, f.null())):
        f.store(_new_array(f, record), result)
    return f.load("ptr", result)


def _new_array(f: Function, record: Value) -> Value:
    """An array that NumPy makes; null, and an exception, where there is no memory."""
    cells, dtype, rank = f["cells"], address(f, record, DTYPE), f.load_index(f.offset(record, "i64", RANK))
    f.run_pointer(python(f, "Py_IncRef"), dtype)
    shape = f.convert("trunc", rank, "i32"), address(f, record, LENGTHS)
    others = f.null(), f.null(), "i32 0", f.null()
    return f.call_pointer(address(f, cells, NEW_ARRAY), "ptr", address(f, cells, TYPE), dtype, *shape, *others)


def _add_grown(f: Function, known: Layout, items: Value, made: Value) -> None:
    """Put copies of outputs whose lengths the program tells into the list; where there is much, Python makes all.

    Where there is no memory for them, the long way says so.
    """
    cells = f["cells"]
    count, records = f.load_index(f.offset(cells, "i64", GROWN_COUNT)), address(f, cells, GROWN)
    is_large = f.variable(f.index(0))
    with f.when(exists(f, address(f, cells, IS_LARGE))):
        f.store(f.load("i64", address(f, cells, IS_LARGE)), is_large)
    with f.loop(0, count) as n:
        size = measure(f, f.offset(records, "i64", n * GROWN_CELLS))
        with f.when(size >= f.load_index(f.offset(cells, "i64", MOST_BYTES))):
            f.store(f.index(1), is_large)
    with f.leave_when(f.compare("ne", f.load("i64", is_large), f.index(0))):
        f.give(_finish(f, known, items, made))
    with f.loop(0, count) as n:
        record = f.offset(records, "i64", n * GROWN_CELLS)
        array = _new_array(f, record)
        with f.leave_when(f.compare("eq", array, f.null())):
            f.run_pointer(python(f, "Py_DecRef"), made)
            f.give(decline(f))
        f.store(array, f.offset(items, "ptr", f.load_index(f.offset(record, "i64", ITEM))))
        _copy(f, record, memory_of(f, known, array), made)


def _copy(f: Function, record: Value, target: Value, made: Value) -> None:
    """Copy an output, or write the strings of the numbers that it has."""
    source, bytes = f.load("ptr", address(f, record, MEMORY)), measure(f, record)
    are_strings = is_set(f, record, ARE_STRINGS)
    with f.when(are_strings):
        decode(f, source, target, bytes // WORD, made, is_new=True)
    with f.when(are_strings.equals(0)):
        f.run_pointer(address(f, f["cells"], COPY), target, source, bytes)


def _finish(f: Function, known: Layout, items: Value, made: Value) -> Value:
    """The answer, with all that Python makes after the program."""
    cells = f["cells"]
    all = f.call_pointer(python(f, "PyObject_CallNoArgs"), "ptr", address(f, cells, FINISH))
    with f.leave_when(f.compare("eq", all, f.null())):
        f.run_pointer(python(f, "Py_DecRef"), made)
        f.give(decline(f))
    source = f.variable(f.load("ptr", f.offset(all, "i8", known.items)))
    for number, records in ((GROWN_COUNT, GROWN), (MADE_COUNT, MADE)):
        with f.loop(0, f.load_index(f.offset(cells, "i64", number))) as n:
            item, record = f.load("ptr", source), f.offset(address(f, cells, records), "i64", n * GROWN_CELLS)
            value = f.load("ptr", item)
            f.run_pointer(python(f, "Py_IncRef"), value)
            f.store(value, f.offset(items, "ptr", f.load_index(f.offset(record, "i64", ITEM))))
            f.store(f.offset(item, "ptr", 1), source)
    f.run_pointer(python(f, "Py_DecRef"), all)
    return group(f, known, items, made)


def _run(f: Function) -> Value:
    """The status of the program, which runs without Python's lock, and for a whole period before it asks for it."""
    cells = f["cells"]
    context = address(f, cells, CONTEXT)
    with f.when(exists(f, context)):
        now = f.index(f.call("@now", "i64", address(f, context, CLOCK)))
        f.store(now + f.load_index(f.offset(context, "i64", PERIOD)), f.offset(context, "i64", NEXT))
    state = f.call_pointer(python(f, "PyEval_SaveThread"), "ptr")
    status = f.call_pointer(address(f, cells, ENTRY), "i64", address(f, cells, BLOCK))
    f.run_pointer(python(f, "PyEval_RestoreThread"), state)
    return status


def _raise_error(f: Function) -> None:
    """Raise what Python raised inside the program, if it did."""
    context = address(f, f["cells"], CONTEXT)
    with f.when(exists(f, context)):
        error = [address(f, context, ERROR + n) for n in range(3)]
        with f.leave_when(exists(f, error[0])):
            for n in range(3):
                f.store(f.null(), f.offset(context, "ptr", ERROR + n))
            f.run_pointer(python(f, "PyErr_Restore"), *error)
            f.give(f.null())


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
    types = id(None), id(np.ndarray), id(list), id(str)
    known = *types, new_array(), *map(address_of, ("memcmp", "memcpy")), *map(python_function, PYTHON)
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
