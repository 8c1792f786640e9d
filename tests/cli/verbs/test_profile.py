"""`whorl profile`: the table, the files and the document."""

import json

from traced_models import NESTED

INPUTS = "--input", "n=4", "--input", "x=[1, 2, 0.5]"


def test_profile_is_a_table_of_the_nodes_of_all_regions(whorl, saved, tmp_path):
    flame, chrome = tmp_path / "f.svg", tmp_path / "c.json"
    report = whorl("profile", saved(NESTED), *INPUTS, "--flame", flame, "--chrome", chrome)
    assert report.code == 0, report.err
    lines = report.out.splitlines()
    assert lines[0].startswith("a run takes ")
    assert lines[1] == "  share         ms     times     ns each     bytes  how         node"
    assert lines[2].startswith(" 100.0%") and lines[2].endswith("  native      Loop 'outer'")
    assert lines[-2:] == [f"wrote {chrome}", f"wrote {flame}"]
    assert flame.read_text().startswith("<svg ")
    names = {event["name"] for event in json.loads(chrome.read_text())["traceEvents"]}
    assert {"Loop 'outer'", "Loop 'inner'", "Mul 'r'"} <= names


def test_document_has_the_tree(whorl, saved):
    document = whorl("profile", saved(NESTED), *INPUTS, "--json").document
    (outer,) = document["nodes"]
    assert (outer["title"], outer["times"], round(outer["share"], 6)) == ("Loop 'outer'", 1, 1.0)
    assert [each["title"] for each in outer["inside"]] == [
        "Identity 'h'",
        "Concat 'longer'",
        "Loop 'inner'",
        "end of the iteration",
    ]


def test_other_endings_are_refused(whorl, saved):
    report = whorl("profile", saved(NESTED), *INPUTS, "--flame", "f.png")
    assert (report.code, report.err) == (2, "whorl: 'f.png' does not end in .svg\n")
