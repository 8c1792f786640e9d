"""RNN, GRU and LSTM in old opsets."""

import numpy as np
import onnx
import pytest
from single_node import feeds, onnxruntime_run, single_node

import whorl
from whorl.errors import SaveError
from whorl.ops.recurrent.rnn import GRU, LSTM, RNN

KINDS = {"RNN": RNN, "GRU": GRU, "LSTM": LSTM}


def tensors(kind, directions=1, dtype=np.float32):
    rng, rows = np.random.default_rng(0), KINDS[kind].gates * 3
    shapes = [(5, 4, 2), (directions, rows, 2), (directions, rows, 3), (directions, 2 * rows), None]
    shapes += [(directions, 4, 3)] * KINDS[kind].states
    return [None if shape is None else rng.normal(size=shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("kind", KINDS)
def test_output_sequence_is_read_and_ignored(kind):
    inputs, op = tensors(kind), KINDS[kind]()
    model = single_node(kind, inputs, 6, 1 + op.states, output_sequence=0)
    for mine, expected in zip(whorl.run(model, feeds(inputs)).values(), op.run(*inputs), strict=True):
        np.testing.assert_array_equal(mine, expected)


def test_gru_1_misspelt_direction_is_forward():
    inputs = tensors("GRU")
    model = single_node("GRU", inputs, 1, 2, direction="foward")
    np.testing.assert_array_equal(whorl.run(model, feeds(inputs))["y0"], GRU().run(*inputs)[0])


@pytest.mark.parametrize("opset", [7, 13, 14])
@pytest.mark.parametrize("kind", KINDS)
def test_layout_1_is_written_as_transposes(tmp_path, kind, opset):
    passed = tensors(kind, directions=2)
    inputs = [*(passed[0].swapaxes(0, 1), *passed[1:5]), *(state.swapaxes(0, 1) for state in passed[5:])]
    op = KINDS[kind](direction="bidirectional", layout=1)
    model = single_node(kind, inputs, 22, 1 + op.states, direction="bidirectional", layout=1, hidden_size=3)
    whorl.save(whorl.load(model), tmp_path / "m.onnx", opset=opset)
    written = onnx.load(tmp_path / "m.onnx")
    onnx.checker.check_model(written)
    assert sum(node.op_type == "Transpose" for node in written.graph.node) == 2 + 2 * op.states
    expected = op.run(*inputs)
    for mine, exact in zip(whorl.run(written, feeds(inputs)).values(), expected, strict=True):
        np.testing.assert_allclose(mine, exact, rtol=1e-6)
    for theirs, exact in zip(onnxruntime_run(written, feeds(inputs)), expected, strict=True):
        np.testing.assert_allclose(theirs, exact, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_opset_6_says_that_the_sequence_is_requested(tmp_path, kind):
    inputs = tensors(kind)
    model = single_node(kind, inputs, 14, 1, clip=0.5)
    whorl.save(whorl.load(model), tmp_path / "m.onnx", opset=6)
    (node,) = onnx.load(tmp_path / "m.onnx").graph.node
    values = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
    assert values["output_sequence"] == 1 and values["clip"] == 0.5 and "layout" not in values


def test_bfloat16_cannot_be_written_before_22(tmp_path):
    import ml_dtypes

    inputs = tensors("RNN", dtype=ml_dtypes.bfloat16)
    model = single_node("RNN", inputs, 22)
    model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.BFLOAT16
    with pytest.raises(SaveError, match="opset 22"):
        whorl.save(whorl.load(model), tmp_path / "m.onnx", opset=13)
