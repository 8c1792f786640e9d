"""`whorl optimize`: what it writes, prints and refuses."""

import re

import onnx
import pytest
from onnx_text import model

CHAIN = model("""main (float[2] x) => (float[2] y) <float[2] a = {1, 4}, float[2] n = {1, -1}> {
    b = Sqrt (a)
    c = Add (b, b)
    y = Mul (x, c)
}""")


def test_model_is_written_and_figures_are_printed(whorl, saved, tmp_path):
    path, out = saved(CHAIN), tmp_path / "out.onnx"
    report = whorl("optimize", path, out)
    assert report.code == 0 and [node.op_type for node in onnx.load(out).graph.node] == ["Mul"]
    first, second, *rest = report.out.splitlines()
    before, after = path.stat().st_size, out.stat().st_size
    assert first == f"wrote {out}: 3 nodes before, 1 after; {before} bytes before, {after} after"
    assert re.fullmatch(
        r"[\d.]+ s of CPU, \d+ MiB of memory at most, 0 MiB of folded constants, 0 MiB in a temporary file", second
    )
    table = ["  op    before   after", "  Add        1       0", "  Sqrt       1       0"]
    assert rest == table
    reported = whorl("optimize", path, out, "--report")
    assert reported.code == 0 and reported.out.splitlines()[2:] == [
        "constprop report (cumulative), entries, 2 total invocations, 6 input elements",
        "  ElementwiseBinary: 1 invocations, 4 input elements",
        "  ElementwiseUnary: 1 invocations, 2 input elements",
        *table,
    ]
    assert whorl("optimize", path, out, "--report", "text").out.splitlines()[2:] == reported.out.splitlines()[2:]


@pytest.mark.parametrize("how", [["--report", "json"], ["--json"]])
def test_report_as_json_says_what_was_not_folded_and_why(whorl, saved, tmp_path, how):
    report = whorl("optimize", saved(CHAIN), tmp_path / "out.onnx", "--disable", "Sqrt", *how)
    document = report.document
    assert document["nodes"] == {"before": 3, "after": 3} and document["peak_memory"] > 0
    assert {(each["op"], each["reason"]) for each in document["skipped"]} == {("Sqrt", "disabled")}


def test_limit_and_only(whorl, saved, tmp_path):
    path, out = saved(CHAIN), tmp_path / "out.onnx"
    assert whorl("optimize", path, out, "--limit", 1, "--json").document["nodes"]["after"] == 2
    assert whorl("optimize", path, out, "--only", "dce", "--json").document["nodes"]["after"] == 3
    report = whorl("optimize", path, out, "--only", "fold")
    assert report.code == 6 and report.err.startswith(
        "whorl: there is no pass 'fold'\n  fix: choose from fold_constants,"
    )


def test_unknown_name_to_disable_is_refused(whorl, saved, tmp_path):
    report = whorl("optimize", saved(CHAIN), tmp_path / "out.onnx", "--disable", "Sqr")
    assert report.code == 6 and not (tmp_path / "out.onnx").exists()
    assert report.err == (
        "whorl: no pass, rule or op is called 'Sqr', which --disable, in Python disabled, names\n"
        "  fix: did you mean 'Sqrt'?\n"
    )


@pytest.mark.parametrize(
    ("text", "fits"), [("512M", True), ("1g", True), ("70000", True), ("many", False), ("5T", False)]
)
def test_memory_budget_is_a_size(whorl, saved, tmp_path, text, fits):
    report = whorl("optimize", saved(CHAIN), tmp_path / "out.onnx", "--memory-budget", text)
    assert report.code == (0 if fits else 2)
    assert fits or f"{text!r} is not a size such as 512M" in report.err


def test_output_without_a_known_ending_is_refused_before_anything_is_read(whorl, tmp_path):
    report = whorl("optimize", tmp_path / "missing.onnx", "out.txt")
    assert (report.code, report.err) == (
        6,
        "whorl: 'out.txt' has no ending whorl can write\n"
        "  fix: end it in .onnx, .onnxtxt, .mlir, .xml, .json, .yaml or .yml\n",
    )
