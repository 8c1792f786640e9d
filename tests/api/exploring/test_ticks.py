"""Which iterations a page has."""

import numpy as np

from whorl.api.exploring.ticks import collect_ticks
from whorl.passes.expose.reading import Records


def records(*iterations, loops=("a", "a/b")):
    table = np.array(iterations, np.int64).reshape(len(iterations), len(loops))
    return Records("x", loops, table, np.arange(len(iterations)))


def test_ticks_are_all_iterations_of_any_trace_in_order() -> None:
    first, second = records((0, 0), (1, 0), (1, 1)), records((0, 0), (1, 2))
    (ticks,) = collect_ticks([{"x": first}, {"y": second}], 100).values()
    assert ticks.rows.tolist() == [[0, 0], [1, 0], [1, 1], [1, 2]]
    assert ticks.positions(second).tolist() == [0, 3]


def test_each_chain_of_loops_has_its_own() -> None:
    outer = records((0,), (1,), loops=("a",))
    ticks = collect_ticks(
        [{"x": records((0, 0)), "y": outer, "z": Records("z", (), np.zeros((1, 0), np.int64), [1])}], 9
    )
    assert {loops: each.total for loops, each in ticks.items()} == {("a", "a/b"): 1, ("a",): 2}


def test_many_iterations_are_chosen_evenly_and_stand_for_all_up_to_the_next() -> None:
    long = records(*((k,) for k in range(100)), loops=("a",))
    (ticks,) = collect_ticks([{"x": long}], 4).values()
    assert (ticks.rows[:, 0].tolist(), ticks.total) == ([0, 33, 66, 99], 100)
    assert np.bincount(ticks.positions(long)).tolist() == [33, 33, 33, 1]


def test_no_iterations_have_no_ticks() -> None:
    (ticks,) = collect_ticks([{"x": records(loops=("a",))}], 4).values()
    assert (len(ticks.rows), ticks.total) == (0, 0)
