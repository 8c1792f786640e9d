"""How rows lie in runs, and how many do: what is right by comparing rows together and alone, what is fast by measuring.

Batches grow four times, within a second, a part of what the rows of the sample take and a limit on memory, as long as
that makes rows a tenth cheaper. Runs that are so short that other processes may have disturbed them do not end that.
The smallest batch counts that is about as cheap as the cheapest. A run takes its seconds of the clock, or of the CPU
where they are fewer: then it waited for other processes, and one on several threads most of all.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from whorl.errors import RunError, WhorlError
from whorl.scoring.columns import Column, read_column, write_column
from whorl.scoring.rows import Group, Scorer

SMALLEST, LARGEST, GROWTH = 64, 65536, 4
SECONDS, GAIN = 0.5, 0.9
SHORT, FEWEST_RUNS, RUNS = 0.005, 2, 5
"""Seconds of a run that may be disturbed, and how many runs of a size are measured, most only until they take twice as
long. One more run compiles; what it made is optimised in the next one."""
SHARE = 12
"""A run that is measured takes at most this part of what all rows of the sample take, or is short."""
COMPARED = 8
"""Rows that are computed together and alone."""
RTOL, ATOL = 1e-3, 1e-5


def choose_layout(layouts: Sequence[Scorer], sample: Any) -> Scorer:
    """The first layout in which the rows of a sample have the results that they have alone."""
    for scorer in layouts[:-1]:
        if scorer.layout.length is not None or _is_independent(scorer, layouts[-1], sample):
            return scorer
    return layouts[-1]


def _is_independent(together: Scorer, alone: Scorer, sample: Any) -> bool:
    rows = _equal_rows(together, sample, COMPARED)
    if rows is None or len(rows.rows) < 2:
        return together.layout.kind == "vmap"
    columns = _columns(together, sample)
    try:
        expected = [_compute(alone, columns, Group(rows.rows[k : k + 1], rows.shapes)) for k in range(len(rows.rows))]
    except WhorlError:
        return True
    try:
        actual = _compute(together, columns, rows)
    except WhorlError:
        return False
    return all(_is_close(actual, row, k) for k, row in enumerate(expected))


def _compute(scorer: Scorer, columns: dict[str, Column], group: Group) -> list[Any]:
    """The results of rows in one run, an Arrow array for each output."""
    piece = scorer.run(scorer.feeds(columns, group), group.rows)
    return [write_column(value, field.type) for value, field in zip(piece.values, scorer.results, strict=True)]


def _is_close(together: list[Any], alone: list[Any], row: int) -> bool:
    pairs = zip(together, alone, strict=True)
    return all(_equal(one[row].as_py(), other[0].as_py()) for one, other in pairs)


def _equal(one: Any, other: Any) -> bool:
    if one == other:
        return True
    try:
        return np.allclose(np.asarray(one, np.float64), np.asarray(other, np.float64), RTOL, ATOL, equal_nan=True)
    except (TypeError, ValueError):
        return False


def choose_batch(scorer: Scorer, sample: Any) -> int:
    """The rows of a run that cost least each, of those that a sample has. Errors: RunError without a layout for any."""
    if scorer.layout.length is not None:
        return scorer.layout.length
    if scorer.layout.kind == "rows":
        return SMALLEST
    costs, size = dict[int, float](), SMALLEST
    columns = _columns(scorer, sample)
    while size <= LARGEST:
        rows = _equal_rows(scorer, sample, RUNS * size)
        if rows is None or (len(rows.rows) < size and size > SMALLEST):
            break
        count = min(size, len(rows.rows))
        seconds = _measure(scorer, columns, rows, count)
        if seconds is None:
            break
        cost, cheapest = seconds / count, min(costs.values(), default=float("inf"))
        costs[size] = cost
        most = min(SECONDS, max(2 * SHORT, sample.num_rows * min(costs.values()) / SHARE))
        if GROWTH * seconds > most or (cost > GAIN * cheapest and seconds > SHORT):
            break
        size *= GROWTH
    return min((size for size, cost in costs.items() if GAIN * cost <= min(costs.values())), default=SMALLEST)


def _measure(scorer: Scorer, columns: Any, rows: Group, count: int) -> float | None:
    """The seconds of the fastest run of so many rows, after one that compiled what it needs; None where it fails.

    Each run has other rows where there are some: of few rows that come again the CPU learns the branches.
    """
    seconds = list[float]()
    try:
        feeds = scorer.feeds(columns, rows)
        starts = range(0, len(rows.rows) - count + 1, count)
        parts = [{name: each[start : start + count] for name, each in feeds.items()} for start in starts]
        scorer.run(parts[-1], rows.rows[:count])
        while len(seconds) < FEWEST_RUNS or (len(seconds) < RUNS and sum(seconds) < 2 * SHORT):
            part = parts[len(seconds) % len(parts)]
            clock, own = time.perf_counter(), time.process_time()
            scorer.run(part, rows.rows[:count])
            seconds.append(min(time.perf_counter() - clock, time.process_time() - own))
    except WhorlError:
        return None
    return min(seconds)


def _columns(scorer: Scorer, sample: Any) -> dict[str, Any]:
    return {name: read_column(sample.column(name), name) for name in scorer.layout.feeding.columns}


def _equal_rows(scorer: Scorer, sample: Any, most: int) -> Group | None:
    """Rows of one shape, those that occur most often."""
    columns = _columns(scorer, sample)
    faults = {row: "" for column in columns.values() for row in column.faults}
    groups = list(scorer.groups(columns, sample.num_rows, faults))
    if not groups:
        return None
    group = max(groups, key=lambda each: len(each.rows))
    return Group(group.rows[:most], group.shapes)


def fixed_batch(scorer: Scorer, batch: int) -> Scorer:
    """The scorer with a number of rows that the caller chose. Errors: RunError where the model has another one."""
    length = scorer.layout.length
    if batch < 1 or (length is not None and batch != length):
        raise RunError(f"batch is {batch}, and the model computes {length or 'one or more'} rows", fix="leave it out")
    return replace(scorer, batch=batch)
