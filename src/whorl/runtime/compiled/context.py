"""What a program in machine code calls while it runs: the context of one run at a time, and how exceptions leave it."""

from __future__ import annotations

import ctypes
import functools
import time
from collections.abc import Callable

from whorl.codegen import callers as cells
from whorl.runtime.compiled.cores import ALONE, has_pool, set_threads

PERIOD = 10_000_000
"""Nanoseconds from one poll of limits, cancelling and signals to the next."""
_Block = ctypes.c_int64 * cells.COUNT
_FORMAT = ctypes.c_char_p(b"LL")
_restore = ctypes.pythonapi.PyErr_Restore
_restore.argtypes, _restore.restype = [ctypes.c_void_p] * 3, None


class RunContext:
    """A block of cells with the functions that machine code calls, and what these call in Python.

    Invariant: cells refer to Python objects by bare addresses, so the context keeps every one of them alive.
    """

    def __init__(self) -> None:
        self.block = _Block.from_buffer_copy(_template())
        self.address = ctypes.addressof(self.block)
        self._alive: dict[str, object] = {}
        self._threads = -1

    def set_check(self, check: Callable[[], None]) -> None:
        """Before a run: the program polls `check`; what that raises ends it."""
        self._alive["check"] = answer = functools.partial(_answer, check)
        self.block[cells.CHECK] = id(answer)
        self.start_period()

    def start_period(self) -> None:
        """Before a run that polls what the last one did: it does so for the first time when a period is over."""
        self.block[cells.NEXT] = time.monotonic_ns() + PERIOD

    def set_threads(self, threads: int) -> None:
        """Before a run: how many threads the program may use, its own among them; what it knows is not said again."""
        block = self.block
        if threads != self._threads or (threads != 1 and (block[cells.POOL] or block[cells.IS_MISSED] or has_pool())):
            self._threads = threads
            set_threads(block, threads)

    def leave_pool(self) -> None:
        """Share no work with the pool from now on; what would have been worth it is noted (`callers.IS_MISSED`)."""
        self.block[cells.POOL], self.block[cells.FORK] = 0, cells.functions()[cells.FORK]

    def set_callbacks(self, run_op: Callable[[int, int], int], grow: Callable[[int, int], int]) -> None:
        """What runs ops, by their numbers, and what enlarges memory."""
        self._alive["run_op"], self._alive["grow"] = run_op, grow
        self.block[cells.RUN_OP], self.block[cells.GROW_BLOCK] = id(run_op), id(grow)

    def raise_error(self) -> None:
        """After a run: raise what was raised inside, if anything was."""
        error = self.block[cells.ERROR : cells.ERROR + 3]
        if error[0]:
            self.block[cells.ERROR : cells.ERROR + 3] = [0, 0, 0]
            _restore(*error)


def _answer(check: Callable[[], None]) -> int:
    check()
    return 1


@functools.cache
def _template() -> bytes:
    block = _Block()
    block[: len(cells.FUNCTIONS)] = cells.functions()
    block[cells.PERIOD], block[cells.CLOCK] = PERIOD, _clock()
    block[cells.LEAST_WORK] = ALONE
    for n, name in enumerate(cells.PYTHON, cells.INTERFACE):
        block[n] = _address(ctypes.pythonapi, name)
    block[cells.FORMAT] = ctypes.cast(_FORMAT, ctypes.c_void_p).value or 0
    return bytes(block)


def _clock() -> int:
    """The clock that `time.monotonic_ns` reads, on systems that have it by this name and number; else 0."""
    try:
        clock = time.get_clock_info("monotonic").implementation
        return _address(ctypes.CDLL(None), "clock_gettime") if clock == "clock_gettime(CLOCK_MONOTONIC)" else 0
    except (AttributeError, OSError, TypeError):
        return 0


def _address(library: ctypes.CDLL, function: str) -> int:
    return ctypes.cast(library[function], ctypes.c_void_p).value or 0
