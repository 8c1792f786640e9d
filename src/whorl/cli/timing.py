"""CPU seconds of short work, measured in turns: a busy machine slows all that is compared alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

BATCH = 5e-3
"""Seconds that the runs of one measurement take together, at least; a single run may take longer."""


def in_turns(runs: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median CPU seconds of one run of each; all are measured once a round."""
    counts = {name: _batch(run) for name, run in runs.items()}
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(max(1, rounds)):
        for name, run in runs.items():
            times[name].append(_seconds(run, counts[name]))
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def _batch(run: Callable[[], object]) -> int:
    """How many runs make a measurement; they warm the engine up, too."""
    size = 1
    while True:
        seconds = _seconds(run, size)
        if seconds * size >= BATCH:
            return size
        size = min(size * 10, max(size + 1, int(size * BATCH / max(seconds * size, 1e-6)) + 1))


def _seconds(run: Callable[[], object], times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        run()
    return (time.process_time() - start) / times
