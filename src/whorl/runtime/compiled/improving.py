"""Code that was compiled quickly becomes optimised code once a shape comes again.

Most of a first run is LLVM, and most of that optimises loop nests that run once a run. A script that runs a model once,
or once for each of many shapes, never gets that time back; who runs a shape again is taken to go on.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from whorl.debug import debug
from whorl.errors import CompileError
from whorl.ir.forking import import_whole, renew_in_children
from whorl.runtime.compiled.entries import entry_of
from whorl.runtime.limits import Budget

if TYPE_CHECKING:
    from whorl.runtime.compiled.launch import Launch

OFTEN = 2
"""The run of a shape before which its program is optimised."""
SECONDS_PER_BYTE = 5e-6
"""Seconds of CPU that runs of all shapes may take before, for each byte of LLVM's text: twice what it takes to optimise
it, since no more than half of them is lost."""


class Improving:
    """A launch's code while it is not optimised: counts its runs, and replaces it when they are many."""

    def __init__(self, launch: Launch) -> None:
        self.launch, self.code, self.quick = launch, launch.code, launch.entry
        self.worth = SECONDS_PER_BYTE * sum(len(source.text) for source in launch.code.quick.values())
        self.seconds = 0.0
        self.lock = threading.Lock()
        launch.entry = self._timed
        renew_in_children(self)

    def renew(self) -> None:
        """In the child of a fork, where nobody is at it."""
        self.lock = threading.Lock()

    def _timed(self, address: int) -> int:
        start = time.thread_time()
        try:
            return self.quick(address)
        finally:
            self.seconds += time.thread_time() - start

    def count(self, runs: int, budget: Budget) -> None:
        """Before a run, the how-manieth of its shape: optimise if it is time to. Errors: those of the budget.

        Other threads run what there is meanwhile.
        """
        if (runs < OFTEN and self.seconds < self.worth) or not self.lock.acquire(blocking=False):
            return
        try:
            if self.launch.improving is self:
                import_whole("whorl.runtime.compiled.background").compile_aside(self._improve, budget.check)
        finally:
            self.lock.release()

    def _improve(self) -> None:
        """Replace the code. Runs that are under way stay in what they began with, which goes with this object."""
        launch = self.launch
        try:
            launch.code = self.code.improved()
        except (CompileError, MemoryError, RuntimeError):  # what there is gives the same results
            if debug().is_strict:
                raise
            launch.entry = self.quick
        else:
            launch.entry = entry_of(launch.graph.program, launch.code.address)
        launch.improving = None
