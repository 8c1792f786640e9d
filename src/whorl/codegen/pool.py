"""Threads that share a nest's steps, in machine code: how a program hands them out, and how a thread waits for them.

One program at a time has the pool; another one that could use it computes alone. Steps are handed out in chunks, first
come, first served, by one counter. Where all threads are awake, each has one chunk: a core then goes on with what it
made itself, for nests one after the other are cut at the same places. Else the first chunks are larger than the last
ones. The program's own thread takes chunks, too, and then waits for those that others are at, but for no thread that
has not begun, polling as if it computed. Threads without work look for some as long as it takes to sleep and to be
woken, and then wait in the kernel of the system. While all are awake, no mutex is taken.

Whether it is worth sharing depends on how long the steps of a function took before, and on whether a thread is awake;
for little work one is woken only if there has been much of it.
"""

from __future__ import annotations

import functools

from whorl.codegen import callers
from whorl.codegen.callers import FORK_PARAMETERS, OPERATIONS, PAUSE, SMALL_SHARE, define_often
from whorl.codegen.statuses import STOPPED
from whorl.codegen.target import MachineCode, host
from whorl.llvm.fuel import FUEL
from whorl.llvm.function import Function
from whorl.llvm.module import Module
from whorl.llvm.value import Index, Operand, Value

MUTEX, WORK, DONE = range(0, 48, 16)
"""Cells of a pool: a mutex and two conditions of pthread, each with room enough on any system."""
BUSY, SEATS, AWAKE, SLEEPERS, NEXT = range(48, 88, 8)
"""In cache lines of their own: whether a program has the pool; how many threads more may take its steps, and `ACTIVE`
times how many do; how many threads look for work, and how many sleep; the first step that nobody has taken."""
ACTIVE = 1 << 32
FUNCTION, ARGUMENTS, EXTENT, CHUNK, SHARE, EQUAL, STATUS, STOP, WAITS = range(88, 97)
"""What is run, in chunks of at least so many steps, and of one part in so many of what is left, or, of the first steps,
in chunks that each are one part in so many of these; how it ends: the status of the first range that fails, and whether
to stop; and whether the program sleeps until the threads are done."""
INTERFACE = 97
PTHREAD = (
    *("pthread_mutex_lock", "pthread_mutex_unlock", "pthread_cond_wait", "pthread_cond_timedwait"),
    *("pthread_cond_signal", "clock_gettime"),
)
"""Functions of the C library, in the cells from `INTERFACE` on."""
RATES, FUNCTION_PAIRS = 104, 4096
"""Pairs of cells: the address of a function, and how long its operations take beside those which take `RATE`.

Functions that lie so many multiples of `ALIGNMENT` apart have the same pair, and forget each other's times.
"""
CONTEXT = RATES + 2 * FUNCTION_PAIRS
"""The context of the threads, which ask the pool whether to go on."""
COUNT = CONTEXT + callers.COUNT
FUNCTIONS = ("fork", "work", "poll")
SMALL_CHUNK = 16
"""Chunks that make up the least work which is shared."""
SMALL_TIME = 32
"""One part in so many of that work is worth looking at the clock."""
RATE, ALIGNMENT = 1024, 16
"""That of functions which have not run yet, `OPERATIONS` a nanosecond; and what their addresses are multiples of."""
SPINS, SPIN_TIME = 64, PAUSE
"""How often work, or its end, is looked for between two looks at the clock, and for how many nanoseconds: about as long
as it takes to fall asleep, to wake one that sleeps, and to be awake."""
PATIENCE = 10_000_000
"""Nanoseconds after which a program that waits polls."""
_REAL_TIME, _MONOTONIC, _SECOND = 0, 1, 1_000_000_000
_MOST_WORK, _MOST_RATE, _MOST_TIME = 1 << 36, 1 << 24, 1 << 36
"""Above these, numbers are as good as without end, and products of them would be none."""


def pool_module() -> Module:
    """The functions of a pool."""
    module = Module(host())
    _define_now(module)
    _define_keep(module)
    _define_share(module)
    _define_publish(module)
    _define_wait(module)
    _define_fork(module)
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


def _cell(f: Function, pool: Value, cell: int | Index) -> Value:
    return f.offset(pool, "i64", cell)


def _atomic_load(f: Function, address: Value) -> Index:
    return f.index(f.value("i64", f"load atomic i64, {address} seq_cst, align 8"))


