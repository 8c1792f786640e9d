"""`whorl extract`: the model, the test data, and what is refused."""

import pytest
from traced_models import NESTED

INPUTS = "--input", "n=4", "--input", "x=[1, 2, 0.5]"


def test_body_is_written_with_the_data_of_an_iteration(whorl, saved, tmp_path):
    out = tmp_path / "body" / "inner.onnx"
    out.parent.mkdir()
    report = whorl("extract", saved(NESTED), "--body", "inner", "-o", out, "--at", "3,1", *INPUTS)
    assert report.out.splitlines() == [
        "input   j: int64[]",
        "input   p: bool[]",
        "input   u: float32[3]",
        "output  q: bool[]",
        "output  v: float32[3]",
        f"wrote {out}",
        f"wrote {out.parent / 'test_data_set_0'}",
    ]
    report = whorl("run", out)
    assert (report.code, report.out) == (0, "test_data_set_0: q: equal\ntest_data_set_0: v: equal\n")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (INPUTS, "whorl: --input is for the run that --at makes\n  fix: add --at ITERATION\n"),
        (
            ("--at", "3,1", "-o", "b.xml"),
            "whorl: --at writes data of ONNX, and 'b.xml' is no .onnx\n  fix: name OUT.onnx\n",
        ),
    ],
)
def test_options_that_do_not_apply_are_refused(whorl, saved, tmp_path, options, text):
    report = whorl("extract", saved(NESTED), "--body", "inner", "-o", tmp_path / "b.onnx", *options)
    assert (report.code, report.err) == (2, text)


def test_iteration_that_is_no_number_is_refused(whorl, saved):
    report = whorl("extract", saved(NESTED), "--body", "inner", "-o", "b.onnx", "--at", "last")
    assert report.code == 2 and "'last' names no iteration, such as 3, or 3,1 in a loop in a loop" in report.err
