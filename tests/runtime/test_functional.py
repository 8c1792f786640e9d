"""Loops and branches over plain arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_text import model

import whorl
from whorl.errors import RunError
from whorl.runtime.functional import ScanLayout, condition_of, run_branch, run_loop, run_scan, trip_count
from whorl.runtime.limits import Limits

NO_LIMITS = Limits()


def step(i: Any, go_on: Any, x: Any) -> tuple[Any, ...]:
    return go_on, x + np.float32(i), x


def test_loop_over_a_function_gives_states_then_collected_values() -> None:
    last, collected = run_loop(3, None, [np.float32(1)], step, NO_LIMITS)
    assert (last, collected.tolist()) == (4, [1, 1, 2])


def test_loop_over_a_graph_gives_what_a_function_gives() -> None:
    body = model(
        "step (int64 i, bool go, float x) => (bool on, float y, float z) "
        "{ on = Identity(go) f = Cast<to = 1>(i) y = Add(x, f) z = Identity(x) }"
    )
    graph = run_loop(3, None, [np.float32(1)], whorl.load(body), NO_LIMITS)
    function = run_loop(3, None, [np.float32(1)], step, NO_LIMITS)
    assert [np.asarray(x).tolist() for x in graph] == [np.asarray(x).tolist() for x in function]


def test_scan_takes_slices_backwards_where_its_layout_says() -> None:
    layout = ScanLayout(input_directions=[1])
    total, sums = run_scan([np.float32(0), np.arange(3, dtype="f")], 1, layout, lambda s, x: (s + x, s + x), NO_LIMITS)
    assert (total, sums.tolist()) == (3, [2, 3, 3])


def test_branch_runs_the_one_that_the_condition_chooses() -> None:
    assert run_branch(True, lambda: 1, lambda: 2, NO_LIMITS) == [1]
    assert run_branch(np.array([0]), lambda: 1, lambda: 2, NO_LIMITS) == [2]


def test_integers_and_truth_values_are_taken_in_other_types_that_lose_nothing() -> None:
    trip, condition = trip_count(np.uint8(5)), condition_of([1])
    assert trip is not None and (trip.dtype, trip.tolist()) == (np.int64, 5)
    assert condition is not None and (condition.dtype, condition.tolist()) == (np.bool_, [True])
    assert trip_count("") is None and condition_of(None) is None
    with pytest.raises(RunError, match="the trip count"):
        trip_count(2.5)


def test_body_that_gives_another_number_of_values_is_refused_in_its_iteration() -> None:
    with pytest.raises(RunError) as caught:
        run_loop(3, None, [np.float32(1)], lambda i, go, x: (go, x) if i == 0 else (go, x, x), NO_LIMITS)
    assert "the body gave 3 values, expected 2" in str(caught.value)
    assert "iteration 1" in str(caught.value)
