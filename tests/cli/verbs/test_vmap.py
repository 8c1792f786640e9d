"""`whorl vmap`: what it writes, and what it says of models that cannot be mapped."""

import json

import onnx
import pytest
from onnx_text import model

DENSE = model("main (float[n, 2] x, float[2] w) => (float[n, 2] y) { y = Mul(x, w) }")


def shapes(path):
    graph = onnx.load(path).graph
    dims = [value.type.tensor_type.shape.dim for value in (*graph.input, *graph.output)]
    return [[dim.dim_param or dim.dim_value for dim in each] for each in dims]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], [["batch", "n", 2], ["batch", 2], ["batch", "n", 2]]),
        (["--axis", "x=1"], [["n", "batch", 2], [2], ["batch", "n", 2]]),
        (["--axis", "w=-1", "--axis", "x=none", "--name", "b"], [["n", 2], [2, "b"], ["b", "n", 2]]),
        (["--out-axis", "y=2"], [["batch", "n", 2], ["batch", 2], ["n", 2, "batch"]]),
    ],
)
def test_model_of_many_rows_is_written(whorl, saved, tmp_path, options, expected):
    out = tmp_path / "rows.onnx"
    report = whorl("vmap", saved(DENSE), out, *options)
    assert (report.code, report.err) == (0, "") and report.out.startswith(f"wrote {out}: ")
    assert shapes(out) == expected


def test_document_says_what_was_written(whorl, saved, tmp_path):
    out = tmp_path / "rows.onnx"
    document = json.loads(whorl("vmap", saved(DENSE), out, "--json").out)
    assert document["output"] == str(out) and document["bytes"] == out.stat().st_size


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--axis", "x"], "'x' names no axis\n  fix: write NAME=AXIS, such as x=0, or x=none"),
        (["--axis", "z=0"], "the model has no input 'z'\n  fix: choose from x, w"),
        (["--name", "n"], "the model has a dim 'n'\n  fix: give the rows another name"),
    ],
)
def test_what_cannot_be_mapped_is_reported_and_nothing_written(whorl, saved, tmp_path, options, text):
    out = tmp_path / "rows.onnx"
    report = whorl("vmap", saved(DENSE), out, *options)
    assert report.code and report.err == f"whorl: {text}\n" and not out.exists()
