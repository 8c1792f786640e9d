"""Bounds on one run: iterations, seconds, bytes, and a request to stop from another thread."""

from __future__ import annotations

import math
import time
import weakref
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from msgspec import Struct

from whorl.errors import CancelledError, IterationLimitError, MemoryLimitError, RunError, TimeLimitError
from whorl.ir.dtypes import STRING
from whorl.runtime.credit import Credit
from whorl.runtime.trace import Trace
from whorl.runtime.values import is_array, is_sequence

Progress = Callable[[str, int, int | None], None]


class Limits(Struct, frozen=True):
    """What a run may use; None is no limit.

    `max_iterations`: of any one execution of a loop. `timeout`: seconds of wall time.
    `max_memory`: bytes of the arrays that the run makes, as long as they live; feeds and constants do not count, nor
    does what a node needs while it computes. `progress(loop, done, total or None)` is called after every iteration of
    an outermost loop, of native ones now and then; what it raises ends the run and reaches the caller as it is.
    """

    max_iterations: int | None = None
    timeout: float | None = None
    max_memory: int | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        for name, kinds, expected in _NUMBERS:
            value = getattr(self, name)
            if value is None or (isinstance(value, kinds) and not isinstance(value, bool) and value >= 0):
                continue
            raise RunError(f"{name} is {value!r}, expected {expected} that is not negative, or None")
        if self.progress is not None and not callable(self.progress):
            raise RunError(f"progress is {self.progress!r}, expected a function of (loop, done, total), or None")


_WHOLE = (int, np.integer)
_NUMBERS = (
    ("max_iterations", _WHOLE, "a whole number"),
    ("timeout", (*_WHOLE, float, np.floating), "a number of seconds"),
    ("max_memory", _WHOLE, "a whole number of bytes"),
)


class Budget:
    """What is left of the limits of one run that is under way, and where it records what happens.

    `credit` bounds what it compiles, `threads` says how many it may use, 0 as there are cores. Memory counts once for
    all views of it, until nothing refers to it any more.
    """

    def __init__(
        self,
        limits: Limits,
        stopped: Callable[[], bool],
        trace: Trace | None = None,
        credit: Credit | None = None,
        threads: int = 1,
    ) -> None:
        self.limits, self.stopped, self.trace, self.credit = limits, stopped, trace, credit or Credit(0)
        self.threads = threads
        self.deadline = math.inf if limits.timeout is None else time.monotonic() + limits.timeout
        self.bytes_in_use = 0
        self.raised: Exception | None = None
        self._living: dict[int, weakref.ref[np.ndarray]] = {}

    @property
    def reports_iterations(self) -> bool:
        """Whether somebody is told of the iterations of every loop: the caller or a trace."""
        return bool(self.limits.progress or self.trace)

    def check(self) -> None:
        """Raise if the time is over or the run was cancelled."""
        if self.stopped():
            raise CancelledError("the run was cancelled")
        if time.monotonic() > self.deadline:
            raise TimeLimitError(f"the run took longer than {self.limits.timeout} s", fix="raise timeout")

    def require_time(self, seconds: float) -> None:
        """Raise if what takes so long at least cannot end in time."""
        if time.monotonic() + seconds > self.deadline:
            raise TimeLimitError(
                f"it takes {seconds:.3g} s at least, and the run may take {self.limits.timeout} s", fix="raise timeout"
            )

    def check_iteration(self, done: int) -> None:
        """Raise if a loop that has done so many iterations may not start another."""
        if self.limits.max_iterations is not None and done >= self.limits.max_iterations:
            raise IterationLimitError(
                f"the loop wants more than {self.limits.max_iterations} iterations", fix="raise max_iterations"
            )
        self.check()

    def report(self, loop: str, done: int, total: int | None) -> None:
        """Call the progress callback; an exception of its own reaches the caller of the run as it is."""
        if self.limits.progress is None:
            return
        try:
            self.limits.progress(loop, done, total)
        except Exception as error:
            self.raised = error
            raise

    def reserve(self, count: int) -> None:
        """Raise if `count` bytes more would pass the limit; nothing is recorded."""
        if not self.has_room(count):
            raise MemoryLimitError(
                f"holding {self.bytes_in_use + count} bytes passes the limit of {self.limits.max_memory}",
                fix="raise max_memory",
            )

    def has_room(self, count: int) -> bool:
        """Whether `count` bytes more would stay within the limit."""
        return self.limits.max_memory is None or self.bytes_in_use + count <= self.limits.max_memory

    def count(self, made: object, inputs: Iterable[object] = ()) -> None:
        """Count the memory of a node's results until nothing refers to it; what its inputs own is not new."""
        if self.limits.max_memory is None:
            return
        owners = {id(array): array for array in _owners(made)}
        known = {id(array) for value in inputs for array in _owners(value)}
        for key, array in owners.items():
            if key in known or key in self._living:
                continue
            size = bytes_of(array)
            self.reserve(size)
            self.bytes_in_use += size
            self._living[key] = weakref.ref(array, self._forget(key, size))

    def _forget(self, key: int, size: int) -> Callable[[object], None]:
        def forget(_: object) -> None:
            del self._living[key]
            self.bytes_in_use -= size

        return forget


UNLIMITED = Budget(Limits(), bool)
"""The budget of a run without limits, which only signals stop."""


def _owners(value: object) -> Iterator[np.ndarray]:
    """The arrays whose memory a value uses: itself, or what it is a view of."""
    if is_sequence(value):
        for item in value:
            yield from _owners(item)
    elif is_array(value):
        while isinstance(value.base, np.ndarray):
            value = value.base
        yield value


def bytes_of(array: np.ndarray) -> int:
    """The memory of an array; strings count by their lengths."""
    return array.nbytes + (sum(map(len, array.flat)) if array.dtype == STRING else 0)


def largest_bytes(values: Iterable[object]) -> int:
    """The memory of the largest array that the values use."""
    return max((array.nbytes for value in values for array in _owners(value)), default=0)
