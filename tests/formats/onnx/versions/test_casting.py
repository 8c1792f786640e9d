"""Casts in old opsets."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from single_node import feeds, single_node

import whorl
from whorl.errors import LoadError, SaveError
from whorl.formats.onnx.dtypes import TO_ONNX


def typed(model, dtype):
    model.graph.output[0].type.tensor_type.elem_type = TO_ONNX[np.dtype(dtype)]
    return model


def written(model, opset, tmp_path):
    whorl.save(whorl.load(model), tmp_path / "m.onnx", opset=opset)
    proto = onnx.load(tmp_path / "m.onnx")
    onnx.checker.check_model(proto)
    return proto


@pytest.mark.parametrize(("word", "dtype"), [("INT32", np.int32), ("double", np.float64), ("FLOAT16", np.float16)])
def test_target_is_a_word_before_6(word, dtype):
    x = np.array([1.5], np.float32)
    assert whorl.run(typed(single_node("Cast", [x], 1, to=word), dtype), feeds([x]))["y0"].dtype == dtype


def test_word_that_names_no_type_is_an_error():
    with pytest.raises(LoadError) as error:
        whorl.load(single_node("Cast", [np.zeros(1, np.float32)], 1, to="REAL"))
    assert str(error.value) == "Cast 'y0': attribute 'to' is 'REAL', which names no element type"


def test_castlike_is_a_cast_before_15(tmp_path):
    inputs = np.array([1.7], np.float32), np.zeros(0, np.int64)
    model = written(typed(single_node("CastLike", inputs, 15), np.int64), 13, tmp_path)
    (node,) = model.graph.node
    assert node.op_type == "Cast" and whorl.run(model, feeds(inputs))["y0"].tolist() == [1]


@pytest.mark.parametrize("opset", [13, 19, 24])
def test_saturation_of_other_targets_is_dropped_where_it_cannot_be_stated(tmp_path, opset):
    x = np.array([1.7], np.float32)
    model = typed(single_node("Cast", [x], 24, to=TO_ONNX[np.dtype(np.int64)], saturate=0, round_mode="down"), np.int64)
    names = {attribute.name for attribute in written(model, opset, tmp_path).graph.node[0].attribute}
    assert names == {13: {"to"}, 19: {"to", "saturate"}, 24: {"to", "saturate", "round_mode"}}[opset]


def test_target_that_an_opset_lacks_is_an_error(tmp_path):
    dtype = ml_dtypes.float8_e5m2
    model = typed(single_node("Cast", [np.zeros(1, np.float32)], 19, to=TO_ONNX[np.dtype(dtype)]), dtype)
    with pytest.raises(SaveError) as error:
        written(model, 18, tmp_path)
    assert str(error.value) == (
        "Cast 'y0': gives tensor(float8e5m2), which version 13 of Cast does not give\n"
        "  fix: opset 19 or later can say it"
    )
