"""Digests of models and values: they change with any element, and with nothing else."""

import json

import numpy as np
import onnx
import pytest
from mdf.models import OSCILLATOR, data, model, node

import whorl
from whorl.api.models import load_module
from whorl.scoring.digests import digest_module, digest_simulated, digest_value

LARGE = np.arange(5000, dtype=np.float64)


def changed(values: np.ndarray) -> np.ndarray:
    """The same but for one element in the middle, which no short text of it shows."""
    other = values.copy()
    other[len(other) // 2] += 1e-12 if values.dtype == np.float64 else 1
    return other


@pytest.mark.parametrize(
    ("value", "other"),
    [
        (LARGE, changed(LARGE)),
        ([1, [LARGE]], [1, [changed(LARGE)]]),
        ({"a": LARGE}, {"a": changed(LARGE)}),
        (LARGE, LARGE.astype(np.float32)),
        (LARGE, LARGE.reshape(2, -1)),
        (np.float64(0.0), np.float64(-0.0)),
        (0, False),
        (1, "1"),
        (["ab", "c"], ["a", "bc"]),
        ([[1], 2], [[1, 2]]),
        (np.array(["a", "b"], object), np.array(["a", "c"], object)),
        (None, "None"),
    ],
)
def test_values_that_differ_have_other_digests(value, other):
    assert digest_value(value) != digest_value(other)


def test_equal_values_have_equal_digests():
    assert digest_value({"a": [LARGE, 1.5, "x"]}) == digest_value({"a": [LARGE.copy(), 1.5, "x"]})
    assert digest_value(LARGE[::2]) == digest_value(LARGE[::2].copy())


def test_arrays_of_other_packages_are_their_elements():
    class Foreign:
        def __init__(self, values: np.ndarray) -> None:
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return self.values

    assert digest_value(Foreign(LARGE)) == digest_value(LARGE) != digest_value(Foreign(changed(LARGE)))


def product(weights: np.ndarray) -> onnx.ModelProto:
    proto = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 21]> main (float[n] x) => (float[n] y) { y = Mul(x, w) }'
    )
    proto.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    return proto


def test_module_with_another_weight_has_another_digest():
    weights = np.arange(100_000, dtype=np.float32)
    one, same, other = (digest_module(load_module(product(w))) for w in (weights, weights.copy(), changed(weights)))
    assert one == same != other


def test_attributes_of_operators_that_are_no_constants_count():
    def trees(value: float) -> onnx.ModelProto:
        text = """<ir_version: 9, opset_import: ["" : 20, "ai.onnx.ml" : 3]>
        main (float[n, 2] x) => (float[n, 2] y) {
            y = ai.onnx.ml.Scaler <offset = [0.0, %s], scale = [1.0, 2.0]> (x)
        }"""
        return onnx.parser.parse_model(text % value)

    assert digest_module(load_module(trees(0.25))) != digest_module(load_module(trees(0.5)))


def test_simulated_model_with_another_element_has_another_digest():
    def cell(values: np.ndarray):
        return model({"cell": node({"I": {"value": values}}, ["I"])})

    assert digest_simulated(cell(LARGE)) == digest_simulated(cell(LARGE.copy()))
    assert digest_simulated(cell(LARGE)) != digest_simulated(cell(changed(LARGE)))


def test_arrays_in_a_file_beside_a_simulated_model_count(tmp_path):
    digests = []
    for values in (LARGE, changed(LARGE)):
        whorl.save(model({"cell": node({"I": {"value": values}}, ["I"])}), tmp_path / "m.json")
        digests.append(digest_simulated(whorl.load(tmp_path / "m.json")))
    assert digests[0] != digests[1]


def test_way_of_simulating_counts(tmp_path):
    path = tmp_path / "m.json"
    path.write_text(json.dumps(data(OSCILLATOR)))
    assert digest_simulated(whorl.load(path)) != digest_simulated(whorl.load(path, integrator="rk4"))
