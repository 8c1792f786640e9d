"""Calls from machine code into Python: whether to go on, ops without a native form, more memory.

A callback of ctypes forgets an exception that is raised before the function's first statement, as Ctrl-C may be, and
goes on with whatever is in a register. These functions take the lock of the interpreter themselves, keep what was
raised in the context, and give an answer that ends the program. Their first argument is the context, a block of cells.
The time is looked at first: as long as it is early, going on costs no lock.
"""

from __future__ import annotations

import ctypes
import functools

from whorl.codegen.target import MachineCode, host
from whorl.llvm.fuel import FUEL
from whorl.llvm.function import Function
from whorl.llvm.module import Effort, Module, Source
from whorl.llvm.value import Value

FUNCTIONS = ("poll", "run", "grow", "alone")
POLL, RUN, GROW, FORK = range(4)
"""Cells of a context: four functions; then what they need."""
CHECK, RUN_OP, GROW_BLOCK = range(4, 7)
"""Python functions: () that raises to stop, (number, address) -> status, (address, size) -> address or 0."""
NEXT, PERIOD, CLOCK = range(7, 10)
"""Nanoseconds of the clock when Python is asked again, and from one time to the next; `clock_gettime`, or 0."""
ERROR = 10
"""The exception that was raised, in three cells: type, value and traceback."""
INTERFACE = 13
PYTHON = (
    "PyGILState_Ensure",
    "PyGILState_Release",
    "PyObject_CallNoArgs",
    "PyObject_CallFunction",
    "PyLong_AsLongLong",
    "Py_DecRef",
    "PyErr_Fetch",
)
"""Functions of Python's C interface, in the cells from `INTERFACE` on."""
FORMAT = INTERFACE + len(PYTHON)
"""The address of the text "LL"."""
LEAST_WORK, IS_MISSED, POOL, THREADS = range(FORMAT + 1, FORMAT + 5)
"""Scalar operations that are worth waking another core; whether there were so many, but no pool; the pool of threads,
and how many of them a program may use, its own among them (`codegen/pool.py`)."""
LITTLE_WORK, LITTLE_UNTIL = FORMAT + 5, FORMAT + 6
"""Of work that is too little to wake another core for: how much there was without a long pause, and about until when,
in nanoseconds of the clock."""
COUNT = FORMAT + 7
SMALL_SHARE = 8
"""One part in so many of the work that is worth waking a core is worth sharing with one that is awake."""
OFTEN, PAUSE = 2, 100_000
"""How many times the work that is worth waking a core little work is worth it, too, if it comes without a pause of so
many nanoseconds: about as long as a core that finds no work stays awake."""
OPERATIONS = 8
"""Scalar operations a nanosecond, about."""
FORK_PARAMETERS = {"context": "ptr", "function": "ptr", "arguments": "ptr", "extent": "i64", "work": "i64"}
"""Those of the function that runs a nest's function for `extent` steps of so much work each, where that is worth it on
several cores."""
_MONOTONIC = 1
_ENTRY = "addresses"


def context_module() -> Module:
    """The functions of a context, whose first argument is the context."""
    module = Module(host(), Effort.GLUE)
    _define_finish(module)
    _define_call(module)
    define_now(module)
    f = Function(module, "@run", "i64", {"context": "ptr", "number": "i64", "cells": "ptr"}, "", "")
    address = f.convert("ptrtoint", f["cells"], "i64")
    f.give(f.call("@call", "i64", f["context"], f.index(RUN_OP), f["number"], address, f.index(1)))
    f = Function(module, "@grow", "ptr", {"context": "ptr", "old": "ptr", "size": "i64"}, "", "")
    address = f.convert("ptrtoint", f["old"], "i64")
    new = f.call("@call", "i64", f["context"], f.index(GROW_BLOCK), address, f["size"], f.index(0))
    f.give(f.convert("inttoptr", new, "ptr"))
    _define_poll(module)
    _define_alone(module)
    _define_entry(module)
    return module


