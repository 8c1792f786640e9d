"""Modules saved as MDF: a node for each operator."""

from pathlib import Path

import numpy as np
from onnx_text import model

import whorl


def test_module_becomes_a_model_that_computes_the_same(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    module = whorl.load(model("main (float[2] x) => (float[2] y) { s = Neg (x) y = Exp (s) }"))
    whorl.save(module, path)
    assert "onnx::Neg" in path.read_text() and "onnx::Exp" in path.read_text()
    x = np.array([0.0, 1.0], np.float32)
    (expected,) = whorl.run(module, {"x": x}).values()
    (actual,) = whorl.run(path, {"x": x}).values()
    np.testing.assert_array_equal(actual, expected)
