"""`trace` equals an interpreter that records, for every kind of loop and branch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from onnx_text import model
from recorder import Recorder
from traced_models import CASES, NESTED, X, traced_models

import whorl
from whorl.ir.graph import Module

OTHERS = "nested", "no iteration", "one iteration", "grid", "OpenVINO IR", "MDF"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Module, Mapping[str, Any]]]:
    return traced_models(tmp_path_factory.mktemp("traced"))


def assert_same(ours: Any, expected: Any) -> None:
    """The same bits, items of lists one by one."""
    if isinstance(expected, list):
        assert isinstance(ours, list) and len(ours) == len(expected)
        for pair in zip(ours, expected, strict=True):
            assert_same(*pair)
        return
    expected = np.array(expected, object) if isinstance(expected, str) else np.asarray(expected)
    assert (ours.dtype, ours.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("backend", ["native", "interpreter"])
@pytest.mark.parametrize("name", [*OTHERS, *CASES])
def test_trace_equals_an_interpreter_that_records(models: dict[str, Any], name: str, backend: str) -> None:
    module, inputs = models[name]
    recorder = Recorder(module)
    recorder.run(inputs)
    trace = whorl.trace(module, inputs, backend=backend)
    assert set(trace) == recorder.entries.keys()
    for path, entries in recorder.entries.items():
        records = trace.records(path)
        assert records.iterations.tolist() == [list(iterations) for iterations, _ in entries]
        for iterations, value in entries:
            assert_same(records.at(*iterations), value)
    for path, entries in recorder.trip_counts.items():
        assert np.asarray(trace.trip_counts[path].values).tolist() == [count for _, count in entries]
    for path, entries in recorder.branches.items():
        assert np.asarray(trace.branches[path].values).reshape(-1).tolist() == [taken for _, taken in entries]


@pytest.mark.parametrize(
    ("options", "iterations"),
    [
        ({"every": 2}, [0, 2]),
        ({"first": 2}, [0, 1]),
        ({"last": 1}, [3]),
        ({"first": 1, "last": 1}, [0, 3]),
        ({"last": 3, "every": 2}, [2]),
        ({"when": "s > 100"}, [3]),
        ({"when": "max(abs(t)) > 1", "last": 2}, [2, 3]),
    ],
)
def test_iterations_of_the_outermost_loop_are_chosen(options: dict[str, Any], iterations: list[int]) -> None:
    feeds = {"n": np.array(4), "x": X}
    everything, trace = whorl.trace(NESTED, feeds), whorl.trace(NESTED, feeds, **options)
    assert trace.records("outer/s").iterations[:, 0].tolist() == iterations
    for path in trace:
        expected = everything.records(path)
        rows = [k for k, (outer, *_) in enumerate(expected.iterations.tolist()) if outer in iterations]
        assert trace.records(path).iterations.tolist() == expected.iterations[rows].tolist()
        for k, row in enumerate(rows):
            assert_same(np.asarray(trace.records(path).values[k]), np.asarray(expected.values[row]))


def test_values_are_chosen_by_globs_for_names_and_paths() -> None:
    feeds = {"n": np.array(2), "x": X}
    assert list(whorl.trace(NESTED, feeds, values=["inner/?", "longer"])) == [
        "outer/longer",
        "outer/inner/j",
        "outer/inner/p",
        "outer/inner/u",
        "outer/inner/q",
        "outer/inner/v",
    ]


def test_session_traces_the_model_as_it_was_read() -> None:
    session = whorl.InferenceSession(NESTED)
    trace = session.trace({"n": np.array(4), "x": X}, values="outer/t")
    np.testing.assert_array_equal(trace["outer/t"][-1], session.run(["y"], {"n": np.array(4), "x": X})[0])


LONG = model("""main (int64 n) => (float[64] y) {
    c = Constant<value = bool {1}> ()
    size = Constant<value = int64[1] {64}> ()
    start = ConstantOfShape(size)
    [count] y = Loop (n, c, start) <body = a (int64 i, bool k, float[64] s) => (bool h, float[64] t) {
        h = Identity(k)
        one = Constant<value = float {1}> ()
        t = Add(s, one)
        u = Neg(t)
    }>
}""")


def test_budget_splits_runs_spills_and_summarizes() -> None:
    feeds = {"n": np.array(100)}
    plain, trace = whorl.trace(LONG, feeds), whorl.trace(LONG, feeds, budget=3 * 30_000)
    assert trace.summaries == frozenset()
    for path in plain:
        np.testing.assert_array_equal(trace.records(path).values, plain.records(path).values)
    small = whorl.trace(LONG, feeds, budget=3 * 5_000)
    assert small.summaries == {"count/s", "count/t", "count/u"}
    row = small["count/u"].sel(iteration=9)
    assert row.coords["summary"].values.tolist() == ["min", "max", "mean", "norm", "nan", "inf"]
    assert row.values.tolist() == [-10.0, -10.0, -10.0, 80.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"values": "nothing"},
            "no value of a body is called 'nothing'\n  fix: choose from count/i, count/k, count/s, count/h, count/t, "
            "count/u",
        ),
        ({"every": 0}, "every is 0\n  fix: give a number of 1 or more"),
        (
            {"budget": 100},
            "100 records of 'count/i' exceed the budget of 100 bytes\n  fix: record fewer of them: every=N, first=N, "
            "last=N or when=CONDITION; or allow more bytes",
        ),
    ],
)
def test_what_cannot_be_recorded_is_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(whorl.RunError) as caught:
        whorl.trace(LONG, {"n": np.array(100)}, **options)
    assert str(caught.value) == text


def test_values_outside_of_the_body_that_a_condition_reads_of_are_refused() -> None:
    with pytest.raises(whorl.RunError) as caught:
        whorl.trace(NESTED, {"n": np.array(2), "x": X}, values="outer/s", when="u > 0")
    assert str(caught.value) == (
        "none of the values lies in 'outer/inner', of which 'u > 0' reads\n  fix: record values of that body"
    )
