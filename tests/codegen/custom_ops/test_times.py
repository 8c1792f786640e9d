"""Nests run as was faster, on one thread or on several."""

from __future__ import annotations

import ctypes
import time

import numpy as np
import pytest

from codegen.custom_ops.test_sharing import Range, Shared
from whorl.codegen.custom_ops import times
from whorl.codegen.custom_ops.sharing import KERNEL_TIMES, LEAST_WORK
from whorl.codegen.custom_ops.times import ALONE, CELLS, ENTRIES, SHARED, SURE, USES

EXTENT = 1000


def runs(alone: float, shared: float, count: int = 12) -> list[bool]:
    """Which runs are shared of a nest that takes so many seconds alone, and so many for a part."""
    made, result = Shared(2), list[bool]()

    @Range
    def nest(_arguments: int, _first: int, count: int, _context: int) -> int:
        time.sleep(alone if count == EXTENT else shared)
        return 0

    for _ in range(count):
        before = made.runtime.forks
        assert made.fork(nest, EXTENT, LEAST_WORK) == 0
        result.append(made.runtime.forks > before)
    return result


def test_nest_is_shared_where_that_is_faster_but_for_powers_of_two() -> None:
    assert runs(alone=0.1, shared=0.0) == [number >= SURE and number not in (4, 8) for number in range(1, 13)]


def test_nest_runs_alone_where_sharing_is_slower_but_for_powers_of_two() -> None:
    assert runs(alone=0.001, shared=0.1) == [number in (SURE, 4, 8) for number in range(1, 13)]


def test_nest_that_is_short_is_not_shared_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(times, "SHORT", 10_000_000_000)
    assert runs(alone=0.001, shared=0.0) == [number == SURE for number in range(1, 13)]


def test_other_sizes_are_measured_apart() -> None:
    made, nest = Shared(2), Range(lambda *_: 0)
    for extent in (EXTENT, EXTENT + 1, 2 * EXTENT, 100 * EXTENT):
        made.fork(nest, extent, LEAST_WORK)
    cells = np.frombuffer(made.kernel, np.int64)[KERNEL_TIMES:].reshape(ENTRIES, CELLS)
    assert sorted(cells[:, USES][cells[:, USES] > 0]) == [1, 1, 2]
    rates = np.ascontiguousarray(cells).view(np.float64)
    assert (rates[:, ALONE] > 0).sum() == 3 and not rates[:, SHARED].any()
    assert ctypes.sizeof(made.kernel) == 8 * (KERNEL_TIMES + ENTRIES * CELLS)