def _atomic_store(f: Function, value: Value, address: Value) -> None:
    f.line(f"store atomic {value}, {address} seq_cst, align 8")


def _atomic_change(f: Function, operation: str, address: Value, number: int) -> Index:
    """What a cell held before something was added to it, or before all but some bits were taken from it."""
    return f.index(f.value("i64", f"atomicrmw {operation} {address}, i64 {number} seq_cst"))


def _exchange(f: Function, address: Value, old: Operand, new: Value) -> Value:
    """Whether a cell had a number, and has another one now."""
    pair = f.value("{ i64, i1 }", f"cmpxchg {address}, {new.number(old)}, {new} seq_cst seq_cst")
    return f.value("i1", f"extractvalue {pair}, 1")


def _call(f: Function, pool: Value, name: str, *arguments: Value | str) -> Value:
    function = f.load("ptr", _cell(f, pool, INTERFACE + PTHREAD.index(name)))
    return f.call_pointer(function, "i32", *arguments)


def _now(f: Function, pool: Value) -> Index:
    return f.index(f.call("@now", "i64", pool))


def _define_now(module: Module) -> None:
    """Nanoseconds of the clock."""
    f = Function(module, "@now", "i64", {"pool": "ptr"}, "private", "")
    time = f.slot("[2 x i64]")
    _call(f, f["pool"], "clock_gettime", f"i32 {_MONOTONIC}", time)
    f.give(f.load_index(time) * _SECOND + f.load_index(f.offset(time, "i64", 1)))


