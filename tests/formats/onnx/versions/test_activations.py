"""Activation functions in old opsets, spelled out where there is no node for them."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from msgspec.structs import asdict
from single_node import feeds, onnxruntime_run, single_node

import whorl
from whorl.errors import SaveError
from whorl.ops.elementwise.nonlinear import Celu, Gelu, HardSwish, Mish, PRelu, Selu, SwiGLU, Swish

SPELLED = [
    (HardSwish(), 14, 13),
    (HardSwish(), 14, 6),
    (Mish(), 18, 17),
    (Celu(2.0), 12, 11),
    (Celu(2.0), 12, 6),
    (Gelu(), 20, 19),
    (Gelu(), 20, 9),
    (Gelu("tanh"), 20, 6),
    (Swish(0.5), 24, 23),
    (Swish(), 24, 6),
    (SwiGLU(2.0), 28, 27),
]


def model_of(op, inputs, opset):
    model = single_node(op.name, inputs, opset, **asdict(op))
    model.graph.output[0].type.tensor_type.elem_type = onnx.helper.np_dtype_to_tensor_dtype(inputs[0].dtype)
    return model


def written(model, opset, tmp_path):
    whorl.save(whorl.load(model), tmp_path / "m.onnx", opset=opset)
    proto = onnx.load(tmp_path / "m.onnx")
    onnx.checker.check_model(proto)
    onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True)
    return proto


@pytest.mark.parametrize(("op", "since", "opset"), SPELLED, ids=str)
def test_function_is_spelled_out_below_its_first_opset(tmp_path, op, since, opset):
    x = np.linspace(-6, 6, 24, dtype=np.float32).reshape(2, 12)
    inputs = [x, x[::-1].copy()][: 2 if op.name == "SwiGLU" else 1]
    model = written(model_of(op, inputs, since), opset, tmp_path)
    assert op.name not in [node.op_type for node in model.graph.node]
    expected = op.run(*inputs)
    np.testing.assert_allclose(whorl.run(model, feeds(inputs))["y0"], expected, rtol=1e-5, atol=1e-6)
    if 7 <= opset <= 24:
        np.testing.assert_allclose(onnxruntime_run(model, feeds(inputs))[0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("op", "since"), [(Mish(), 22), (Swish(0.5), 24), (Celu(0.5), 28)], ids=str)
def test_narrow_floats_are_spelled_out_in_float32(tmp_path, op, since):
    for dtype in (np.float16, ml_dtypes.bfloat16):
        x = np.linspace(-6, 6, 99).astype(dtype)
        model = written(model_of(op, [x], since), 17, tmp_path)
        kinds = [node.op_type for node in model.graph.node]
        assert kinds[0] == kinds[-1] == "Cast"
        mine = whorl.run(model, feeds([x]))["y0"]
        assert mine.dtype == dtype
        apart = np.abs(mine.view(np.int16).astype(int) - op.run(x).view(np.int16).astype(int))
        assert apart.max() <= 1


def test_celu_of_a_negative_alpha_cannot_be_spelled_out(tmp_path):
    with pytest.raises(SaveError) as error:
        written(model_of(Celu(-1.0), [np.ones(3, np.float32)], 12), 11, tmp_path)
    assert str(error.value) == "Celu 'y0': alpha is -1.0\n  fix: opset 28 or later can say it"


@pytest.mark.parametrize("opset", [1, 6])
@pytest.mark.parametrize("length", [1, 3])
def test_prelu_slope_lies_under_axis_1(opset, length):
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(2, 3, 4)).astype(np.float32), rng.normal(size=length).astype(np.float32)
    model = single_node("PRelu", inputs, opset)
    mine = whorl.run(model, feeds(inputs))["y0"]
    np.testing.assert_array_equal(mine, PRelu().run(inputs[0], inputs[1].reshape(length, 1)))


@pytest.mark.parametrize(("shape", "flat"), [((3, 1), 3), ((1, 3, 1), 3), ((), 1), ((1, 1), 1)])
def test_prelu_slope_is_flattened_for_opset_6(tmp_path, shape, flat):
    inputs = np.linspace(-3, 3, 24, dtype=np.float32).reshape(2, 3, 4), np.full(shape, 0.5, np.float32)
    model = written(single_node("PRelu", inputs, 16), 6, tmp_path)
    assert [node.op_type for node in model.graph.node] == ["Reshape", "PRelu"]
    np.testing.assert_array_equal(whorl.run(model, feeds(inputs))["y0"], PRelu().run(*inputs))
    (shape_source,) = (onnx.numpy_helper.to_array(i) for i in model.graph.initializer)
    assert shape_source.tolist() == [flat]


def test_prelu_slope_along_another_axis_cannot_be_written_for_opset_6(tmp_path):
    inputs = np.ones((2, 3, 4), np.float32), np.ones(4, np.float32)
    with pytest.raises(SaveError) as error:
        written(single_node("PRelu", inputs, 16), 6, tmp_path)
    assert str(error.value) == "PRelu 'y0': the slope differs along axes [2]\n  fix: opset 7 or later can say it"


def test_selu_1_has_defaults_of_four_locations():
    x = np.array([-1, 1], np.float32)
    mine = whorl.run(single_node("Selu", [x], 1, consumed_inputs=[0]), feeds([x]))["y0"]
    np.testing.assert_allclose(mine, [1.0507 * 1.6732 * np.expm1(-1), 1.0507], rtol=1e-6)
    assert not np.array_equal(mine, Selu().run(x))


def test_hard_sigmoid_1_reads_its_attributes():
    x = np.array([0, 9], np.float32)
    mine = whorl.run(single_node("HardSigmoid", [x], 1, alpha=0.1, beta=0.25, consumed_inputs=[0]), feeds([x]))["y0"]
    assert mine.tolist() == [0.25, 1]
