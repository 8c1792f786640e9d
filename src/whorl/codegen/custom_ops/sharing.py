"""How the threads of a session of onnxruntime's share a nest's steps: on its own pool, by `KernelContext_ParallelFor`.

A kernel cannot ask how many threads that pool has. It counts those that come at once, after one, two, four and so on
times that it had work for several, and computes alone where there is one, or where that is faster (`times`). Steps are
handed out in chunks, first come, first served, so nobody waits for a thread that does something else. Every element is
computed by one thread as if there were no other: its bits do not depend on how many there are.
"""

from __future__ import annotations

from whorl.codegen import ranges
from whorl.codegen.callers import FORK, FORK_PARAMETERS
from whorl.codegen.custom_ops import times
from whorl.codegen.custom_ops.interface import Slot, call, function_of
from whorl.codegen.ranges import ITERATIONS, REPORT, REPORT_PARAMETERS
from whorl.debug import debug
from whorl.llvm.function import Function
from whorl.llvm.module import Module
from whorl.llvm.value import Index, Value

FORK_NAME, REPORT_NAME = "@whorl_fork", "@whorl_report"
"""Functions of the registration, which programs have in their context."""
API, THREADS, FORKS = range(3)
"""Cells of a kernel, which belongs to one session: onnxruntime's functions, the most threads that came at once, and how
often there was work for several."""
KERNEL_TIMES = 8
"""The first of the cells of `times`."""
KERNEL_CELLS = KERNEL_TIMES + times.ENTRIES * times.CELLS
KERNEL, RUN, LOCK, STATUS, FIRST, LENGTH = range(ranges.COUNT, ranges.COUNT + 6)
"""Cells of the context behind those that programs know of: the kernel, and onnxruntime's context of the run; then the
failure so far, one thread at a time: its status or 0, the range it was in, and how many iterations it has."""
FUNCTION, ARGUMENTS, EXTENT, CHUNK, SHARE, PRESENT, LATE, NEXT = 16, 17, 18, 19, 20, 24, 25, 24
"""What is run, in chunks of at least so many steps, and of one part in so many of what is left. In another cache line,
the threads that have come and whether they are counted, and later the first step that nobody has taken."""
COUNT = 32
LEAST_WORK = 1 << 18
"""Scalar operations that may take so long that it is worth looking at the clock."""
CHUNKS = 16
"""Chunks that make up the least work which is shared."""
SEATS = 256
"""The most threads that are counted."""
SPINS, YIELDS = 1 << 13, 4
"""How often a thread looks whether others are counted before it lets others have its core, and how often it does that:
as long as waking one takes, on a busy machine too."""
_MOST_WORK = 1 << 36


def add_context(f: Function, kernel: Value, run: Value) -> Value:
    """The context of a program that threads may share, on the stack; the program adds where iterations lie."""
    context = f.slot(f"[{COUNT} x ptr]", align=64)
    functions = {FORK: (FORK_NAME, FORK_PARAMETERS, "i64"), REPORT: (REPORT_NAME, REPORT_PARAMETERS, "void")}
    for cell, (name, parameters, result) in functions.items():
        f.module.declare(name, result, parameters.values())
        f.store(Value(f, "ptr", f.refer(name)), f.offset(context, "ptr", cell))
    for cell, value in ((KERNEL, kernel), (RUN, run), (LOCK, f.null())):
        f.store(value, f.offset(context, "ptr", cell))
    return context


def define_sharing(module: Module, is_dll: bool) -> None:
    """The functions that programs have in their context; `is_dll`: for Windows."""
    _define_seat(module, "@SwitchToThread" if is_dll else "@sched_yield")
    _define_count(module)
    times.define_times(module, is_dll)
    _define_share(module)
    _define_fork(module)
    _define_precedes(module)
    _define_report(module)


def _cell(f: Function, cell: int) -> Value:
    return f.offset(f["context"], "i64", cell)