def _define_share(module: Module) -> None:
    """Take chunks of steps until there are none, or one fails; how many steps were taken."""
    f = Function(module, "@share", "i64", {"pool": "ptr", "context": "ptr"}, "private", "")
    pool, taken = f["pool"], f.variable(f.index(0))
    function, arguments = (f.load("ptr", _cell(f, pool, cell)) for cell in (FUNCTION, ARGUMENTS))
    extent, least, share, equal = (f.load_index(_cell(f, pool, cell)) for cell in (EXTENT, CHUNK, SHARE, EQUAL))
    next_step = _cell(f, pool, NEXT)
    f.jump("again")
    f.start("again")
    first = _atomic_load(f, next_step)
    left = extent - first
    with f.leave_when(left <= 0):
        f.give(f.load_index(taken))
    count = f.least(f.most(f.choose(first < equal, equal, left) // share, least), left)
    f.branch(_exchange(f, next_step, first, first + count), "run", "again")
    f.start("run")
    f.store(f.load_index(taken) + count, taken)
    status = f.call_pointer(function, "i64", arguments, first, count, f["context"])
    f.branch(status.equals(0), "again", "failed")
    f.start("failed")
    _exchange(f, _cell(f, pool, STATUS), 0, status)
    _end(f, pool)
    f.give(f.load_index(taken))


def _end(f: Function, pool: Value) -> None:
    """Have the threads that are at a chunk stop, and nobody begin another."""
    _atomic_store(f, f.index(1), _cell(f, pool, STOP))
    _atomic_store(f, f.load("i64", _cell(f, pool, EXTENT)), _cell(f, pool, NEXT))


def _define_publish(module: Module) -> None:
    """Offer seats to the threads, and wake as many as are missing."""
    f = Function(module, "@publish", "void", {"pool": "ptr", "seats": "i64"}, "private", "")
    pool, seats = f["pool"], f.argument("seats")
    for cell in (NEXT, STATUS, STOP):
        _atomic_store(f, f.index(0), _cell(f, pool, cell))
    _atomic_store(f, seats, _cell(f, pool, SEATS))
    missing = f.least(seats - _atomic_load(f, _cell(f, pool, AWAKE)), _atomic_load(f, _cell(f, pool, SLEEPERS)))
    with f.when(missing > 0):
        _call(f, pool, "pthread_mutex_lock", _cell(f, pool, MUTEX))
        _call(f, pool, "pthread_mutex_unlock", _cell(f, pool, MUTEX))
        with f.loop(0, missing):
            _call(f, pool, "pthread_cond_signal", _cell(f, pool, WORK))
    f.give()


def _define_fork(module: Module) -> None:
    """Run a function for all steps, on several threads where it is worth that; the status of one that failed, or 0."""
    define_often(module)
    _define_lead(module)
    f = Function(module, "@fork", "i64", dict(FORK_PARAMETERS), "", "")
    context, extent, work, function = f["context"], f.argument("extent"), f.argument("work"), f["function"]
    pool = f.load("ptr", f.offset(context, "ptr", callers.POOL))
    threads, least = (f.load_index(f.offset(context, "i64", cell)) for cell in (callers.THREADS, callers.LEAST_WORK))
    total = extent * work
    f.branch((threads > 1) & (extent > 1) & (total >= least // SMALL_TIME), "estimate", "alone")
    f.start("alone")
    f.give(f.call_pointer(function, "i64", f["arguments"], f.index(0), extent, context))
    f.start("estimate")
    address = f.index(f.convert("ptrtoint", function, "i64"))
    pair = _cell(f, pool, (address // ALIGNMENT & (FUNCTION_PAIRS - 1)) * 2 + RATES)
    rate = f.choose(f.load_index(pair).equals(address), f.load_index(f.offset(pair, "i64", 1)), RATE)
    step = f.most(f.least(work, _MOST_WORK) * rate // RATE, 1)
    chunk = f.most(least // SMALL_CHUNK // step, 1)
    seats = f.least(threads - 1, (extent - 1) // chunk)
    estimated = f.least(total, _MOST_WORK) * rate // RATE
    f.branch((seats > 0) & (estimated >= least // SMALL_SHARE), "worthwhile", "time")
    f.start("worthwhile")
    f.branch((_atomic_load(f, _cell(f, pool, AWAKE)) > 0) | (estimated >= least), "several", "little")
    f.start("little")
    f.branch(f.call("@often", "i64", context, estimated, _now(f, pool)).equals(0), "time", "several")
    f.start("time")
    start = _now(f, pool)
    status = f.call_pointer(function, "i64", f["arguments"], f.index(0), extent, context)
    f.run("@keep", pair, address, _now(f, pool) - start, total)
    f.give(status)
    f.start("several")
    f.branch(_exchange(f, _cell(f, pool, BUSY), 0, f.index(1)), "free", "alone")
    f.start("free")
    for cell, value in ((FUNCTION, function), (ARGUMENTS, f["arguments"]), (EXTENT, extent), (CHUNK, chunk)):
        f.store(value, _cell(f, pool, cell))
    f.store(threads, _cell(f, pool, SHARE))
    are_awake = _atomic_load(f, _cell(f, pool, AWAKE)) >= seats
    f.store(f.choose(are_awake, extent // threads * threads, 0), _cell(f, pool, EQUAL))
    f.give(f.call("@lead", "i64", pool, context, seats, pair, work))


def _define_lead(module: Module) -> None:
    """Have threads take those seats, take part, and wait for the others; the status."""
    parameters = {"pool": "ptr", "context": "ptr", "seats": "i64", "pair": "ptr", "work": "i64"}
    f = Function(module, "@lead", "i64", parameters, "private", "")
    pool, context = f["pool"], f["context"]
    f.run("@publish", pool, f["seats"])
    start = _now(f, pool)
    taken = f.index(f.call("@share", "i64", pool, context))
    time = _now(f, pool) - start
    _atomic_change(f, "and", _cell(f, pool, SEATS), -ACTIVE)
    f.run("@wait", pool, context)
    with f.when(taken > 0):
        address = f.convert("ptrtoint", f.load("ptr", _cell(f, pool, FUNCTION)), "i64")
        f.run("@keep", f["pair"], address, time, taken * f.argument("work"))
    status = f.load("i64", _cell(f, pool, STATUS))
    _atomic_store(f, f.index(0), _cell(f, pool, BUSY))
    f.give(status)


def _define_keep(module: Module) -> None:
    """Keep how long a function took: less than before at once, more little by little, since a thread may be held up."""
    parameters = {"pair": "ptr", "address": "i64", "time": "i64", "total": "i64"}
    f = Function(module, "@keep", "void", parameters, "private", "")
    pair, rate = f["pair"], f.offset(f["pair"], "i64", 1)
    time, before = f.argument("time"), f.load_index(rate)
    most = f.choose(f.load_index(pair).equals(f["address"]), before + before // 4 + 1, _MOST_RATE)
    now = f.least(time, _MOST_TIME) * (RATE * OPERATIONS) // f.most(f.argument("total"), 1)
    f.store(f.most(f.least(f.least(now, most), _MOST_RATE), 1), rate)
    f.store(f["address"], pair)
    f.give()


def _define_wait(module: Module) -> None:
    """Wait until no other thread is at a chunk, and poll now and then."""
    f = Function(module, "@wait", "void", {"pool": "ptr", "context": "ptr"}, "private", "")
    pool, context = f["pool"], f["context"]
    mutex, seats, waits = (_cell(f, pool, cell) for cell in (MUTEX, SEATS, WAITS))
    time, since = f.slot("[2 x i64]"), _now(f, pool)
    f.jump("look")
    f.start("look")
    with f.loop(0, SPINS), f.leave_when(_atomic_load(f, seats) < ACTIVE):
        f.give()
    f.branch(_now(f, pool) - since < SPIN_TIME, "look", "again")
    f.start("again")
    _call(f, pool, "clock_gettime", f"i32 {_REAL_TIME}", time)
    later = f.load_index(f.offset(time, "i64", 1)) + PATIENCE
    f.store(f.load_index(time) + later // _SECOND, time)
    f.store(later - later // _SECOND * _SECOND, f.offset(time, "i64", 1))
    _call(f, pool, "pthread_mutex_lock", mutex)
    _atomic_store(f, f.index(1), waits)
    late = f.variable(f.number(0, "i32"))
    with f.when(_atomic_load(f, seats) >= ACTIVE):
        f.store(_call(f, pool, "pthread_cond_timedwait", _cell(f, pool, DONE), mutex, time), late)
    _atomic_store(f, f.index(0), waits)
    is_done = _atomic_load(f, seats) < ACTIVE
    _call(f, pool, "pthread_mutex_unlock", mutex)
    with f.leave_when(is_done):
        f.give()
    f.branch(f.load("i32", late).equals(0), "again", "ask")
    f.start("ask")
    fuel = f.call_pointer(f.load("ptr", f.offset(context, "ptr", callers.POLL)), "i64", context)
    f.branch(fuel.equals(0), "stop", "again")
    f.start("stop")
    _exchange(f, _cell(f, pool, STATUS), 0, f.index(STOPPED))
    _end(f, pool)
    f.jump("again")


def _define_work(module: Module) -> None:
    """What a thread does, for ever: look for a seat, take chunks, say that it is done; sleep where it finds none."""
    f = Function(module, "@work", "ptr", {"pool": "ptr"}, "", "")
    pool = f["pool"]
    mutex, seats, awake, sleepers = (_cell(f, pool, cell) for cell in (MUTEX, SEATS, AWAKE, SLEEPERS))
    since = f.variable(f.index(0))
    f.jump("rest")
    f.start("rest")
    f.store(_now(f, pool), since)
    _atomic_change(f, "add", awake, 1)
    f.jump("look")
    f.start("look")
    with f.loop(0, SPINS):
        now = _atomic_load(f, seats)
        with f.when((now & (ACTIVE - 1)) > 0), f.leave_when(_exchange(f, seats, now, now + (ACTIVE - 1))):
            f.jump("take")
    f.branch(_now(f, pool) - f.load_index(since) < SPIN_TIME, "look", "tire")
    f.start("take")
    _atomic_change(f, "add", awake, -1)
    f.call("@share", "i64", pool, _cell(f, pool, CONTEXT))
    is_last = _atomic_change(f, "add", seats, -ACTIVE) < 2 * ACTIVE
    with f.when(is_last & _atomic_load(f, _cell(f, pool, WAITS)).differs(0)):
        _call(f, pool, "pthread_mutex_lock", mutex)
        _call(f, pool, "pthread_cond_signal", _cell(f, pool, DONE))
        _call(f, pool, "pthread_mutex_unlock", mutex)
    f.jump("rest")
    f.start("tire")
    _atomic_change(f, "add", awake, -1)
    _call(f, pool, "pthread_mutex_lock", mutex)
    _atomic_change(f, "add", sleepers, 1)
    f.jump("sleep")
    f.start("sleep")
    f.branch((_atomic_load(f, seats) & (ACTIVE - 1)) > 0, "wake", "wait")
    f.start("wait")
    _call(f, pool, "pthread_cond_wait", _cell(f, pool, WORK), mutex)
    f.jump("sleep")
    f.start("wake")
    _atomic_change(f, "add", sleepers, -1)
    _call(f, pool, "pthread_mutex_unlock", mutex)
    f.jump("rest")
