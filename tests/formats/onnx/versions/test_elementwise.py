"""Arithmetic, comparison and Clip in old opsets."""

import numpy as np
import onnx
import pytest
from single_node import feeds, onnxruntime_run, single_node

import whorl
from whorl.errors import SaveError

INF, NAN = np.inf, np.nan


def model_of(op_type, inputs, opset, dtype=np.float32, **attributes):
    model = single_node(op_type, inputs, opset, **attributes)
    model.graph.output[0].type.tensor_type.elem_type = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return model


def answer(model, inputs):
    return whorl.run(model, feeds(inputs))["y0"]


def written(model, opset, tmp_path):
    """The model at another opset, checked."""
    whorl.save(whorl.load(model), tmp_path / "m.onnx", opset=opset)
    proto = onnx.load(tmp_path / "m.onnx")
    onnx.checker.check_model(proto)
    onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True)
    return proto


def kinds(model):
    return [node.op_type for node in model.graph.node]


def numbers(*shape, dtype=np.float32):
    return np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


@pytest.mark.parametrize("op_type", ["Abs", "Sqrt", "Tanh", "Sum"])
def test_consumed_inputs_are_read_and_ignored(op_type):
    x = numbers(3)
    assert answer(model_of(op_type, [x], 1, consumed_inputs=[0]), [x]).shape == (3,)


@pytest.mark.parametrize("op_type", ["Sum", "Mean"])
def test_sums_that_broadcast_are_additions_before_8(tmp_path, op_type):
    inputs = numbers(3, 1), numbers(1, 4), numbers(4)
    model = written(model_of(op_type, inputs, 13), 7, tmp_path)
    assert kinds(model) == ["Add", "Add"] + ["Div"] * (op_type == "Mean")
    np.testing.assert_allclose(answer(model, inputs), sum(inputs) / (3 if op_type == "Mean" else 1), rtol=1e-6)


def test_max_that_broadcasts_cannot_be_written_before_8(tmp_path):
    with pytest.raises(SaveError) as error:
        written(model_of("Max", [numbers(3, 1), numbers(4)], 13), 7, tmp_path)
    assert str(error.value) == ("Max 'y0': float32[3, 1] and float32[4] broadcast\n  fix: opset 8 or later can say it")


@pytest.mark.parametrize("op_type", ["GreaterOrEqual", "LessOrEqual"])
def test_or_equal_is_two_comparisons_before_12(tmp_path, op_type):
    inputs = np.array([1, 2, NAN], np.float32), np.array([1, 3, NAN], np.float32)
    model = written(model_of(op_type, inputs, 16, np.bool_), 11, tmp_path)
    assert kinds(model) == [op_type.removesuffix("OrEqual"), "Equal", "Or"]
    assert answer(model, inputs).tolist() == [True, op_type == "LessOrEqual", False]
    (theirs,) = onnxruntime_run(model, feeds(inputs))
    np.testing.assert_array_equal(theirs, answer(model, inputs))


def test_or_equal_of_floats_cannot_be_written_before_11(tmp_path):
    with pytest.raises(SaveError) as error:
        written(model_of("LessOrEqual", [numbers(2)] * 2, 16, np.bool_), 10, tmp_path)
    assert str(error.value) == (
        "LessOrEqual 'y0': input 0 is tensor(float), which version 7 of Equal does not take\n"
        "  fix: opset 11 or later can say it"
    )


def test_exponent_is_cast_to_the_base_before_12(tmp_path):
    inputs = numbers(3), numbers(3, dtype=np.int64)
    model = written(model_of("Pow", inputs, 15), 7, tmp_path)
    assert kinds(model) == ["Cast", "Pow"] and answer(model, inputs).tolist() == [1, 4, 27]
    with pytest.raises(SaveError) as error:
        written(model_of("Pow", [numbers(3), numbers(3, dtype=np.float64)], 15), 11, tmp_path)
    assert str(error.value) == (
        "Pow 'y0': the base is float32, the exponent float64\n  fix: opset 12 or later can say it"
    )


def test_floored_remainder_of_floats_is_spelled_out_before_28(tmp_path):
    x = np.array([7, -7, 7, -7, 6, -1, 1, NAN], np.float32)
    inputs = x, np.array([3, 3, -3, -3, 3, INF, 0, 1], np.float32)
    model = written(model_of("Mod", inputs, 28), 13, tmp_path)
    np.testing.assert_array_equal(answer(model, inputs), [1, 2, -2, -1, 0, INF, NAN, NAN])
    np.testing.assert_array_equal(onnxruntime_run(model, feeds(inputs))[0], answer(model, inputs))


def test_clip_6_has_bounds_by_default_and_clip_1_has_none():
    x = np.array([INF, -INF, 3], np.float32)
    largest = np.finfo(np.float32).max
    assert answer(model_of("Clip", [x], 6), [x]).tolist() == [largest, -largest, 3]
    assert answer(model_of("Clip", [x], 6, min=0.0, max=2.0), [x]).tolist() == [2, 0, 2]
    assert answer(model_of("Clip", [x], 1), [x]).tolist() == [INF, -INF, 3]


@pytest.mark.parametrize("opset", [6, 10])
def test_clip_bounds_are_written_as_attributes_before_11(tmp_path, opset):
    x = np.array([INF, -INF, NAN, 3], np.float32)
    model = written(model_of("Clip", [x], 6, min=0.0, max=INF), opset, tmp_path)
    np.testing.assert_array_equal(answer(model, [x]), [INF, 0, NAN, 3])


def test_clip_bound_of_the_run_cannot_be_written_before_11(tmp_path):
    inputs = numbers(3), np.array(1, np.float32)
    with pytest.raises(SaveError) as error:
        written(model_of("Clip", inputs, 13), 10, tmp_path)
    assert str(error.value) == "Clip 'y0': a bound is computed at run time\n  fix: opset 11 or later can say it"


def test_clip_bound_that_is_no_float32_cannot_be_written_before_11(tmp_path):
    model = model_of("Clip", [numbers(3, dtype=np.float64), np.array(0.1)], 13, np.float64)
    del model.graph.input[1]
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(0.1), "x1"))
    with pytest.raises(SaveError) as error:
        written(model, 10, tmp_path)
    assert str(error.value) == "Clip 'y0': the bound 0.1 is no float32\n  fix: opset 11 or later can say it"


def test_erf_9_of_integers_truncates():
    x = np.array([-9, 0, 1], np.int32)
    result = answer(model_of("Erf", [x], 9, np.int32), [x])
    assert result.dtype == np.int32 and result.tolist() == [-1, 0, 0]


def test_op_newer_than_the_target_is_refused(tmp_path):
    with pytest.raises(SaveError, match="choose a newer opset"):
        written(model_of("Sinh", [numbers(2)], 22), 8, tmp_path)
