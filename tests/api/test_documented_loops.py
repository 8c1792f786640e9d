"""The corpus of 24 loops and scans made from the ONNX documents: whole models with stored inputs and results."""

import json

import numpy as np
import pytest

import whorl

CASES = [
    "doc_M_cond",
    "doc_M_const_node",
    "doc_M_only",
    "doc_M_zero",
    "doc_cond_false_first",
    "doc_cond_only",
    "fib_two_states",
    "fn_2000_steps",
    "growing_state",
    "if_in_loop",
    "iter_three_scans",
    "nested_loop",
    "outer_scope_a",
    "repo_abc",
    "scan_axis1",
    "scan_axis_negative",
    "scan_bidirectional",
    "scan_cumsum",
    "scan_map",
    "scan_reverse_in",
    "scan_reverse_out",
    "scan_rnn_seed",
    "scan_zip_fold",
]
OMITTED_CONDITION, NO_STORED_RESULT = "doc_M_only", "scan_length_zero"


def outputs(folder, **options):
    """The outputs of a case by name, by way of a session."""
    names = json.loads((folder / "meta.json").read_text())["outputs"]
    chosen = whorl.SessionOptions()
    for option, value in options.items():
        setattr(chosen, option, value)
    with np.load(folder / "inputs.npz") as inputs:
        return dict(
            zip(names, whorl.InferenceSession(folder / "model.onnx", chosen).run(names, dict(inputs)), strict=True)
        )


@pytest.mark.parametrize("case", CASES)
def test_model_gives_the_stored_results(corpus, case):
    """Stored are onnxruntime's results, which stops a Loop without a condition input where its body says so."""
    folder = corpus / "mdf_loop" / case
    actual = outputs(folder, condition_when_omitted="honour" if case == OMITTED_CONDITION else "specification")
    with np.load(folder / "expected.npz") as expected:
        assert sorted(actual) == sorted(expected)
        for name, value in actual.items():
            assert (value.dtype, value.shape) == (expected[name].dtype, expected[name].shape)
            np.testing.assert_allclose(value, expected[name], rtol=1e-6, atol=0)


def test_loop_without_a_condition_input_ignores_what_its_body_says(corpus):
    actual = outputs(corpus / "mdf_loop" / OMITTED_CONDITION)
    assert actual["b_final"] == 6 and actual["users"].tolist() == [12, -6] * 5


def test_scan_of_length_zero_keeps_its_state(corpus):
    actual = outputs(corpus / "mdf_loop" / NO_STORED_RESULT)
    assert actual["sf"].tolist() == [1, 1] and actual["Y"].shape == (0, 2) and actual["Y"].dtype == np.float32


def test_every_case_of_the_corpus_is_here(corpus):
    folders = {folder.name for folder in (corpus / "mdf_loop").iterdir() if folder.is_dir()}
    assert folders == {*CASES, NO_STORED_RESULT}
