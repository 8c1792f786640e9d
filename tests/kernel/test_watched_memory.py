"""Memory refuses iterations of a parallel loop that meet, and results that nobody stored."""

from __future__ import annotations

import numpy as np
import pytest

from whorl.errors import VerifyError
from whorl.kernel.watched_memory import Path, WatchedMemory


def memory(count: int = 3) -> WatchedMemory:
    array = np.zeros(count, np.float32)
    return WatchedMemory(array, array, np.zeros(count, bool))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (((1, 0),), ((1, 1),)),
        (((1, 0), (2, 5)), ((1, 0), (2, 6))),
        (((1, 0), (2, 5)), ((1, 1), (3, 5))),
    ],
)
def test_other_iterations_of_one_loop_may_not_meet(first: Path, second: Path) -> None:
    for before, after in ((True, True), (True, False), (False, True)):
        used = memory()
        used.touch(first, 1, before, "x")
        used.touch(second, 2, after, "x")
        with pytest.raises(VerifyError, match="iterations of a parallel loop meet in element 1 of 'x'"):
            used.touch(second, 1, after, "x")


@pytest.mark.parametrize(
    ("first", "second"),
    [((), ((1, 1),)), (((1, 0),), ((1, 0),)), (((1, 0),), ((2, 1),)), (((1, 0),), ((1, 0), (2, 1)))],
)
def test_one_iteration_and_loops_after_each_other_may(first: Path, second: Path) -> None:
    used = memory()
    for path in (first, second):
        used.touch(path, 1, True, "x")
        used.touch(path, 1, False, "x")
    assert used.writers[1] == second


def test_iterations_may_read_the_same() -> None:
    used = memory()
    used.touch(((1, 0),), 1, False, "x")
    used.touch(((1, 1),), 1, False, "x")
    assert used.readers[1] == ((1, 1),)


def test_memory_that_grows_was_not_written() -> None:
    used = WatchedMemory(np.ones(2), np.ones(2))
    used.require_written("x")
    used.reserve(4)
    assert used.flat.tolist() == [1, 1, 0, 0]
    with pytest.raises(VerifyError, match="2 of 4 elements of the result 'x' were never stored"):
        used.require_written("x")
    used.reserve(3)
    assert used.flat.size == 4
