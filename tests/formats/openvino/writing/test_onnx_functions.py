"""Ops that OpenVINO lacks and ONNX defines by a function."""

import subprocess
import sys
from pathlib import Path

import pytest
from formats.openvino.net_text import refused_to_write, written
from formats.openvino.onnx_models import module_of

import whorl
from whorl.errors import SaveError

TESTS = Path(__file__).parents[3]


def test_an_op_without_a_form_is_refused_with_its_position(tmp_path):
    text = """g (int64 n) => (float[K,2] y) {
      y = Loop(n, "") <body = b (int64 i, bool c) => (bool c2, float[2] e) {
        e = RandomNormal<shape = [2], seed = 1.0>() c2 = Identity(c) }> }"""
    with pytest.raises(SaveError) as caught:
        whorl.save(module_of(text), tmp_path / "m.xml")
    assert str(caught.value) == (
        "RandomNormal 'e' in body of Loop: OpenVINO has no form for RandomNormal\n"
        "  fix: write it as .onnx, or without this op"
    )


def test_op_that_onnx_defines_by_others_is_written_as_these() -> None:
    text = """
        main(%x: float32[2, 3], %t: int64[2]) {
            %y: float32[] = NegativeLogLikelihoodLoss(%x, %t)
            return y = %y
        }"""
    kinds = [line.partition("-")[0] for line in written(text)]
    assert [kind for kind in kinds if kind in ("GatherElements", "Negative", "ReduceMean")] == [
        "GatherElements",
        "Negative",
        "ReduceMean",
    ]


def test_definition_with_branches_is_written_too() -> None:
    """Whether or not a model of ONNX was read before."""
    text = """
        main(%x: float32[1, 2, 3], %size: int64[4]) {
            %y: float32[a, b, c, 2] = AffineGrid(%x, %size)
            return y = %y
        }"""
    program = f"from formats.openvino.net_text import written; print(*written({text!r}), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", program], cwd=TESTS, capture_output=True, text=True, check=True)
    assert "MatMul-1(" in done.stdout


def test_op_without_a_definition_is_refused_by_name() -> None:
    text = """
        main(%x: string[2]) {
            %y: string[2] = StringNormalizer "s" (%x)
            return y = %y
        }"""
    assert refused_to_write(text) == (
        "StringNormalizer 's': OpenVINO has no form for StringNormalizer\n  fix: write it as .onnx, or without this op"
    )