def _load(f: Function, cell: int) -> Index:
    return f.load_index(_cell(f, cell))


def _kernel_cell(f: Function, cell: int) -> Value:
    return f.offset(f.load("ptr", _cell(f, KERNEL)), "i64", cell)


def _seat_threads(f: Function, seat: str, seats: Index) -> None:
    """Have threads of onnxruntime's call a function, in as many seats; it may refuse."""
    api, function = f.load("ptr", _kernel_cell(f, API)), Value(f, "ptr", f.refer(seat))
    run = f.load("ptr", _cell(f, RUN))
    status = call(f, api, Slot.PARALLEL_FOR, run, function, seats, f.index(0), f["context"])
    with f.when(f.compare("ne", status, f.null())):
        f.run_pointer(function_of(f, api, Slot.RELEASE_STATUS), status)


def _define_seat(module: Module, yield_core: str) -> None:
    """`void seat(context, seat)`: be present until the first that came has waited for others."""
    module.declare(yield_core, "i32", [])
    f = Function(module, "@whorl_seat", "void", {"context": "ptr", "seat": "i64"})
    with f.leave_when(_load_shared(f, LATE).differs(0)):
        f.give()
    f.value("i64", f"atomicrmw add {_cell(f, PRESENT)}, i64 1 monotonic")
    with f.loop(0, YIELDS):
        with f.loop(0, SPINS), f.leave_when(_load_shared(f, LATE).differs(0)):
            f.give()
        f.call(yield_core, "i32")
    _store(f, f.index(1), LATE)
    f.give()


def _define_count(module: Module) -> None:
    """Count the threads that come."""
    f = Function(module, "@whorl_count", "void", {"context": "ptr"})
    _store(f, f.index(0), PRESENT)
    _store(f, f.index(0), LATE)
    _seat_threads(f, "@whorl_seat", f.index(SEATS))
    f.value("i64", f"atomicrmw max {_kernel_cell(f, THREADS)}, {_load_shared(f, PRESENT)} monotonic")
    f.give()


