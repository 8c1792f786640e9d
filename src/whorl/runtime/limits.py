"""Bounds on one run: iterations, seconds, bytes, and a request to stop from another thread."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from whorl.errors import CancelledError, IterationLimitError, MemoryLimitError, RunError, TimeLimitError

Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class Limits:
    """What a run may use; None is no limit.

    `max_iterations`: of any one execution of a loop. `timeout`: seconds of wall time. `max_memory`: bytes that
    the values of a run take together. `progress(loop, done, total or None)` is called after every outermost iteration.
    """

    max_iterations: int | None = None
    timeout: float | None = None
    max_memory: int | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        for name in ("max_iterations", "timeout", "max_memory"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise RunError(f"{name} is {value!r}, expected a number that is not negative, or None")


class Budget:
    """What is left of the limits of one run that is under way."""

    def __init__(self, limits: Limits, stopped: Callable[[], bool]) -> None:
        self.limits, self.stopped = limits, stopped
        self.deadline = math.inf if limits.timeout is None else time.monotonic() + limits.timeout
        self.held = 0
        self.holders: dict[int, int] = {}

    def check(self) -> None:
        """Raise if the time is over or somebody asked to stop."""
        if self.stopped():
            raise CancelledError("the run was cancelled")
        if time.monotonic() > self.deadline:
            raise TimeLimitError(f"the run took longer than {self.limits.timeout} s", fix="raise timeout")

    def check_iteration(self, done: int) -> None:
        """Raise if a loop that has done so many iterations may not start another."""
        if self.limits.max_iterations is not None and done >= self.limits.max_iterations:
            raise IterationLimitError(
                f"the loop wants more than {self.limits.max_iterations} iterations", fix="raise max_iterations"
            )
        self.check()

    def reserve(self, count: int) -> None:
        """Raise if holding `count` bytes more would pass the limit; nothing is recorded."""
        limit = self.limits.max_memory
        if limit is not None and self.held + count > limit:
            raise MemoryLimitError(
                f"holding {self.held + count} bytes passes the limit of {limit}", fix="raise max_memory"
            )

    def hold(self, value: Any) -> None:
        """Record one more holder of a value."""
        count = bytes_of(value)
        holders = self.holders.get(id(value), 0)
        if count and not holders:
            self.reserve(count)
            self.held += count
        self.holders[id(value)] = holders + 1

    def release(self, value: Any) -> None:
        """Record that one holder let go of a value."""
        holders = self.holders.pop(id(value), 0)
        if holders > 1:
            self.holders[id(value)] = holders - 1
        elif holders:
            self.held -= bytes_of(value)


def bytes_of(value: Any) -> int:
    """The memory a value owns; views and what lists share with other values count 0."""
    if isinstance(value, np.ndarray):
        return value.nbytes if value.base is None else 0
    return 0
