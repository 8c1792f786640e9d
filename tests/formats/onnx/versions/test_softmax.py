"""Softmax, LogSoftmax and Hardmax before 13."""

import numpy as np
import onnx
import pytest
from evaluation import evaluate, module_of, shaped, unranked
from single_node import onnxruntime_run, single_node

import whorl
from whorl.errors import SaveError
from whorl.ir.graph import REGISTRY
from whorl.ir.types import UNRANKED, TensorType

KINDS = ("Softmax", "LogSoftmax", "Hardmax")
X = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("attributes", "axis"), [({}, 1), ({"axis": 0}, 0), ({"axis": 2}, 2), ({"axis": -1}, 2), ({"axis": -2}, 1)]
)
def test_input_is_read_as_a_matrix(kind, attributes, axis):
    rows = X.reshape(int(np.prod(X.shape[:axis])), -1)
    expected = evaluate(REGISTRY[kind](axis=1), rows).reshape(X.shape)
    model = single_node(kind, [X], 11, **attributes)
    np.testing.assert_array_equal(whorl.run(model, {"x0": X})["y0"], expected)
    np.testing.assert_allclose(onnxruntime_run(model, {"x0": X})[0], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 4)])
def test_empty_input_is_read_and_written(tmp_path, kind, shape):
    x = np.zeros(shape, np.float32)
    assert whorl.run(single_node(kind, [x], 11), {"x0": x})["y0"].shape == shape
    whorl.save(module_of(REGISTRY[kind](axis=0), [x]), tmp_path / "m.onnx", opset=9)
    assert whorl.run(tmp_path / "m.onnx", {"x0": x})["y0"].shape == shape


def test_rank_may_be_unknown_when_read():
    model = single_node("Softmax", [X], 11)
    model.graph.input[0].type.tensor_type.ClearField("shape")
    module = whorl.load(model)
    assert module.main.results[0].type == TensorType(np.dtype(np.float32), UNRANKED)
    assert whorl.run(module, {"x0": X})["y0"].shape == X.shape


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("opset", [6, 10, 12, 13])
def test_every_axis_is_written_for_every_opset(tmp_path, kind, axis, opset):
    op = REGISTRY[kind](axis=axis)
    whorl.save(module_of(op, [X]), tmp_path / "m.onnx", opset=opset)
    model = onnx.load(tmp_path / "m.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert len(model.graph.node) == (1 if opset == 13 or axis % 3 == 2 else 3)
    expected = evaluate(op, X)
    np.testing.assert_allclose(whorl.run(model, {"x0": X})["y0"], expected, rtol=1e-6)
    if opset > 6:
        np.testing.assert_allclose(onnxruntime_run(model, {"x0": X})[0], expected, rtol=1e-5, atol=1e-6)


def test_axis_of_unknown_rank_is_written_where_it_can_be(tmp_path):
    last, first = (module_of(REGISTRY["Softmax"](axis=axis), [unranked()]) for axis in (-1, 0))
    whorl.save(last, tmp_path / "m.onnx", opset=11)
    for module, opset, message in (
        (last, 10, "axis -1 counts from the end of a tensor of unknown rank\n  fix: opset 11 or later can say it"),
        (first, 12, "axis 0 of a tensor of unknown rank may not be the last\n  fix: opset 13 or later can say it"),
    ):
        with pytest.raises(SaveError) as caught:
            whorl.save(module, tmp_path / "m.onnx", opset=opset)
        assert str(caught.value) == f"Softmax 'op': {message}"


def test_named_dims_are_written_between_transpositions(tmp_path):
    from whorl.ir import dims

    whorl.save(module_of(REGISTRY["Softmax"](axis=0), [shaped(dims.name("N"), 3)]), tmp_path / "m.onnx", opset=9)
    x = X[0]
    expected = evaluate(REGISTRY["Softmax"](axis=0), x[:, :3])
    np.testing.assert_allclose(whorl.run(tmp_path / "m.onnx", {"x0": x[:, :3]})["y0"], expected, rtol=1e-6)