def _define_fork(module: Module) -> None:
    """Run a function for all steps, on several threads where that is faster; its status, or 0."""
    f = Function(module, FORK_NAME, "i64", FORK_PARAMETERS, "hidden")
    extent, work = f.argument("extent"), f.argument("work")
    f.store(f.index(0), _cell(f, STATUS))
    least = 0 if debug().spreads else LEAST_WORK
    f.branch((extent > 1) & (extent * work >= least), "worth", "alone")
    f.start("alone")
    f.give(f.call_pointer(f["function"], "i64", f["arguments"], f.index(0), extent, f["context"]))
    f.start("worth")
    before = f.index(f.value("i64", f"atomicrmw add {_kernel_cell(f, FORKS)}, i64 1 monotonic"))
    with f.when((before & (before + 1)).equals(0)):
        f.run("@whorl_count", f["context"])
    threads = f.index(times.load(f, _kernel_cell(f, THREADS)))
    chunk = f.most(f.index(least // CHUNKS) // f.most(f.least(work, _MOST_WORK), 1), 1)
    seats = f.least((extent - 1) // chunk + 1, threads)
    total = f.most(extent, 1) * f.most(work, 1)
    f.branch(seats > 1, "both", "alone")
    f.start("both")
    entry, key = times.entry_of(f, _kernel_cell(f, KERNEL_TIMES), f["function"], total)
    is_shared = f.call("@whorl_choose", "i1", entry, key, total)
    start = f.call("@whorl_now", "i64")
    f.branch(is_shared, "several", "one")
    f.start("one")
    status = f.call_pointer(f["function"], "i64", f["arguments"], f.index(0), extent, f["context"])
    f.run("@whorl_keep", entry, f.index(times.ALONE), start, total)
    f.give(status)
    f.start("several")
    chunk = f.most(chunk, extent // (seats * 2))
    parts = ((FUNCTION, f["function"]), (ARGUMENTS, f["arguments"]), (EXTENT, extent), (CHUNK, chunk), (SHARE, seats))
    for cell, value in parts:
        f.store(value, _cell(f, cell))
    _store(f, f.index(0), NEXT)
    _seat_threads(f, "@whorl_share", seats)
    f.run("@whorl_share", f["context"], f.index(0))  # what is left, where onnxruntime has refused
    f.run("@whorl_keep", entry, f.index(times.SHARED), start, total)
    f.give(_load(f, STATUS))


def _define_share(module: Module) -> None:
    """`void share(context, seat)`: take chunks of steps until there are none."""
    f = Function(module, "@whorl_share", "void", {"context": "ptr", "seat": "i64"})
    function, arguments = (f.load("ptr", _cell(f, cell)) for cell in (FUNCTION, ARGUMENTS))
    extent, least, share = (_load(f, cell) for cell in (EXTENT, CHUNK, SHARE))
    f.jump("again")
    f.start("again")
    first = _load_shared(f, NEXT)
    left = extent - first
    with f.leave_when(left <= 0):
        f.give()
    count = f.least(f.most(left // share, least), left)
    pair = f.value("{ i64, i1 }", f"cmpxchg {_cell(f, NEXT)}, {first}, {first + count} monotonic monotonic")
    f.branch(f.value("i1", f"extractvalue {pair}, 1"), "run", "again")
    f.start("run")
    f.call_pointer(function, "i64", arguments, first, count, f["context"])
    f.jump("again")


def _load_shared(f: Function, cell: int) -> Index:
    return f.index(f.value("i64", f"load atomic i64, {_cell(f, cell)} acquire, align 8"))


def _store(f: Function, value: Value, cell: int) -> None:
    f.line(f"store atomic {value}, {_cell(f, cell)} release, align 8")


# ---- failures ------------------------------------------------------------------------------------------------


def _define_report(module: Module) -> None:
    """Take a failure in the place of the one so far, unless that comes first; steps in order end after the first."""
    f = Function(module, REPORT_NAME, "void", REPORT_PARAMETERS, "hidden")
    status, count = f["status"], f.argument("count")
    f.jump("wait")
    f.start("wait")
    pair = f.value("{ i64, i1 }", f"cmpxchg {_cell(f, LOCK)}, i64 0, i64 1 acquire monotonic")
    f.branch(f.value("i1", f"extractvalue {pair}, 1"), "locked", "wait")
    f.start("locked")
    arguments = [f["context"], *(f[name] for name in ("status", "first", "iterations", "count", "in_order"))]
    with f.when(f.call("@whorl_precedes", "i1", *arguments)):
        for cell, value in ((STATUS, status), (FIRST, f["first"]), (LENGTH, count)):
            f.store(value, _cell(f, cell))
        known = f.load("ptr", _cell(f, ITERATIONS))
        with f.loop(0, count) as n:
            f.store(f.load("i64", f.offset(f["iterations"], "i64", n)), f.offset(known, "i64", n))
    with f.when(f["in_order"].differs(0)):
        _store(f, _load(f, EXTENT), NEXT)
    _store(f, f.index(0), LOCK)
    f.give()


def _define_precedes(module: Module) -> None:
    """Whether a failure comes before the one so far: in an earlier iteration, or there at an earlier step or node."""
    f = Function(module, "@whorl_precedes", "i1", REPORT_PARAMETERS)
    before = _load(f, STATUS)
    with f.leave_when(before.equals(0)):
        f.give(f.number(1, "i1"))
    known = f.load("ptr", _cell(f, ITERATIONS))
    with f.loop(0, f.least(f.argument("count"), _load(f, LENGTH))) as n:
        own, other = (f.load_index(f.offset(block, "i64", n)) for block in (f["iterations"], known))
        with f.leave_when(own.differs(other)):
            f.give(own < other)
    is_earlier = f.argument("first") < _load(f, FIRST)
    f.give(f.select(f["in_order"].differs(0), is_earlier, f.argument("status") < before))
