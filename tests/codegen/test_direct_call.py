"""The machine code of a direct call: what it checks of feeds, what it makes, and what becomes of a failure."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest

from codegen.calls import F32, Call, double, floats


def test_program_gets_the_feed_and_a_new_array() -> None:
    call = Call(double)
    results = [call.run({"x": floats(*values)}) for values in ((1, 2, 3, 4), (5, 6, 7, 8))]
    (first,), (second,) = [result or [] for result in results]
    assert (first.tolist(), second.tolist()) == ([2, 4, 6, 8], [10, 12, 14, 16])
    assert first.flags.owndata


@pytest.mark.parametrize(
    "feeds",
    [
        {},
        {"y": floats(1, 2, 3, 4)},
        {"x": floats(1, 2, 3, 4), "y": floats(1)},
        {"x": [1.0, 2.0, 3.0, 4.0]},
        {"x": floats(1, 2, 3)},
        {"x": np.zeros((4, 1), F32)},
        {"x": np.zeros(4)},
        {"x": np.zeros(4, ">f4")},
        {"x": np.zeros(8, F32)[::2]},
        {"x": np.zeros(17, np.uint8)[1:].view(F32)},
        {"x": np.zeros(4, F32).view(np.matrix).T},
        {1: floats(1, 2, 3, 4)},
        [floats(1, 2, 3, 4)],
    ],
)
def test_other_feeds_are_declined_without_an_exception(feeds: Any) -> None:
    call = Call(lambda _: pytest.fail("the program ran"))
    assert call.run(feeds) is None


def test_elements_that_the_program_is_for_are_compared() -> None:
    expected = floats(1, 2, 3, 4)
    call = Call(double, expected.tobytes())
    assert call.run({"x": floats(1, 2, 3, 5)}) is None
    assert call.run({"x": expected.copy()}) == [pytest.approx([2, 4, 6, 8])]


def test_outputs_come_from_their_maker() -> None:
    own = np.zeros(4, F32)
    (result,) = Call(double, maker=lambda: own).run({"x": floats(1, 2, 3, 4)}) or [None]
    assert result is own and own.tolist() == [2, 4, 6, 8]


def test_output_for_which_there_is_no_memory_is_declined() -> None:
    def refuse() -> np.ndarray:
        raise MemoryError

    assert Call(double, maker=refuse).run({"x": floats(1, 2, 3, 4)}) is None


def test_program_that_fails_is_declined_and_runs_again() -> None:
    statuses = [1, 0]
    call, feeds = Call(lambda _: statuses.pop(0)), {"x": floats(1, 2, 3, 4)}
    assert call.run(feeds) is None
    assert [output.shape for output in call.run(feeds) or []] == [(4,)]


def test_call_inside_a_call_is_declined() -> None:
    inner: list[Any] = []

    def program(_: np.ndarray) -> int:
        inner.append(call.run({"x": floats(1, 2, 3, 4)}))
        return 0

    call = Call(program)
    assert call.run({"x": floats(1, 2, 3, 4)}) is not None
    assert inner == [None]


def test_calls_leave_no_references() -> None:
    x, nothing = floats(1, 2, 3, 4), sys.getrefcount(None)
    call = Call(double)
    before = sys.getrefcount(x), sys.getrefcount(F32)
    for _ in range(1000):
        call.run({"x": x})
        call.run({"y": x})
    assert (sys.getrefcount(x), sys.getrefcount(F32)) == before
    assert abs(sys.getrefcount(None) - nothing) < 1000
    (output,) = call.run({"x": x}) or [x]
    alive = weakref.ref(output)
    del output
    gc.collect()
    assert alive() is None
