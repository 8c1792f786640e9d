"""Code that was compiled quickly becomes optimised code once a shape comes again.

Most of a first run is LLVM, and most of that optimises loop nests that run once a run. A script that runs a model once,
or once for each of many shapes, never gets that time back; who runs a shape again is taken to go on. A nest that would
lose more time than LLVM takes is optimised before that.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
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
"""Seconds of CPU in which LLVM optimises a byte of its text."""
SECONDS_PER_STEP = 3e-9
"""Seconds that a statement takes longer where it is not optimised."""
MOST_TIMES = 4
"""How often the time that LLVM takes runs may take altogether, since nobody knows how often loops run whose ends are
data."""


class Improving:
    """A launch's code while it is not optimised: counts its runs, and replaces it when they are many.

    `lost`: the seconds that runs so far have taken longer for it, by the number of the object.
    """

    def __init__(self, launch: Launch, lost: Mapping[int, float] = MappingProxyType({})) -> None:
        self.launch, self.code, self.quick = launch, launch.code, launch.entry
        self.worth = {n: SECONDS_PER_BYTE * len(source.text) for n, source in launch.code.quick.items()}
        self.lost = {n: lost.get(n, 0.0) for n in self.worth}
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

    def count(self, runs: int, steps: Iterable[tuple[int, int]], budget: Budget) -> None:
        """Before a run, the how-manieth of its shape: optimise what it is time for. Errors: those of the budget.

        `steps`: of the run, by the numbers of objects. Other threads run what there is meanwhile.
        """
        for n, count in steps:
            if n in self.lost:
                self.lost[n] += SECONDS_PER_STEP * count
        is_due = runs >= OFTEN or self.seconds > MOST_TIMES * sum(self.worth.values())
        chosen = [n for n, worth in self.worth.items() if is_due or self.lost[n] > worth]
        if not chosen or not self.lock.acquire(blocking=False):
            return
        try:
            if self.launch.improving is self:
                improve = partial(self._improve, chosen)
                import_whole("whorl.runtime.compiled.background").compile_aside(improve, budget.check)
        finally:
            self.lock.release()

    def _improve(self, chosen: Sequence[int]) -> None:
        """Replace the code. Runs that are under way stay in what they began with, which goes with this object."""
        launch = self.launch
        try:
            launch.code = self.code.improved(chosen)
        except (CompileError, MemoryError, RuntimeError):  # what there is gives the same results
            if debug().is_strict:
                raise
            launch.entry = self.quick
        else:
            launch.entry = entry_of(launch.graph.program, launch.code.address)
        is_partly = launch.code is not self.code and launch.code.quick
        launch.improving = Improving(launch, self.lost) if is_partly else None
