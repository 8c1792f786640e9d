"""Threads that share a nest's steps, in machine code: how a program hands them out, and how a thread waits for them.

One program at a time has the pool; another one that could use it computes alone. Steps are handed out in chunks, first
come, first served, by one counter; the first ones are large. Threads without work wait in the kernel of the system. The
program's own takes chunks, too, and then waits for those that others are at, polling as if it computed.
"""

from __future__ import annotations

import functools

from whorl.codegen import callers
from whorl.codegen.callers import FORK_PARAMETERS
from whorl.codegen.statuses import STOPPED
from whorl.codegen.target import MachineCode, host
from whorl.llvm.fuel import FUEL
from whorl.llvm.function import Function
from whorl.llvm.module import Module
from whorl.llvm.value import Index, Operand, Value

MUTEX, WORK, DONE = range(0, 48, 16)
"""Cells of a pool: a mutex and two conditions of pthread, each with room enough on any system."""
BUSY, SEATS, ACTIVE = 48, 56, 57
"""Whether a program has the pool; how many threads more may take its steps; how many do."""
NEXT = 64
"""The first step that nobody has taken."""
FUNCTION, ARGUMENTS, EXTENT, CHUNK, SHARE, STATUS, STOP = range(72, 79)
"""What is run, in chunks of at least so many steps, and of one part in so many of what is left; and how it ends: the
status of the first range that fails, and whether to stop."""
INTERFACE = 80
PTHREAD = (
    *("pthread_mutex_lock", "pthread_mutex_unlock", "pthread_cond_wait", "pthread_cond_timedwait"),
    *("pthread_cond_signal", "pthread_cond_broadcast", "clock_gettime"),
)
"""Functions of the C library, in the cells from `INTERFACE` on."""
CONTEXT = 88
"""The context of the threads, which ask the pool whether to go on."""
COUNT = CONTEXT + callers.COUNT
FUNCTIONS = ("fork", "work", "poll")
CHUNKS = 1
"""Chunks for each thread in what is left: they become smaller, so that none waits long for another."""
SMALL_CHUNK = 8
"""Chunks that make up the least work which is shared."""
TRIES = 10000
"""How often the end is looked for before a program waits for it: some microseconds."""
PATIENCE = 10_000_000
"""Nanoseconds after which a program that waits polls."""
_REAL_TIME, _SECOND = 0, 1_000_000_000


def pool_module() -> Module:
    """The functions of a pool."""
    module = Module(host())
    _define_share(module)
    _define_fork(module)
    _define_wait(module)
    _define_work(module)
    f = Function(module, "@poll", "i64", {"context": "ptr"}, "", "")
    pool = f.load("ptr", f.offset(f["context"], "ptr", callers.POOL))
    f.give(f.choose(_atomic_load(f, _cell(f, pool, STOP)).equals(0), f.index(FUEL), 0))
    return module


@functools.cache
def functions() -> tuple[list[MachineCode], list[int]]:
    """The machine code of the functions, which threads never leave, and their addresses."""
    code = [MachineCode(pool_module(), name) for name in FUNCTIONS]
    return code, [each.address for each in code]


def _cell(f: Function, pool: Value, cell: int) -> Value:
    return f.offset(pool, "i64", cell)


def _atomic_load(f: Function, address: Value) -> Index:
    return f.index(f.value("i64", f"load atomic i64, {address} seq_cst, align 8"))


def _atomic_store(f: Function, value: Value, address: Value) -> None:
    f.line(f"store atomic {value}, {address} seq_cst, align 8")


def _exchange(f: Function, address: Value, old: Operand, new: Value) -> Value:
    """Whether a cell had a number, and has another one now."""
    pair = f.value("{ i64, i1 }", f"cmpxchg {address}, {new.number(old)}, {new} seq_cst seq_cst")
    return f.value("i1", f"extractvalue {pair}, 1")


def _call(f: Function, pool: Value, name: str, *arguments: Value | str) -> Value:
    function = f.load("ptr", _cell(f, pool, INTERFACE + PTHREAD.index(name)))
    return f.call_pointer(function, "i32", *arguments)