def _define_alone(module: Module) -> None:
    """Instead of `fork` as long as there is no pool: say that one is missed, and compute everything here."""
    define_often(module)
    f = Function(module, "@alone", "i64", dict(FORK_PARAMETERS), "", "")
    context, clock = f["context"], _load(f, CLOCK)
    least, missed = (f.load_index(f.offset(context, "i64", LEAST_WORK)), f.offset(context, "i64", IS_MISSED))
    work = f.argument("extent") * f.argument("work")
    with f.when(work >= least):
        f.store(f.index(1), missed)
    with f.when((work < least) & (work >= least // SMALL_SHARE) & f.compare("ne", clock, f.null())):
        is_often = f.call("@often", "i64", context, work, f.call("@now", "i64", clock))
        with f.when(is_often.differs(0)):
            f.store(f.index(1), missed)
    f.give(f.call_pointer(f["function"], "i64", f["arguments"], f.index(0), f["extent"], f["context"]))


def define_often(module: Module) -> None:
    """@often(context, work, now): whether little work, and this, have come so often that a core is worth waking."""
    f = Function(module, "@often", "i64", {"context": "ptr", "work": "i64", "now": "i64"}, "private", "")
    context, work, now = f["context"], f.argument("work"), f.argument("now")
    total, until, least = (f.offset(context, "i64", cell) for cell in (LITTLE_WORK, LITTLE_UNTIL, LEAST_WORK))
    before = f.choose(now - f.load_index(until) < PAUSE, f.load_index(total), 0)
    is_often = before + work >= f.load_index(least) * OFTEN
    f.store(f.choose(is_often, f.index(0), before + work), total)
    f.store(now + work // OPERATIONS, until)
    f.give(f.choose(is_often, f.index(1), 0))


def _load(f: Function, cell: int) -> Value:
    """The address in a cell of the context."""
    return f.load("ptr", f.offset(f["context"], "ptr", cell))


def _python(f: Function, name: str) -> Value:
    """A function of Python's C interface."""
    return _load(f, INTERFACE + PYTHON.index(name))


def _define_finish(module: Module) -> None:
    """The number that a call of Python gave; `failed`, with the exception put into the context, if it raised one."""
    f = Function(module, "@finish", "i64", {"context": "ptr", "result": "ptr", "failed": "i64"}, "private", "")
    with f.leave_when(f.compare("eq", f["result"], f.null())):
        targets = (f.offset(f["context"], "i64", ERROR + part) for part in range(3))
        f.run_pointer(_python(f, "PyErr_Fetch"), *targets)
        f.give(f["failed"])
    number = f.call_pointer(_python(f, "PyLong_AsLongLong"), "i64", f["result"])
    f.run_pointer(_python(f, "Py_DecRef"), f["result"])
    f.give(number)


def _define_call(module: Module) -> None:
    """Call the Python function in a cell with two numbers."""
    parameters = {"context": "ptr", "cell": "i64", "a": "i64", "b": "i64", "failed": "i64"}
    f = Function(module, "@call", "i64", parameters, "private", "")
    state = f.call_pointer(_python(f, "PyGILState_Ensure"), "i32")
    function = f.load("ptr", f.offset(f["context"], "ptr", f["cell"]))
    call = _python(f, "PyObject_CallFunction")
    result = f.call_pointer(call, "ptr (ptr, ptr, ...)", function, _load(f, FORMAT), f["a"], f["b"])
    answer = f.call("@finish", "i64", f["context"], result, f["failed"])
    f.run_pointer(_python(f, "PyGILState_Release"), state)
    f.give(answer)


def define_now(module: Module) -> None:
    """@now(clock): nanoseconds of the clock that `clock_gettime` at an address reads."""
    f = Function(module, "@now", "i64", {"clock": "ptr"}, "private", "")
    time = f.slot("[2 x i64]")
    f.call_pointer(f["clock"], "i32", f"i32 {_MONOTONIC}", time)
    f.give(f.load("i64", time) * 1_000_000_000 + f.load("i64", f.offset(time, "i64", 1)))


def _define_poll(module: Module) -> None:
    """New fuel, or 0 to stop. Python is asked where there is no clock, and once a period otherwise."""
    f = Function(module, "@poll", "i64", {"context": "ptr"}, "", "")
    clock = _load(f, CLOCK)
    has_clock = f.compare("ne", clock, f.null())
    next_time = f.offset(f["context"], "i64", NEXT)
    with f.when(has_clock):
        is_early = f.index(f.call("@now", "i64", clock)) < f.load_index(next_time)
        with f.leave_when(is_early):
            f.give(f.index(FUEL))
    state = f.call_pointer(_python(f, "PyGILState_Ensure"), "i32")
    result = f.call_pointer(_python(f, "PyObject_CallNoArgs"), "ptr", _load(f, CHECK))
    answer = f.call("@finish", "i64", f["context"], result, f.index(0))
    f.run_pointer(_python(f, "PyGILState_Release"), state)
    with f.leave_when(answer.equals(0)):
        f.give(f.index(0))
    with f.when(has_clock):
        period = f.load("i64", f.offset(f["context"], "i64", PERIOD))
        f.store(f.call("@now", "i64", clock) + period, next_time)
    f.give(f.index(FUEL))


def _define_entry(module: Module) -> None:
    """Write the addresses of a context's functions into cells."""
    f = Function(module, f"@{_ENTRY}", "i64", {"cells": "ptr"}, "", "")
    for n, name in enumerate(FUNCTIONS):
        f.store(Value(f, "ptr", f.refer(f"@{name}")), f.offset(f["cells"], "ptr", n))
    f.give(f.index(0))


@functools.cache
def functions() -> list[int]:
    """The addresses of the functions of a context, in the order of its cells."""
    cells = (ctypes.c_int64 * len(FUNCTIONS))()
    ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(_code().address)(ctypes.addressof(cells))
    return [*cells]


@functools.cache
def context_source() -> Source:
    """What the functions of a context are compiled from."""
    return context_module().split()[0]


@functools.cache
def _code() -> MachineCode:
    return MachineCode(context_module(), _ENTRY)
