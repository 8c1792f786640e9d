"""Where two traces part."""

import numpy as np
from traced_models import NESTED, X

import whorl
from whorl.api.exploring.comparing import compare_traces
from whorl.api.models import load_module
from whorl.api.tracing.value_trace import ValueTrace
from whorl.conformance.cases import load_cases
from whorl.passes.expose.reading import Records

INPUTS = {"n": np.array(4), "x": X}
MODULE = whorl.load(NESTED)


def changed(path: str, row: int, by: float = 1.0) -> ValueTrace:
    """A trace in which one record of one value is another."""
    trace = whorl.trace(NESTED, INPUTS)
    values = {each: trace.records(each) for each in trace}
    records = values[path]
    rows = list(records.values)
    rows[row] = np.asarray(rows[row] + by, rows[row].dtype)
    changed_values = np.stack(rows) if isinstance(records.values, np.ndarray) else rows
    values[path] = Records(path, records.loops, records.iterations, changed_values)
    return ValueTrace(values, trace.trip_counts, trace.branches)


def test_equal_traces_have_no_differences() -> None:
    trace = whorl.trace(NESTED, INPUTS)
    assert compare_traces(MODULE, trace, trace) == {"values": {}, "first": None, "trips": []}


def test_difference_names_the_iterations_of_all_loops() -> None:
    trace = whorl.trace(NESTED, INPUTS)
    report = compare_traces(MODULE, trace, changed("outer/inner/u", 4))
    assert report["first"] == "outer/inner/u"
    assert report["values"]["outer/inner/u"]["iterations"] == [3, 1]
    assert (
        report["values"]["outer/inner/u"]["text"].endswith("3.0 there")
        or "differ" in report["values"]["outer/inner/u"]["text"]
    )


def test_ragged_values_are_compared_record_by_record() -> None:
    trace = whorl.trace(NESTED, INPUTS)
    report = compare_traces(MODULE, trace, changed("outer/grown", 2))
    assert report["values"]["outer/grown"]["iterations"] == [2]


def test_what_rounding_may_do_is_no_difference() -> None:
    trace = whorl.trace(NESTED, INPUTS)
    assert compare_traces(MODULE, trace, changed("outer/s", 0, 1e-7))["first"] is None


def test_first_is_what_is_computed_first() -> None:
    trace = whorl.trace(NESTED, INPUTS)
    late, early = changed("outer/t", 1), changed("outer/inner/v", 0)
    values = {path: (late if path == "outer/t" else early).records(path) for path in trace}
    report = compare_traces(MODULE, trace, ValueTrace(values, trace.trip_counts, trace.branches))
    assert report["values"].keys() == {"outer/t", "outer/inner/v"}
    assert report["first"] == "outer/inner/v"


def test_other_numbers_of_iterations_are_named_and_common_ones_compared() -> None:
    ours, theirs = whorl.trace(NESTED, INPUTS), whorl.trace(NESTED, INPUTS | {"n": np.array(3)})
    assert compare_traces(MODULE, ours, theirs) == {"values": {}, "first": None, "trips": ["outer", "outer/inner"]}


def test_texts_and_lists_are_compared() -> None:
    cases = {case.name: case for case in load_cases()}
    for name in ("while_over_strings", "sequence_of_different_shapes"):
        module = load_module(cases[name].proto)
        trace = whorl.trace(
            module, {k: v if isinstance(v, list) else np.asarray(v) for k, v in cases[name].inputs.items()}
        )
        assert compare_traces(module, trace, trace)["first"] is None
