"""Dropout and draws in old opsets."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from single_node import feeds, onnxruntime_run, single_node

import whorl
from whorl.errors import SaveError
from whorl.formats.onnx.dtypes import TO_ONNX

X = np.ones(200, np.float32)


def dropout(opset, inputs=(X,), outputs=2, **attributes):
    model = single_node("Dropout", inputs, opset, outputs, **attributes)
    if outputs == 2 and opset >= 10:
        model.graph.output[1].type.tensor_type.elem_type = onnx.TensorProto.BOOL
    return model


def written(model, opset, tmp_path):
    whorl.save(whorl.load(model), tmp_path / "m.onnx", opset=opset)
    proto = onnx.load(tmp_path / "m.onnx")
    onnx.checker.check_model(proto)
    onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True)
    return proto


@pytest.mark.parametrize("opset", [1, 6])
def test_dropout_trains_before_7_unless_it_is_a_test(opset):
    y, mask = whorl.run(dropout(opset, ratio=0.75), feeds([X])).values()
    assert mask.dtype == np.float32 and 10 < mask.sum() < 100
    np.testing.assert_array_equal(y, mask * 4)
    (y,) = whorl.run(dropout(opset, outputs=1, is_test=1), feeds([X])).values()
    np.testing.assert_array_equal(y, X)


@pytest.mark.parametrize(("opset", "dtype"), [(7, np.float32), (9, np.float32), (10, np.bool_)])
def test_dropout_never_trains_from_7_to_11(opset, dtype):
    y, mask = whorl.run(dropout(opset, ratio=0.75), feeds([X])).values()
    np.testing.assert_array_equal(y, X)
    assert mask.dtype == dtype and mask.all()


@pytest.mark.parametrize("opset", [7, 9, 10, 11])
def test_mask_is_made_bool_where_it_was_not(tmp_path, opset):
    model = written(dropout(13), opset, tmp_path)
    assert [node.op_type for node in model.graph.node] == ["Dropout"] + ["Cast"] * (opset < 10)
    y, mask = whorl.run(model, feeds([X])).values()
    assert mask.dtype == np.bool_ and mask.all()
    np.testing.assert_array_equal(y, onnxruntime_run(model, feeds([X]))[0])


def test_dropout_that_trains_is_written_for_6_but_not_for_7(tmp_path):
    model = dropout(6, outputs=1, ratio=0.75)
    (node,) = written(model, 6, tmp_path).graph.node
    assert {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute} == {"ratio": 0.75, "is_test": 0}
    with pytest.raises(SaveError) as error:
        written(model, 7, tmp_path)
    assert str(error.value) == "Dropout 'y0': trains\n  fix: opset 12 or later can say it"


def test_dropout_of_a_mode_of_the_run_cannot_be_written_before_12(tmp_path):
    model = dropout(13, [X, np.array(0.5, np.float32), np.array(True)], outputs=1)
    with pytest.raises(SaveError) as error:
        written(model, 11, tmp_path)
    assert str(error.value) == "Dropout 'y0': the mode is computed at run time\n  fix: opset 12 or later can say it"


def test_dropout_of_a_ratio_of_the_run_cannot_be_written_before_12(tmp_path):
    mode = onnx.numpy_helper.from_array(np.array(True), "x2")
    model = dropout(13, [X, np.array(0.5, np.float32), np.array(True)], outputs=1)
    del model.graph.input[2]
    model.graph.initializer.append(mode)
    with pytest.raises(SaveError) as error:
        written(model, 6, tmp_path)
    assert str(error.value) == "Dropout 'y0': the ratio is computed at run time\n  fix: opset 12 or later can say it"


@pytest.mark.parametrize("dtype", [np.float32, np.bool_, np.int64])
def test_bernoulli_is_a_comparison_before_15(tmp_path, dtype):
    model = single_node("Bernoulli", [X], 15, dtype=TO_ONNX[np.dtype(dtype)])
    model.graph.output[0].type.tensor_type.elem_type = TO_ONNX[np.dtype(dtype)]
    old = written(model, 9, tmp_path)
    kinds = [node.op_type for node in old.graph.node]
    assert kinds == ["RandomUniformLike", "Less"] + ["Cast"] * (dtype != np.bool_)
    result = whorl.run(old, {"x0": np.array([0, 1] * 100, np.float32)})["y0"]
    assert result.dtype == dtype and result.tolist() == [0, 1] * 100


def test_bfloat16_cannot_be_drawn_before_22(tmp_path):
    number = TO_ONNX[np.dtype(ml_dtypes.bfloat16)]
    model = single_node("RandomNormal", [], 22, dtype=number, shape=[2])
    model.graph.output[0].type.tensor_type.elem_type = number
    with pytest.raises(SaveError) as error:
        written(model, 21, tmp_path)
    assert str(error.value) == (
        "RandomNormal 'y0': gives tensor(bfloat16), which version 1 of RandomNormal does not give\n"
        "  fix: opset 22 or later can say it"
    )