def _define_share(module: Module) -> None:
    """Take chunks of steps until there are none, or one fails."""
    f = Function(module, "@share", "void", {"pool": "ptr", "context": "ptr"}, "private", "")
    pool = f["pool"]
    function, arguments = (f.load("ptr", _cell(f, pool, cell)) for cell in (FUNCTION, ARGUMENTS))
    extent, least, share = (f.load_index(_cell(f, pool, cell)) for cell in (EXTENT, CHUNK, SHARE))
    next_step = _cell(f, pool, NEXT)
    f.jump("again")
    f.start("again")
    first = _atomic_load(f, next_step)
    left = extent - first
    with f.leave_when(left <= 0):
        f.give()
    count = f.least(f.most(left // share, least), left)
    f.branch(_exchange(f, next_step, first, first + count), "run", "again")
    f.start("run")
    status = f.call_pointer(function, "i64", arguments, first, count, f["context"])
    f.branch(status.equals(0), "again", "failed")
    f.start("failed")
    _exchange(f, _cell(f, pool, STATUS), 0, status)
    _atomic_store(f, f.index(1), _cell(f, pool, STOP))
    _atomic_store(f, extent, _cell(f, pool, NEXT))
    f.give()


def _define_fork(module: Module) -> None:
    """Run a function for all steps, on several threads where it is worth that; the status of one that failed, or 0."""
    f = Function(module, "@fork", "i64", dict(FORK_PARAMETERS), "", "")
    context, extent, work = f["context"], f.argument("extent"), f.argument("work")
    pool = f.load("ptr", f.offset(context, "ptr", callers.POOL))
    threads, least = (f.load_index(f.offset(context, "i64", cell)) for cell in (callers.THREADS, callers.LEAST_WORK))
    chunk = f.most(least // SMALL_CHUNK // f.most(work, 1), 1)
    seats = f.least(threads - 1, (extent - 1) // chunk)
    alone, several, free = f.fresh("alone"), f.fresh("several"), f.fresh("free")
    f.branch((seats > 0) & (extent * work >= least), several, alone)
    f.start(several)
    f.branch(_exchange(f, _cell(f, pool, BUSY), 0, f.index(1)), free, alone)
    f.start(alone)
    f.give(f.call_pointer(f["function"], "i64", f["arguments"], f.index(0), extent, context))
    f.start(free)
    zero = f.index(0)
    for cell, value in ((FUNCTION, f["function"]), (ARGUMENTS, f["arguments"]), (EXTENT, extent), (CHUNK, chunk)):
        f.store(value, _cell(f, pool, cell))
    f.store(threads * CHUNKS, _cell(f, pool, SHARE))
    for cell in (NEXT, STATUS, STOP):
        _atomic_store(f, zero, _cell(f, pool, cell))
    mutex = _cell(f, pool, MUTEX)
    _call(f, pool, "pthread_mutex_lock", mutex)
    f.store(seats, _cell(f, pool, SEATS))
    _call(f, pool, "pthread_cond_broadcast", _cell(f, pool, WORK))
    _call(f, pool, "pthread_mutex_unlock", mutex)
    f.run("@share", pool, context)
    _call(f, pool, "pthread_mutex_lock", mutex)
    f.store(zero, _cell(f, pool, SEATS))
    _call(f, pool, "pthread_mutex_unlock", mutex)
    f.run("@wait", pool, context)
    status = f.load("i64", _cell(f, pool, STATUS))
    _atomic_store(f, zero, _cell(f, pool, BUSY))
    f.give(status)


def _define_wait(module: Module) -> None:
    """Wait until no other thread is at a chunk, and poll now and then."""
    f = Function(module, "@wait", "void", {"pool": "ptr", "context": "ptr"}, "private", "")
    pool, context = f["pool"], f["context"]
    mutex, active = _cell(f, pool, MUTEX), _cell(f, pool, ACTIVE)
    with f.loop(0, TRIES), f.leave_when(_atomic_load(f, active).equals(0)):
        f.give()
    time = f.slot("[2 x i64]")
    f.jump("again")
    f.start("again")
    _call(f, pool, "clock_gettime", f"i32 {_REAL_TIME}", time)
    later = f.load_index(f.offset(time, "i64", 1)) + PATIENCE
    f.store(f.load_index(time) + later // _SECOND, time)
    f.store(later - later // _SECOND * _SECOND, f.offset(time, "i64", 1))
    _call(f, pool, "pthread_mutex_lock", mutex)
    late = f.variable(f.number(0, "i32"))
    with f.when(_atomic_load(f, active) > 0):
        f.store(_call(f, pool, "pthread_cond_timedwait", _cell(f, pool, DONE), mutex, time), late)
    is_done = _atomic_load(f, active).equals(0)
    _call(f, pool, "pthread_mutex_unlock", mutex)
    with f.leave_when(is_done):
        f.give()
    f.branch(f.load("i32", late).equals(0), "again", "ask")
    f.start("ask")
    fuel = f.call_pointer(f.load("ptr", f.offset(context, "ptr", callers.POLL)), "i64", context)
    f.branch(fuel.equals(0), "stop", "again")
    f.start("stop")
    _exchange(f, _cell(f, pool, STATUS), 0, f.index(STOPPED))
    _atomic_store(f, f.index(1), _cell(f, pool, STOP))
    _atomic_store(f, f.load("i64", _cell(f, pool, EXTENT)), _cell(f, pool, NEXT))
    f.jump("again")


def _define_work(module: Module) -> None:
    """What a thread does, for ever: wait for a seat, take chunks, say that it is done."""
    f = Function(module, "@work", "ptr", {"pool": "ptr"}, "", "")
    pool = f["pool"]
    mutex, seats, active = (_cell(f, pool, cell) for cell in (MUTEX, SEATS, ACTIVE))
    _call(f, pool, "pthread_mutex_lock", mutex)
    f.jump("look")
    f.start("look")
    f.branch(f.load_index(seats) > 0, "take", "sleep")
    f.start("sleep")
    _call(f, pool, "pthread_cond_wait", _cell(f, pool, WORK), mutex)
    f.jump("look")
    f.start("take")
    f.store(f.load_index(seats) - 1, seats)
    _atomic_store(f, _atomic_load(f, active) + 1, active)
    _call(f, pool, "pthread_mutex_unlock", mutex)
    f.run("@share", pool, _cell(f, pool, CONTEXT))
    _call(f, pool, "pthread_mutex_lock", mutex)
    left = _atomic_load(f, active) - 1
    _atomic_store(f, left, active)
    with f.when(left.equals(0)):
        _call(f, pool, "pthread_cond_signal", _cell(f, pool, DONE))
    _call(f, pool, "pthread_mutex_unlock", mutex)
    with f.loop(0, TRIES), f.when(_atomic_load(f, seats) > 0):
        _call(f, pool, "pthread_mutex_lock", mutex)
        f.jump("look")
        f.start(f.fresh("none"))
    _call(f, pool, "pthread_mutex_lock", mutex)
    f.jump("look")
