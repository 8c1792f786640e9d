"""The iterations that a page has of each loop: all that were recorded, or as many as it may have, evenly chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct

from whorl.passes.expose.reading import Records

Loops = tuple[str, ...]
"""The paths of the loops around a value, outermost first."""


class Ticks(Struct, frozen=True, eq=False):
    """Iterations of the loops around a body, in the order in which they ran.

    `rows`: for each tick the iteration of each loop. `codes`: the ranks of ticks among all `total` iterations, of which
    each tick stands for itself and those up to the next.
    """

    rows: np.ndarray
    codes: np.ndarray
    total: int
    all_rows: np.ndarray

    def positions(self, records: Records) -> np.ndarray:
        """For each record the tick that it belongs to."""
        codes = _codes(records.iterations, self.all_rows)
        return np.searchsorted(self.codes, codes, side="right") - 1


def collect_ticks(traces: Sequence[Mapping[str, Records]], most: int) -> dict[Loops, Ticks]:
    """The ticks of each chain of loops that has records in one of the traces, at most `most` of each."""
    chains: dict[Loops, list[np.ndarray]] = {}
    for trace in traces:
        for records in trace.values():
            if not records.loops:
                continue
            known = chains.setdefault(records.loops, [])
            if not any(each is records.iterations for each in known):
                known.append(records.iterations)
    return {loops: _choose(_union(tables), most) for loops, tables in chains.items()}


def _union(tables: Sequence[np.ndarray]) -> np.ndarray:
    """All rows of the tables, each once, in order."""
    largest = max(tables, key=len)
    ordered = np.unique(np.concatenate([largest, *(table for table in tables if table is not largest)]), axis=0)
    return ordered


def _choose(rows: np.ndarray, most: int) -> Ticks:
    total = len(rows)
    codes = np.arange(total) if total <= most else np.unique(np.linspace(0, total - 1, most).astype(np.int64))
    return Ticks(rows[codes], codes, total, rows)


def _codes(iterations: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The rank of each iteration among sorted rows that have them all."""
    if np.array_equal(iterations, rows):
        return np.arange(len(rows))
    # The order of rows is that of numbers whose digits they are.
    base = np.maximum(rows.max(0, initial=0), iterations.max(0, initial=0)) + 1
    weights = np.append(np.cumprod(base[:0:-1], dtype=np.int64)[::-1], 1)
    return np.searchsorted(rows @ weights, iterations @ weights)
