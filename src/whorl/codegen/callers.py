"""Calls from machine code into Python: whether to go on, ops without a native form, more memory.

A callback of ctypes forgets an exception that is raised before the function's first statement, as Ctrl-C may be, and
goes on with whatever is in a register. These functions take the lock of the interpreter themselves, keep what was
raised in the context, and give an answer that ends the program. Their first argument is the context, a block of cells.
The time is looked at first: as long as it is early, going on costs no lock.
"""

from __future__ import annotations

import functools

from whorl.codegen.routine import FUEL
from whorl.codegen.target import MachineCode

FUNCTIONS = ("poll", "run", "grow")
POLL, RUN, GROW = range(3)
"""Cells of a context: three functions; then what they need."""
CHECK, RUN_OP, GROW_BLOCK = range(3, 6)
"""Python functions: () that raises to stop, (number, address) -> status, (address, size) -> address or 0."""
NEXT, PERIOD, CLOCK = range(6, 9)
"""Nanoseconds of the clock before which nobody asks, and from one time to the next; `clock_gettime`, or 0."""
ERROR = 9
"""The exception that was raised, in three cells: type, value and traceback."""
INTERFACE = 12
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
COUNT = FORMAT + 1
_MONOTONIC = 1

_TEXT = f"""
define private i64 @finish(ptr %c, ptr %result, i64 %failed) {{
  %is_error = icmp eq ptr %result, null
  br i1 %is_error, label %error, label %fine
error:
  %type = getelementptr i64, ptr %c, i64 {ERROR}
  %value = getelementptr i64, ptr %c, i64 {ERROR + 1}
  %trace = getelementptr i64, ptr %c, i64 {ERROR + 2}
  %fetch.at = getelementptr ptr, ptr %c, i64 {INTERFACE + PYTHON.index("PyErr_Fetch")}
  %fetch = load ptr, ptr %fetch.at
  call void %fetch(ptr %type, ptr %value, ptr %trace)
  ret i64 %failed
fine:
  %long.at = getelementptr ptr, ptr %c, i64 {INTERFACE + PYTHON.index("PyLong_AsLongLong")}
  %long = load ptr, ptr %long.at
  %number = call i64 %long(ptr %result)
  %drop.at = getelementptr ptr, ptr %c, i64 {INTERFACE + PYTHON.index("Py_DecRef")}
  %drop = load ptr, ptr %drop.at
  call void %drop(ptr %result)
  ret i64 %number
}}

define private i64 @with_two(ptr %c, i64 %position, i64 %a, i64 %b, i64 %failed) {{
  %ensure.at = getelementptr ptr, ptr %c, i64 {INTERFACE}
  %ensure = load ptr, ptr %ensure.at
  %state = call i32 %ensure()
  %callable.at = getelementptr ptr, ptr %c, i64 %position
  %callable = load ptr, ptr %callable.at
  %format.at = getelementptr ptr, ptr %c, i64 {FORMAT}
  %format = load ptr, ptr %format.at
  %call.at = getelementptr ptr, ptr %c, i64 {INTERFACE + PYTHON.index("PyObject_CallFunction")}
  %call = load ptr, ptr %call.at
  %result = call ptr (ptr, ptr, ...) %call(ptr %callable, ptr %format, i64 %a, i64 %b)
  %answer = call i64 @finish(ptr %c, ptr %result, i64 %failed)
  %release.at = getelementptr ptr, ptr %c, i64 {INTERFACE + 1}
  %release = load ptr, ptr %release.at
  call void %release(i32 %state)
  ret i64 %answer
}}

define i64 @run(ptr %c, i64 %number, ptr %cells) {{
  %address = ptrtoint ptr %cells to i64
  %status = call i64 @with_two(ptr %c, i64 {RUN_OP}, i64 %number, i64 %address, i64 1)
  ret i64 %status
}}

define ptr @grow(ptr %c, ptr %old, i64 %size) {{
  %address = ptrtoint ptr %old to i64
  %new = call i64 @with_two(ptr %c, i64 {GROW_BLOCK}, i64 %address, i64 %size, i64 0)
  %block = inttoptr i64 %new to ptr
  ret ptr %block
}}

define private i64 @now(ptr %clock) {{
  %time = alloca [2 x i64]
  %status = call i32 %clock(i32 {_MONOTONIC}, ptr %time)
  %seconds = load i64, ptr %time
  %rest.at = getelementptr i64, ptr %time, i64 1
  %rest = load i64, ptr %rest.at
  %whole = mul i64 %seconds, 1000000000
  %sum = add i64 %whole, %rest
  ret i64 %sum
}}

define i64 @poll(ptr %c) {{
  %clock.at = getelementptr ptr, ptr %c, i64 {CLOCK}
  %clock = load ptr, ptr %clock.at
  %blind = icmp eq ptr %clock, null
  br i1 %blind, label %ask, label %look
look:
  %before = call i64 @now(ptr %clock)
  %next.at = getelementptr i64, ptr %c, i64 {NEXT}
  %next = load i64, ptr %next.at
  %early = icmp slt i64 %before, %next
  br i1 %early, label %go_on, label %ask
ask:
  %ensure.at = getelementptr ptr, ptr %c, i64 {INTERFACE}
  %ensure = load ptr, ptr %ensure.at
  %state = call i32 %ensure()
  %check.at = getelementptr ptr, ptr %c, i64 {CHECK}
  %check = load ptr, ptr %check.at
  %call.at = getelementptr ptr, ptr %c, i64 {INTERFACE + PYTHON.index("PyObject_CallNoArgs")}
  %call = load ptr, ptr %call.at
  %result = call ptr %call(ptr %check)
  %answer = call i64 @finish(ptr %c, ptr %result, i64 0)
  %release.at = getelementptr ptr, ptr %c, i64 {INTERFACE + 1}
  %release = load ptr, ptr %release.at
  call void %release(i32 %state)
  %stopped = icmp eq i64 %answer, 0
  br i1 %stopped, label %stop, label %later
later:
  br i1 %blind, label %go_on, label %renew
renew:
  %after = call i64 @now(ptr %clock)
  %period.at = getelementptr i64, ptr %c, i64 {PERIOD}
  %period = load i64, ptr %period.at
  %then = add i64 %after, %period
  %again.at = getelementptr i64, ptr %c, i64 {NEXT}
  store i64 %then, ptr %again.at
  br label %go_on
go_on:
  ret i64 {FUEL}
stop:
  ret i64 0
}}
"""


@functools.cache
def functions() -> list[int]:
    """The addresses of the functions of a context, in the order of its cells."""
    return [_function(name) for name in FUNCTIONS]


@functools.cache
def _code(name: str) -> MachineCode:
    return MachineCode(_TEXT, name)


def _function(name: str) -> int:
    return _code(name).address
