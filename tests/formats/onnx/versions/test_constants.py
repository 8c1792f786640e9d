"""Constant in all its forms, and inputs that older versions have as attributes."""

import numpy as np
import onnx
import pytest
from formats.onnx import nodes_text
from single_node import feeds, single_node

import whorl
from whorl.errors import LoadError


def ints(*numbers):
    return np.array(numbers, np.int64)


def declare(model, op_type):
    """Correct the declared element types of outputs that are positions or lengths."""
    for k in {"TopK": [1], "Shape": [0]}.get(op_type, []):
        model.graph.output[k].type.tensor_type.elem_type = onnx.TensorProto.INT64


def run_old(op_type, inputs, opset, outputs=1, **attributes):
    """What whorl makes of a node of an old opset."""
    model = single_node(op_type, inputs, opset, outputs, **attributes)
    declare(model, op_type)
    settings = whorl.run(model, feeds(inputs))
    return [settings[f"y{k}"].tolist() for k in range(outputs)]


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"value_float": 1.5}, np.array(1.5, np.float32)),
        ({"value_floats": [1.5, 2.0]}, np.array([1.5, 2], np.float32)),
        ({"value_int": -3}, np.array(-3)),
        ({"value_ints": [1, 2]}, ints(1, 2)),
        ({"value_string": "ab"}, np.array("ab", dtype=object)),
        ({"value_strings": ["a", "b"]}, np.array(["a", "b"], dtype=object)),
        ({"value": onnx.numpy_helper.from_array(np.array([True]))}, np.array([True])),
    ],
)
def test_constant_in_all_its_forms(attributes, expected):
    model = single_node("Constant", [], 13, **attributes)
    model.graph.output[0].type.tensor_type.elem_type = onnx.helper.np_dtype_to_tensor_dtype(expected.dtype)
    settings = whorl.run(model, {})["y0"]
    assert (
        settings.dtype == expected.dtype and settings.shape == expected.shape and settings.tolist() == expected.tolist()
    )


def test_constant_from_a_sparse_tensor():
    values = onnx.helper.make_tensor("v", onnx.TensorProto.FLOAT, [2], [5.0, 6.0])
    positions = onnx.helper.make_tensor("i", onnx.TensorProto.INT64, [2], [1, 3])
    sparse = onnx.helper.make_sparse_tensor(values, positions, [2, 2])
    assert run_old("Constant", [], 11, sparse_value=sparse) == [[[0, 5], [0, 6]]]


def test_constant_needs_one_value():
    with pytest.raises(LoadError) as caught:
        whorl.load(single_node("Constant", [], 13, value_int=1, value_float=1.0))
    assert "needs one attribute that says its value, has value_float, value_int" in str(caught.value)


def test_constant_without_a_value_is_refused():
    with pytest.raises(LoadError) as caught:
        whorl.load(single_node("Constant", [], 13))
    assert str(caught.value) == "Constant 'y0': needs one attribute that says its value, has none"


@pytest.mark.parametrize("opset", [9, 12])
def test_list_that_inference_knows_serves_as_an_attribute(opset):
    """The lengths are fixed, so the axes that are computed from them are known."""
    text = """
        main(%x: float32[1, 2]) {
            %shape: int64[1] = Shape(%x) {start = 0, end = 1}
            %y: float32[1, 1, 2] = Unsqueeze "u" (%x, %shape)
            return y = %y
        }"""
    assert "[u] y = Unsqueeze <axes: ints = [1]> (x)" in nodes_text.written(text, opset)


def test_list_that_a_run_computes_is_refused():
    text = """
        main(%x: float32[1, 2], %axes: int64[1]) {
            %y: float32[a, b, c] = Unsqueeze "u" (%x, %axes)
            return y = %y
        }"""
    assert nodes_text.refused_to_write(text, 12) == (
        "Unsqueeze 'u': the input 'axes' is computed at run time\n  fix: opset 13 or later can say it"
    )
