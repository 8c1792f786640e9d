"""What nests took on one thread and on several: a kernel has numbers of both, and takes what was faster.

How much several threads gain cannot be told beforehand: they may sleep, or have other work, and where rows are short
they write lines of memory that others are at. A nest runs alone twice, since the first time is slow for other reasons,
then on several threads; from then on as is faster, but for powers of two of the times, when it runs the other way.
"""

from __future__ import annotations

from whorl.llvm.function import Function
from whorl.llvm.module import Module
from whorl.llvm.value import Index, Value

KEY, USES, ALONE, SHARED = range(4)
"""Cells of an entry: a nest and how long it is, about; how often it ran; nanoseconds of an operation, alone and not."""
ENTRIES, CELLS = 32, 4
SHORT = 100_000
"""Nanoseconds below which a nest runs alone: to wake a thread takes nearly as long."""
SURE = 3
"""The times that a nest runs alone, and then on several threads, whatever was faster."""
_REAL_TIME, _SECOND, _TICK = 0, 1_000_000_000, 100


def define_times(module: Module, is_dll: bool) -> None:
    """`i64 now()`, `i1 choose(cells, key, total)` whether to share, and `void keep(cells, cell, start, total)`."""
    _define_now(module, is_dll)
    _define_choose(module)
    _define_keep(module)


def entry_of(f: Function, entries: Value, function: Value, total: Index) -> tuple[Value, Index]:
    """The entry of a function for so many operations, and its key: others may be there."""
    size = f.index(f.value("i64", f"call i64 @llvm.ctlz.i64({total}, i1 false)"))
    f.module.declare("@llvm.ctlz.i64", "i64", ["i64", "i1"])
    f.refer("@llvm.ctlz.i64")
    address = f.index(f.convert("ptrtoint", function, "i64"))
    number = f.index((address // 16 + size) & (ENTRIES - 1))
    return f.offset(entries, "i64", number * CELLS), f.index((address << 6) | size)


def load(f: Function, cell: Value, type: str = "i64") -> Value:
    """What is in a cell that other threads change."""
    return f.value(type, f"load atomic {type}, {cell} monotonic, align 8")


def store(f: Function, value: Value, cell: Value) -> None:
    f.line(f"store atomic {value}, {cell} monotonic, align 8")


def _define_now(module: Module, is_dll: bool) -> None:
    """Nanoseconds of a clock."""
    f = Function(module, "@whorl_now", "i64", {})
    time = f.slot("[2 x i64]", f.number(0, "i64"))
    if is_dll:
        f.call(module.declare("@QueryPerformanceCounter", "i32", ["ptr"]), "i32", time)
        f.give(f.load_index(time) * _TICK)
        return
    f.call(module.declare("@clock_gettime", "i32", ["i32", "ptr"]), "i32", f.number(_REAL_TIME, "i32"), time)
    f.give(f.load_index(time) * _SECOND + f.load_index(f.offset(time, "i64", 1)))


def _define_choose(module: Module) -> None:
    f = Function(module, "@whorl_choose", "i1", {"cells": "ptr", "key": "i64", "total": "i64"})
    key, uses = (f.offset(f["cells"], "i64", cell) for cell in (KEY, USES))
    with f.when(load(f, key).differs(f["key"])):
        store(f, f["key"], key)
        store(f, f.index(0), uses)
    count = f.index(load(f, uses)) + 1
    store(f, count, uses)
    with f.leave_when(count <= SURE):
        f.give(count.equals(SURE))
    alone, shared = (load(f, f.offset(f["cells"], "i64", cell), "double") for cell in (ALONE, SHARED))
    with f.leave_when(alone * f.convert("sitofp", f["total"], "double") < float(SHORT)):
        f.give(f.number(0, "i1"))
    is_other = (count & (count - 1)).equals(0)
    f.give((shared < alone) ^ is_other)


def _define_keep(module: Module) -> None:
    """Take what a nest took for one part in four of what is known, and for all while that is not sure."""
    f = Function(module, "@whorl_keep", "void", {"cells": "ptr", "cell": "i64", "start": "i64", "total": "i64"})
    cell = f.offset(f["cells"], "i64", f["cell"])
    time = f.most(f.index(f.call("@whorl_now", "i64")) - f.argument("start"), 1)
    rate = f.convert("sitofp", time, "double") / f.convert("sitofp", f["total"], "double")
    known = load(f, cell, "double")
    is_new = f.index(load(f, f.offset(f["cells"], "i64", USES))) <= SURE
    store(f, f.select(is_new, rate, known + (rate - known) * 0.25), cell)
    f.give()
