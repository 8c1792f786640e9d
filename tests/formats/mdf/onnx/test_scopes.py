"""Ids of a model: names that Python cannot read become ids that it can."""

import numpy as np
from formats.mdf.onnx.test_importer import FLAT, evaluated

import whorl
from whorl.formats.mdf.onnx.importer import model_from_onnx


def test_flat_graph_with_names_that_are_not_python(tmp_path):
    x, w = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, 0, -1], np.float32)
    actual = evaluated(FLAT, {"x.1": x, "/w": w}, tmp_path / "m.json")
    expected = whorl.run(FLAT, {"x.1": x, "/w": w})
    for value, required in zip(actual, expected.values(), strict=True):
        np.testing.assert_allclose(value, required, rtol=1e-6)
    model = model_from_onnx(FLAT)
    assert all(port.isidentifier() for node in model.graphs["net"].nodes.values() for port in node.output_ports)
