"""`whorl embed`: what it prints."""

import re

from onnx_text import model

TWO = """
    main (float[n] x, int64 count, bool b) => (float[n] y, seq(float[n]) s) {
        [add] y = Loop (count, "", x) <body = step (int64 i, bool go, float[n] h) => (bool on, float[n] a) {
            on = Identity(go)
            a = Add(h, x)
        }>
        [pick] s = If (b) <
            then_branch = yes () => (seq(float[n]) u) { u = SequenceConstruct(x) },
            else_branch = no () => (seq(float[n]) v) { v = SequenceConstruct(x, x) }>
    }"""


def test_embed_tells_what_became_of_each_region(whorl, saved, tmp_path):
    report = whorl("embed", saved(model(TWO)), "-o", tmp_path / "out.onnx")
    assert (report.code, report.err) == (0, "")
    assert re.fullmatch(
        rf"wrote {tmp_path}/out.onnx: 1 of 2 loops and branches are in {tmp_path}/out.whorl.\w+\n"
        r"embedded  Loop 'add' as add_[0-9a-f]{12}\n"
        r"stays     If 'pick': 's' is seq\(float32\[n\]\), and libraries take only tensors\n",
        report.out,
    )


def test_embed_as_json_of_one_loop(whorl, saved, tmp_path):
    report = whorl("embed", saved(model(TWO)), "-o", tmp_path / "out.onnx", "--only", "pick", "--json")
    assert report.document["library"] == ""
    assert [region["title"] for region in report.document["regions"]] == ["Loop 'add'", "If 'pick'"]
    assert report.document["regions"][0]["reason"] == "was to stay"


def test_embed_refuses_a_name_that_no_loop_has(whorl, saved, tmp_path):
    report = whorl("embed", saved(model(TWO)), "-o", tmp_path / "out.onnx", "--keep", "sum")
    assert report.err.endswith("no outermost loop or branch is named 'sum'\n  fix: choose from add, pick\n")


def test_report_is_a_table_and_a_document(whorl, saved, tmp_path):
    inputs = ("--dim", "n=8", "--input", "count=50", "--input", "b=True")
    report = whorl("embed", saved(model(TWO)), "-o", tmp_path / "out.onnx", "--report", *inputs)
    assert (report.code, report.err) == (0, "")
    heads, row = report.out.splitlines()[-2:]
    assert heads.split() == ["loop", "or", "branch", "iterations", "ns", "before", "ns", "after", "times"]
    assert re.fullmatch(r"Loop 'add' +50 +\d+ +\d+ +\d+(\.\d+)?", row)
    report = whorl("embed", saved(model(TWO)), "-o", tmp_path / "again.onnx", "--report", "--all", "--json", *inputs)
    measured = [region["measured"] for region in report.document["regions"]]
    assert measured[0]["iterations"] == 50 and measured[0]["before_ns"] > measured[0]["after_ns"]
    assert measured[1] is None


def test_inputs_are_for_the_report_alone(whorl, saved, tmp_path):
    report = whorl("embed", saved(model(TWO)), "-o", tmp_path / "out.onnx", "--all")
    assert report.err.endswith("--all is for what --report measures\n  fix: leave out --all\n")
