"""`whorl to-loop`: what it writes and says, and how names and axes are written."""

import pytest
from onnx_text import model

import whorl as package
from whorl.cli.verbs.to_loop import axes_of, carried_of

STEP = model("main (float[2] x, float[2] h) => (float[2] y, float[2] h_next) { y = Add(x, h) h_next = Neg(y) }")
COMMAND = "--carry", "h:h_next", "--scan", "x", "--collect", "y"


def test_loop_is_written_and_described(whorl, saved, tmp_path):
    out = tmp_path / "loop.onnx"
    report = whorl("to-loop", saved(STEP), out, *COMMAND)
    assert (report.code, report.err) == (0, "")
    *lines, last = report.out.splitlines()
    assert lines == [
        "input    x: float32[steps, 2]",
        "input    h: float32[2]",
        "output   y: float32[steps, 2]",
        "output   h_next: float32[2]",
    ]
    assert last == f"wrote {out}: 3 nodes, repeats the step steps times, {out.stat().st_size} bytes"
    assert [str(value.type) for value in package.load(out).main.arguments] == ["float32[steps, 2]", "float32[2]"]


def test_document_has_the_types(whorl, saved, tmp_path):
    out = tmp_path / "loop.onnx"
    document = whorl("to-loop", saved(STEP), out, *COMMAND, "--steps", "n", "--json").document
    assert document == {
        "output": str(out),
        "bytes": out.stat().st_size,
        "nodes": 3,
        "inputs": {"x": "float32[n, 2]", "h": "float32[2]"},
        "outputs": {"y": "float32[n, 2]", "h_next": "float32[2]"},
        "states": {},
    }


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--carry", "h"], "--carry 'h' is not INPUT:OUTPUT\n  fix: write two names, such as state:stateN"),
        (["--carry", "a:b:c"], "--carry 'a:b:c' is not INPUT:OUTPUT\n  fix: write two names, such as state:stateN"),
        (["--carry", "h:h_nex"], "the model has no output 'h_nex'\n  fix: did you mean 'h_next'?"),
        (["--scan", "x=first"], "'x=first' names no axis\n  fix: write NAME, or NAME=AXIS, such as x=1"),
    ],
)
def test_what_makes_no_loop_is_reported_and_nothing_written(whorl, saved, tmp_path, options, text):
    out = tmp_path / "loop.onnx"
    report = whorl("to-loop", saved(STEP), out, *options)
    assert report.code and report.err == f"whorl: {text}\n" and not out.exists()


def test_names_may_have_colons():
    module = package.load(STEP)
    module.main.arguments[1].name = "h:0"
    module.output_names[1] = "h_next:0"
    assert carried_of(["h:0:h_next:0", "x:y"], module) == {"h:0": "h_next:0", "x": "y"}


def test_names_may_have_signs_of_equality():
    assert axes_of(["x", "y=1", "z=-1", "a=b"], ["a=b"]) == {"x": 0, "y": 1, "z": -1, "a=b": 0}
