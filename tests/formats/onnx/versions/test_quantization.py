"""Quantization in old opsets."""

import numpy as np
import onnx
import pytest
from single_node import feeds, onnxruntime_run, single_node

import whorl
from whorl.errors import SaveError
from whorl.formats.onnx.dtypes import TO_ONNX
from whorl.ops.linear.quantization import DequantizeLinear, QuantizeLinear

X = np.linspace(-3, 9, 12, dtype=np.float32).reshape(3, 4)
SCALE = np.array(0.5, np.float32)
PER_AXIS = np.array([0.5, 1, 2, 4], np.float32)


def model_of(op_type, inputs, opset, dtype, **attributes):
    model = single_node(op_type, inputs, opset, **attributes)
    model.graph.output[0].type.tensor_type.elem_type = TO_ONNX[np.dtype(dtype)]
    return model


def written(model, opset, tmp_path):
    whorl.save(whorl.load(model), tmp_path / "m.onnx", opset=opset)
    proto = onnx.load(tmp_path / "m.onnx")
    onnx.checker.check_model(proto)
    onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True)
    return proto


def answer(model, inputs):
    return whorl.run(model, feeds(inputs))["y0"]


def test_type_number_0_asks_for_none():
    model = model_of("QuantizeLinear", [X, SCALE], 23, np.uint8, output_dtype=0, precision=0)
    assert answer(model, [X, SCALE]).dtype == np.uint8
    inputs = [X.astype(np.uint8), SCALE]
    assert answer(model_of("DequantizeLinear", inputs, 23, np.float32, output_dtype=0), inputs).dtype == np.float32


@pytest.mark.parametrize("opset", [10, 13, 19])
def test_output_dtype_becomes_a_zero_point_before_21(tmp_path, opset):
    scale = PER_AXIS if opset >= 13 else SCALE
    model = model_of("QuantizeLinear", [X, scale], 21, np.int8, output_dtype=TO_ONNX[np.dtype(np.int8)])
    old = written(model, opset, tmp_path)
    assert len(old.graph.node[0].input) == 3
    expected = QuantizeLinear(output_dtype=np.dtype(np.int8)).run(X, scale)
    np.testing.assert_array_equal(answer(old, [X, scale]), expected)
    np.testing.assert_array_equal(onnxruntime_run(old, feeds([X, scale]))[0], expected)


def test_x_is_cast_to_the_type_of_the_scale_before_23(tmp_path):
    inputs = [X, SCALE.astype(np.float16)]
    old = written(model_of("QuantizeLinear", inputs, 23, np.uint8), 21, tmp_path)
    assert [node.op_type for node in old.graph.node] == ["Cast", "QuantizeLinear"]
    np.testing.assert_array_equal(answer(old, inputs), QuantizeLinear().run(*inputs))


@pytest.mark.parametrize(
    ("attributes", "scale", "opset", "message"),
    [
        ({"precision": 10}, SCALE, 21, "divides in float16\n  fix: opset 23 or later can say it"),
        (
            {"block_size": 2},
            np.ones((3, 2), np.float32),
            19,
            "there is a scale for every block of 2\n  fix: opset 21 or later can say it",
        ),
        ({}, PER_AXIS, 12, "the scale is float32[4], not one number\n  fix: opset 13 or later can say it"),
    ],
)
def test_what_an_opset_cannot_say_is_an_error(tmp_path, attributes, scale, opset, message):
    model = model_of("QuantizeLinear", [X, scale], 23, np.uint8, **attributes)
    with pytest.raises(SaveError) as error:
        written(model, opset, tmp_path)
    assert str(error.value) == f"QuantizeLinear 'y0': {message}"


def test_zero_point_of_unknown_length_cannot_be_written_before_21(tmp_path):
    model = model_of("QuantizeLinear", [X, PER_AXIS], 21, np.int8, output_dtype=TO_ONNX[np.dtype(np.int8)])
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "N"
    with pytest.raises(SaveError) as error:
        written(model, 19, tmp_path)
    assert str(error.value) == (
        "QuantizeLinear 'y0': needs a zero point as long as the scale, float32[N]\n  fix: opset 21 or later can say it"
    )


@pytest.mark.parametrize(
    ("scale", "target"), [(np.float16, np.float32), (np.float32, np.float16), (np.float16, np.float16)]
)
def test_dequantized_type_is_reached_by_casts_before_23(tmp_path, scale, target):
    inputs = [np.arange(4, dtype=np.int8), np.array(0.3, scale)]
    op = DequantizeLinear(output_dtype=np.dtype(target))
    model = model_of("DequantizeLinear", inputs, 23, target, output_dtype=TO_ONNX[np.dtype(target)])
    old = written(model, 19, tmp_path)
    assert len(old.graph.node) == 1 + (scale != target)
    mine = answer(old, inputs)
    assert mine.dtype == target
    np.testing.assert_array_equal(mine, op.run(*inputs))
