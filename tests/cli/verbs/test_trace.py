"""`whorl trace`: what it prints and writes, and what it refuses."""

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
