"""`whorl deloop`: what it writes, and what it says of loops that stay."""

import json
import re
import shlex

import onnx
import pytest
from onnx_text import ROLLOUT, model


def test_model_without_loops_is_written(whorl, saved, tmp_path):
    out = tmp_path / "flat.onnx"
    report = whorl("deloop", saved(ROLLOUT), out, "--input", "count=3")
    nodes = onnx.load(out).graph.node
    assert report.code == 0 and "Loop" not in {node.op_type for node in nodes}
    lines = report.out.splitlines()
    assert lines[0] == "removed  Loop 'rollout': all iterations at once, 'sum' as a sum"
    assert lines[-1].startswith(f"wrote {out}: ") and "no loop and no branch" in lines[-1]


STEPS = model("""main (int64 count, float[2] x) => (float[2] y) {
    [steps] y = Loop (count, , x) <body = step (int64 i, bool g, float[2] s) => (bool h, float[2] t) {
        h = Identity(g)
        t = Exp(s)
    }>
}""")


def test_loop_that_remains_is_named_and_nothing_written(whorl, saved, tmp_path):
    out = tmp_path / "flat.onnx"
    report = whorl("deloop", saved(STEPS), out)
    assert report.code == 6 and not out.exists()
    assert report.err == (
        "whorl: control flow remains:\n"
        "  Loop 'steps': the number of its iterations is known only when it runs; "
        "not all iterations at once: carried value 's' has no closed form\n"
        "  fix: try --input count=8, in Python inputs={'count': 8}\n"
    )


LENGTHS = model("""main (float[T, 2] x, int64[1] n) => (float[T, 2] y) {
    shape = Shape<end = 1>(x)
    one = Constant<value = int64[1] {1}> ()
    steps = Sub(shape, one)
    [outer] y = Loop (steps, , x) <body = a (int64 i, bool g, float[T, 2] s) => (bool h, float[T, 2] t) {
        h = Identity(g)
        [inner] t = Loop (n, , s) <body = b (int64 j, bool p, float[T, 2] u) => (bool q, float[T, 2] v) {
            q = Identity(p)
            v = Exp(u)
        }>
    }>
}""")


@pytest.mark.parametrize("proto", [STEPS, LENGTHS], ids=["input", "length and input"])
def test_fix_of_the_error_removes_the_loops(whorl, saved, tmp_path, proto):
    command = "deloop", saved(proto), tmp_path / "flat.onnx"
    flags = re.search(r"fix: try (.*), in Python", whorl(*command).err)
    report = whorl(*command, *shlex.split(flags[1]))
    assert (report.code, report.err) == (0, "")


def test_fix_allows_as_many_iterations_as_there_are(whorl, saved, tmp_path):
    command = "deloop", saved(STEPS), tmp_path / "flat.onnx", "--input", "count=9", "--max-iterations", 4
    report = whorl(*command)
    assert report.err.endswith("  fix: try --max-iterations 9, in Python max_iterations=9\n")
    assert whorl(*command, "--max-iterations", 9).code == 0


TWO = model("""main (float[n, 3] x, float[3] h) => (float[n, 3] y, float[3] z) {
    [map] y = Scan (x) <num_scan_inputs = 1, body = a (float[3] v) => (float[3] w) { w = Exp(v) }>
    [chain] z = Scan (h, x) <num_scan_inputs = 1, body = b (float[3] s, float[3] v) => (float[3] t) {
        p = Mul(s, v)
        t = Tanh(p)
    }>
}""")


def test_report_says_what_each_loop_became_and_who_agrees(whorl, saved, tmp_path):
    out = tmp_path / "flat.onnx"
    report = whorl("deloop", saved(TWO), out, "--partial")
    assert report.code == 0
    lines = report.out.splitlines()
    assert lines[0] == "removed  Loop 'map': all iterations at once"
    assert lines[1].startswith("remains  Loop 'chain': the number of its iterations is known only when it runs")
    assert lines[2].startswith("equal    in whorl") and lines[2].endswith(": 5 random runs")
    assert "1 loops and branches left" in lines[-1] and "equal" not in lines[-1]
    assert [node.op_type for node in onnx.load(out).graph.node] == ["Exp", "Scan"]


def test_report_as_json(whorl, saved, tmp_path):
    document = whorl("deloop", saved(TWO), tmp_path / "flat.onnx", "--partial", "--json", "--no-verify").document
    assert document["removed"] == {"Loop 'map'": "all iterations at once"}
    assert list(document["remaining"]) == ["Loop 'chain'"] and document["verified"] is None
    assert document["onnxruntime"] is None


def test_only_the_loops_that_are_named_go(whorl, saved, tmp_path):
    out = tmp_path / "flat.onnx"
    assert whorl("deloop", saved(TWO), out, "--only", "map").code == 0
    assert [node.op_type for node in onnx.load(out).graph.node] == ["Exp", "Scan"]
    report = whorl("deloop", saved(TWO), out, "--only", "mapp")
    assert report.code and "no loop or branch is called 'mapp'" in report.err
    assert "did you mean 'map'?" in report.err
    assert "choose from chain, map, y, z" in whorl("deloop", saved(TWO), out, "--only", "other").err


LARGEST = model("""main (float[n, 3] x, float[3] low) => (float[n, 3] y) {
    t, y = Scan (low, x) <num_scan_inputs = 1, body = each (float[3] s, float[3] v) => (float[3] u, float[3] w) {
        u = Max(s, v) w = Identity(u)
    }>
}""")


def test_loop_that_onnxruntime_is_faster_with_goes_where_runs_are_long_or_a_target_is_named(whorl, saved, tmp_path):
    command = "deloop", saved(LARGEST), tmp_path / "flat.onnx"
    report = whorl(*command, "--expect", "n=2")
    assert report.code == 6 and "slower in onnxruntime without it" in report.err and "at n = 2" in report.err
    assert "fix: try --target any, in Python target='any'" in report.err
    for options in (("--expect", "n=1000"), ("--expect", "n=2", "--target", "any")):
        assert whorl(*command, *options, "--no-verify").code == 0


def test_expected_length_of_no_dim_is_refused(whorl, saved, tmp_path):
    report = whorl("deloop", saved(LARGEST), tmp_path / "flat.onnx", "--expect", "m=1000")
    what = "no dim is called 'm', whose length --expect, in Python expected, says"
    assert report.code == 6 and report.err == f"whorl: {what}\n  fix: choose from n\n"


def test_times_before_and_after_are_of_onnxruntime_at_expected_lengths(whorl, saved, tmp_path):
    pytest.importorskip("onnxruntime", reason="onnxruntime has no wheel for this platform")
    command = "deloop", saved(LARGEST), tmp_path / "flat.onnx", "--expect", "n=1000"
    (line,) = (line for line in whorl(*command).out.splitlines() if line.startswith("time"))
    assert re.fullmatch(r"time     in onnxruntime at n = 1000: [0-9.]+ µs before, [0-9.]+ µs after", line)
    times = json.loads(whorl(*command, "--json").out)["onnxruntime"]
    assert times["lengths"] == {"n": 1000} and 0 < times["after"] < times["before"]
