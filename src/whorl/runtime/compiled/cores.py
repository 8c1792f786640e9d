"""The cores of this machine, and the threads of this process that programs share work with.

There is one pool. It starts when a program has first met work for several cores, and grows to what the sessions ask
for; its threads wait in the kernel of the system while there is nothing to do, and end with the process. The child of a
fork has none, and starts its own.
"""

from __future__ import annotations

import ctypes
import functools
import os
import signal
import sys
import threading
from pathlib import Path

from whorl.codegen import callers
from whorl.debug import debug
from whorl.ir.forking import delay_forks, import_whole, renew_in_children

LEAST_WORK = 1 << 19
"""Scalar operations that take several times as long as waking a thread."""
ALONE = (1 << 63) - 1
MOST_MOVED = 7
"""Threads that keep off the caller's core: each asks the system once for that, and among more cores one is free."""
_QUOTA = Path("/sys/fs/cgroup/cpu.max")


@functools.cache
def available_cores() -> int:
    """The cores that this process may use: those of its affinity mask, and no more than its container's quota."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = _QUOTA.read_text().split()[:2]
        return max(1, min(count, -(-int(quota) // int(period))))
    except (OSError, ValueError):  # there is no such file, or it says "max"
        return count


_CURRENT_CORE = getattr(ctypes.PyDLL(None), "sched_getcpu", None) if sys.platform == "linux" else None
"""Linux's number of the core that a thread is on."""
_blocks: list[ctypes.Array[ctypes.c_int64]] = []
"""The memory of all pools: threads wait in it until the process ends."""


class Pool:
    """The block of cells of the pool, and how many threads wait in it."""

    def __init__(self) -> None:
        pool = import_whole("whorl.codegen.pool")
        self.library = ctypes.CDLL(None)
        self.code, (self.fork, self.work, poll) = pool.functions()
        self.block = (ctypes.c_int64 * pool.COUNT)()
        _blocks.append(self.block)
        self.address = ctypes.addressof(self.block)
        self.threads = 1
        self.handles: list[ctypes.c_void_p] = []
        self.avoided = -1
        for n, name in enumerate(pool.PTHREAD, pool.INTERFACE):
            self.block[n] = ctypes.cast(self.library[name], ctypes.c_void_p).value or 0
        for cell, name in ((pool.MUTEX, "mutex"), (pool.WORK, "cond"), (pool.DONE, "cond")):
            self.library[f"pthread_{name}_init"](ctypes.c_void_p(self.address + 8 * cell), None)
        self.block[pool.CONTEXT + callers.POLL] = poll
        self.block[pool.CONTEXT + callers.POOL] = self.address
        self.block[pool.CONTEXT + callers.LEAST_WORK] = ALONE

    def grow(self, threads: int) -> None:
        """Have so many threads, the caller's own among them; fewer where the system has no more."""
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            while self.threads < threads:
                thread = ctypes.c_void_p()
                work, pool = ctypes.c_void_p(self.work), ctypes.c_void_p(self.address)
                if self.library.pthread_create(ctypes.byref(thread), None, work, pool):
                    return
                self.library.pthread_detach(thread)
                self.threads += 1
                self.handles.append(thread)
                self.avoided = -1
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def avoid_core(self, core: int) -> None:
        """Keep the threads off the core that the caller is on, if it may use others.

        Linux wakes a thread where the caller runs, unless it sees that another core near by is idle: the thread then
        waits there until the caller is done.
        """
        if core == self.avoided or len(self.handles) > MOST_MOVED:
            return
        self.avoided = core
        others = os.sched_getaffinity(0) - {core}
        if not others:
            return
        mask = sum(1 << each for each in others)
        size = (mask.bit_length() + 63) // 64 * 8
        cores = mask.to_bytes(size, "little")
        for thread in self.handles:
            self.library.pthread_setaffinity_np(thread, ctypes.c_size_t(size), cores)


class _Pools:
    """The pool of this process, if it has one."""

    def __init__(self) -> None:
        self.current: Pool | None = None
        self.lock = threading.Lock()
        renew_in_children(self)

    def renew(self) -> None:
        """In the child of a fork there are no threads but one."""
        self.current, self.lock = None, threading.Lock()

    def start(self, threads: int) -> Pool:
        with delay_forks(), self.lock:
            if self.current is None:
                self.current = Pool()
            self.current.grow(threads)
            return self.current


_pools = _Pools()


def is_supported() -> bool:
    """Whether threads of this system are known: those of pthread."""
    return sys.platform in ("linux", "darwin")


def has_pool() -> bool:
    """Whether this process has started its pool."""
    return _pools.current is not None


def cores_of(threads: int) -> int:
    """How many cores a run with so many threads may use; 0 stands for all."""
    return threads or available_cores()


def set_threads(block: ctypes.Array[ctypes.c_int64], threads: int) -> None:
    """Before a run: let a program use so many threads, or 0, as there are cores.

    It does so once a run has met work for them.
    """
    threads = cores_of(threads)
    if threads <= 1 or not is_supported():
        block[callers.LEAST_WORK] = ALONE
        return
    block[callers.LEAST_WORK] = 0 if debug().spreads else LEAST_WORK
    pool = _pools.current
    if (pool is None or pool.threads < threads) and (block[callers.IS_MISSED] or debug().spreads):
        pool = _pools.start(threads)
    if pool is not None and _CURRENT_CORE is not None:
        pool.avoid_core(_CURRENT_CORE())
    if pool is not None and block[callers.POOL] != pool.address:
        block[callers.POOL], block[callers.FORK] = pool.address, pool.fork
    elif pool is None and block[callers.POOL]:
        block[callers.POOL], block[callers.FORK] = 0, callers.functions()[callers.FORK]
    block[callers.THREADS] = threads
