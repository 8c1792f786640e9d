"""Traces as xarrays: axes of loops, records where they are ragged."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_text import ROLLOUT, model
from traced_models import GRID, NESTED, X

import whorl

FEEDS = {"n": np.array(4), "x": X}


def test_value_in_one_loop_has_the_axis_iteration() -> None:
    trace = whorl.trace(ROLLOUT, {"count": np.array(3), "table": np.arange(12, dtype=np.float32)})
    array = trace["rollout/sum_out"]
    assert (array.dims, array.values.tolist()) == (("iteration",), [0.0, 1.0, 3.0])
    assert array.attrs == {"path": "rollout/sum_out", "loops": ["rollout"]}


def test_value_in_nested_loops_has_an_axis_for_each() -> None:
    array = whorl.trace(GRID, {"x": X[:2]})["v"]
    assert (array.dims, array.shape) == (("rows.iteration", "columns.iteration", "dim_0"), (3, 3, 2))


def test_other_trip_counts_each_time_make_a_value_ragged() -> None:
    array = whorl.trace(NESTED, FEEDS)["outer/inner/u"]
    assert (array.dims, array.shape) == (("record", "dim_0"), (6, 3))
    assert array.coords["outer.iteration"].values.tolist() == [1, 2, 2, 3, 3, 3]
    assert array.coords["inner.iteration"].values.tolist() == [0, 0, 1, 0, 1, 2]
    assert array.attrs["ragged"] == "numbers of iterations differ"


def test_value_that_grows_is_an_array_of_objects() -> None:
    trace = whorl.trace(NESTED, FEEDS)
    array = trace["longer"]
    assert (array.dims, array.dtype, array.attrs["ragged"]) == (("iteration",), np.dtype(object), "shapes differ")
    assert trace.shapes("longer").tolist() == [[6], [9], [12], [15]]
    assert trace.shapes("outer/t").tolist() == [[3]] * 4


def test_lines_say_trip_counts_branches_and_types() -> None:
    assert repr(whorl.trace(NESTED, FEEDS, values=["longer", "inner/u", "w"])).splitlines() == [
        "<whorl.ValueTrace>",
        "loop    outer: 4 iterations",
        "loop    outer/inner: 0 to 3 iterations, 4 times",
        "branch  outer/inner/choice: then_branch 1 of 6 times",
        "value   outer/longer: 4 records, ragged, from [6] to [15]",
        "value   outer/inner/u: 6 records of float32[3]",
        "value   outer/inner/choice/then_branch/w: 1 record of float32[3]",
    ]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("z", "'z' was not recorded; choose from outer/s, outer/inner/u"),
        ("outer", "'outer' was not recorded; choose from outer/s, outer/inner/u"),
    ],
)
def test_value_that_was_not_recorded_is_a_key_error(path: str, text: str) -> None:
    with pytest.raises(KeyError) as caught:
        whorl.trace(NESTED, FEEDS, values=["outer/s", "inner/u"])[path]
    assert caught.value.args[0] == text


def test_notebook_shows_a_table_of_what_was_recorded() -> None:
    table = whorl.trace(NESTED, FEEDS)._repr_html_()
    assert table.startswith("<table><tr><td>loop</td><td>outer</td><td>4 iterations</td></tr>")
    assert "<tr><td>value</td><td>outer/s</td><td>4 records of float32[3]</td></tr>" in table


def test_value_in_a_branch_of_the_main_graph_has_no_axis_of_iterations() -> None:
    branch = model("""main (bool c, float[2] x) => (float[2] y) {
        y = If (c) <then_branch = t () => (float[2] a) { a = Neg(x) },
            else_branch = e () => (float[2] b) { b = Exp(x) }>
    }""")
    trace = whorl.trace(branch, {"c": np.array(True), "x": X[:2]})
    assert (trace["a"].dims, trace["a"].values.tolist()) == (("dim_0",), [-1.0, -2.0])
    assert trace["b"].dims[0] == "record" and trace["b"].shape[0] == 0
