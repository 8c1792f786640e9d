"""What records over time say of spikes: when a value rises through a threshold, how often, and in which windows."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from whorl.errors import RunError


class Spikes(Struct, frozen=True):
    """Crossings of a threshold from below, in the order of time.

    Each has its time, between the two rows on a straight line, and the index of its cell, the element of the record in
    row-major order; in a batch also of its parameter set, else 0. `shape`: parameter sets and cells. `start` and `end`
    bound the times of the record.
    """

    times: np.ndarray
    cells: np.ndarray
    sets: np.ndarray
    shape: tuple[int, int]
    start: float
    end: float

    def __len__(self) -> int:
        return len(self.times)

    def counts(self) -> np.ndarray:
        """The number of spikes of each cell, int64[sets, cells]."""
        return self._counts(np.ones(len(self), bool))

    def rates(self, width: float | None = None) -> np.ndarray:
        """Spikes a unit of time, float64[sets, cells]; in windows of a `width`, float64[windows, sets, cells].

        What is left of the time after the last whole window counts for none. Errors: RunError.
        """
        if width is None:
            return self.counts() / (self.end - self.start) if self.end > self.start else np.zeros(self.shape)
        count = int((self.end - self.start) / width * (1 + 1e-12)) if width > 0 else 0
        if not count:
            raise RunError(f"width is {width!r}, and the record goes over {self.end - self.start:g}")
        window = np.floor((self.times - self.start) / width).astype(np.int64)
        return np.stack([self._counts(window == number) for number in range(count)]) / width

    def _counts(self, chosen: np.ndarray) -> np.ndarray:
        flat = self.sets[chosen] * self.shape[1] + self.cells[chosen]
        return np.bincount(flat, minlength=self.shape[0] * self.shape[1]).reshape(self.shape)


def find_spikes(times: np.ndarray, rows: np.ndarray, threshold: float) -> Spikes:
    """The crossings in rows[sets, times, cells]: a row below the threshold and the next one not below it."""
    is_above = rows >= threshold
    sets, before, cells = np.nonzero((rows[:, :-1] < threshold) & is_above[:, 1:])
    low, high = rows[sets, before, cells], rows[sets, before + 1, cells]
    with np.errstate(invalid="ignore"):
        part = np.where(np.isfinite(low) & np.isfinite(high), (threshold - low) / (high - low), 1.0)
    when = times[before] + part * (times[before + 1] - times[before])
    order = np.argsort(when, kind="stable")
    start, end = (float(times[0]), float(times[-1])) if len(times) else (0.0, 0.0)
    return Spikes(when[order], cells[order], sets[order], (rows.shape[0], rows.shape[2]), start, end)
