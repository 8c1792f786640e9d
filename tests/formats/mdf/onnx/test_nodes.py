"""Operators of an ONNX model as nodes of MDF."""

import numpy as np
import onnx
import pytest
from formats.mdf.onnx.test_importer import evaluated, parsed

from whorl.errors import UnsupportedError
from whorl.formats.mdf.onnx.importer import model_from_onnx


def test_operators_that_mdf_has_not_are_named():
    text = 'net (float[1, 2] x) => (float[1, 2] y) { y = ai.onnx.ml.Normalizer<norm = "L1">(x) }'
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 15, "ai.onnx.ml" : 3]>\n{text}')
    with pytest.raises(UnsupportedError, match="MDF has no function for Normalizer"):
        model_from_onnx(model)


def test_ports_that_are_called_like_attributes_are_no_attributes(tmp_path):
    model = parsed(
        "net (float[1, 2] max, float[1, 2] axis) => (float[1, 2] y) { s = Softmax(axis) c = Clip(max) y = Add(s, c) }"
    )
    feeds = {"max": np.array([[1, 9]], np.float32), "axis": np.zeros((1, 2), np.float32)}
    np.testing.assert_allclose(evaluated(model, feeds, tmp_path / "m.json")[0], [[1.5, 9.5]])
