"""Two models on random inputs of several lengths."""

import numpy as np
import pytest
from onnx_text import model

import whorl
from whorl.cli import verification
from whorl.cli.verification import verify


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """Without engines beside this one."""
    monkeypatch.setattr(verification, "ENGINES", ())


def double(text):
    return whorl.load(model(f"main (float[n, 3] x, int64 k) => (float[m, 3] y) {{ {text} }}"))


def test_equal_models_are_equal_at_every_length():
    verdict = verify(double("y = Add(x, x)"), double("two = Constant<value = float {2}> () y = Mul(x, two)"), {})
    assert verdict.difference == "" and verdict.engines == ["whorl"]
    assert [lengths["n"] for lengths in verdict.lengths] == [1, 0, 2, 5, 3]


def test_first_difference_names_length_engine_and_output():
    more = double("one = Constant<value = float {1}> () a = Add(x, x) y = Add(a, one)")
    verdict = verify(double("y = Add(x, x)"), more, {})
    assert verdict.difference.startswith("at n = 1: whorl: output 'y': ")


def test_failure_where_the_other_one_runs_is_a_difference():
    fails = double("i = Constant<value = int64[1] {7}> () y = Gather(x, i)")
    assert "fails" in verify(double("y = Add(x, x)"), fails, {}).difference


def test_lengths_that_the_first_one_refuses_do_not_count():
    first = double("i = Constant<value = int64[1] {1}> () a = Gather(x, i) y = Add(x, a)")
    verdict = verify(first, first, {})
    assert [lengths["n"] for lengths in verdict.lengths] == [2, 5, 3]


def test_inputs_that_are_fixed_are_fed_to_the_first_one_alone():
    before = whorl.load(model("main (float[n] x, float k) => (float[n] y) { y = Mul(x, k) }"))
    text = "main (float[n] x) => (float[n] y) { two = Constant<value = float {2}> () y = Mul(x, two) }"
    after = whorl.load(model(text))
    assert not verify(before, after, {"k": np.float32(2)}).difference
    assert verify(before, after, {"k": np.float32(3)}).difference


def test_engines_that_are_installed_run_the_second_one(monkeypatch):
    pytest.importorskip("onnxruntime", reason="compares with onnxruntime")
    monkeypatch.setattr(verification, "ENGINES", ("onnxruntime",))
    same = double("y = Add(x, x)")
    assert verify(same, same, {}).engines == ["whorl", "onnxruntime"]
