"""`whorl trace`: what it prints and writes, and what it refuses."""

import json

import pytest
from traced_models import NESTED

import whorl as package

INPUTS = "--input", "n=4", "--input", "x=[1, 2, 0.5]"


def test_trace_is_written_and_listed(whorl, saved, tmp_path):
    out = tmp_path / "t.npz"
    report = whorl("trace", saved(NESTED), *INPUTS, "--values", "inner/u", "--last", 2, "-o", out)
    assert report.code == 0, report.err
    assert report.out.splitlines() == [
        "loop    outer: 4 iterations",
        "loop    outer/inner: 0 to 3 iterations, 4 times",
        "branch  outer/inner/choice: then_branch 1 of 6 times",
        "value   outer/inner/u: 5 records of float32[3]",
        f"wrote {out}",
    ]
    assert package.load_trace(out)["u"].shape == (5, 3)


def test_document_says_what_was_recorded(whorl, saved):
    document = whorl("trace", saved(NESTED), *INPUTS, "--values", "longer", "--json").document
    assert document == {
        "trip_counts": {"outer": [4], "outer/inner": [0, 1, 2, 3]},
        "branches": {"outer/inner/choice": [False, False, False, False, False, True]},
        "values": {"outer/longer": {"loops": ["outer"], "records": 4, "ragged": True, "summary": False}},
    }


def test_other_endings_are_refused(whorl, saved):
    report = whorl("trace", saved(NESTED), *INPUTS, "-o", "t.csv")
    assert (report.code, report.err) == (2, "whorl: --output 't.csv' does not end in .npz or .zarr\n")


def test_first_infinity_is_located(whorl, saved):
    command = "trace", saved(NESTED), "--input", "n=4", "--input", "x=[1e20, 2, 0.5]", "--stop-at", "inf"
    report = whorl(*command)
    assert report.out.splitlines() == [
        "loop      outer: iteration 1",
        "loop      outer/inner: iteration 0",
        "node      Mul 'r'",
        "value     outer/inner/choice/else_branch/r",
        "operand   d: float32[3] 2e+20 4.0 1.0",
        "operand   u: float32[3] 1e+20 2.0 0.5",
        "operand   r: float32[3] inf 8.0 0.5",
    ]
    first = whorl(*command, "--json").document["first"]
    assert first["loops"] == [{"name": "outer", "iteration": 1}, {"name": "outer/inner", "iteration": 0}]
    assert first["operands"]["r"] == {"type": "float32[3]", "value": ["inf", 8.0, 0.5]}


def test_condition_that_is_never_true_is_reported(whorl, saved):
    report = whorl("trace", saved(NESTED), *INPUTS, "--stop-at", "isnan(t)")
    assert (report.code, report.out) == (0, "'isnan(t)' never holds\n")


def test_recording_options_do_not_go_with_stop_at(whorl, saved):
    report = whorl("trace", saved(NESTED), *INPUTS, "--stop-at", "nan", "--last", 2)
    assert report.code == 2
    assert report.err == (
        "whorl: --last is for what is recorded, and --stop-at records nothing\n  fix: leave out --last\n"
    )


def test_watched_values_are_printed_as_the_model_runs(whorl, saved):
    command = "trace", saved(NESTED), *INPUTS, "--watch", "outer/t", "--watch", "u > 100", "--every", 2
    report = whorl(*command)
    assert report.code == 0, report.err
    assert report.out.splitlines() == [
        "outer 0  outer/t: float32[3] 1.0 2.0 0.5",
        "outer 2, outer/inner 1 [u > 100]  outer/inner/u: float32[3] 8.0 128.0 0.5",
        "outer 2  outer/t: float32[3] 128.0 32768.0 0.5",
        "y: float32[3] -2.1474836e+09 -9.223372e+18 -0.5",
        "z: float32[15] 1.0 2.0 0.5 1.0 2.0 0.5 1.0 2.0 ...",
    ]
    lines = [json.loads(line) for line in whorl(*command, "--json").out.splitlines()]
    assert lines[1] == {
        "loops": [{"name": "outer", "iteration": 2}, {"name": "outer/inner", "iteration": 1}],
        "condition": "u > 100",
        "values": {"outer/inner/u": {"type": "float32[3]", "value": [8.0, 128.0, 0.5]}},
    }
    assert list(lines[-1]["outputs"]) == ["y", "z"]


def test_options_for_records_do_not_go_with_watch(whorl, saved):
    report = whorl("trace", saved(NESTED), *INPUTS, "--watch", "t", "-o", "t.npz")
    assert (report.code, report.err) == (
        2,
        "whorl: --output is for what is recorded, and --watch records nothing\n  fix: leave out --output\n",
    )
    report = whorl("trace", saved(NESTED), *INPUTS, "--watch", "t", "--stop-at", "nan")
    assert (report.code, report.err.splitlines()[0]) == (
        2,
        "whorl: --watch prints values, and --stop-at only where a condition holds first",
    )


def test_records_are_drawn(whorl, saved, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib draws the plots")
    picture = tmp_path / "t.svg"
    report = whorl("trace", saved(NESTED), *INPUTS, "--values", "outer/t", "--plot", picture)
    assert report.code == 0, report.err
    assert report.out.splitlines()[-1] == f"wrote {picture}"
    assert "<svg" in picture.read_text()
    report = whorl("trace", saved(NESTED), *INPUTS, "--plot", "t.csv")
    assert (report.code, report.err) == (2, "whorl: --plot 't.csv' does not end in .png or .svg or .pdf\n")
