"""Operands of two-operand ops before opset 7."""

import numpy as np
import onnx
import pytest
from formats.onnx import nodes_text
from single_node import feeds, single_node

import whorl
from whorl.errors import SaveError


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


@pytest.mark.parametrize(
    ("shape", "axis", "aligned"),
    [
        ((3, 4), 1, (3, 4, 1)),
        ((2,), 0, (2, 1, 1, 1)),
        ((4, 5), None, (4, 5)),
        ((1, 1), None, ()),
        ((3,), -3, (3, 1, 1)),
    ],
)
@pytest.mark.parametrize("opset", [1, 6])
def test_right_operand_lies_under_an_axis(opset, shape, axis, aligned):
    inputs = numbers(2, 3, 4, 5), numbers(*shape)
    attributes = {} if axis is None else {"axis": axis}
    model = model_of("Sub", inputs, opset, broadcast=1, **attributes)
    np.testing.assert_array_equal(answer(model, inputs), inputs[0] - inputs[1].reshape(aligned))


def test_comparison_lies_under_an_axis():
    inputs = numbers(2, 3), numbers(2)
    model = model_of("Greater", inputs, 6, np.bool_, broadcast=1, axis=0)
    np.testing.assert_array_equal(answer(model, inputs), inputs[0] > inputs[1][:, None])


@pytest.mark.parametrize(
    ("x", "y", "stated"),
    [
        ((2, 3, 4), (2, 3, 4), {}),
        ((2, 3, 4), (3, 4), {"broadcast": 1}),
        ((2, 3, 4), (3, 1), {"broadcast": 1, "axis": 1}),
        ((2, 3, 4), (1, 2, 1, 1)[1:], {"broadcast": 1, "axis": 0}),
        ((2, 3, 4), (1, 1), {"broadcast": 1}),
    ],
)
def test_opset_6_says_where_operands_broadcast(tmp_path, x, y, stated):
    inputs = numbers(*x), numbers(*y)
    model = written(model_of("Div", inputs, 14), 6, tmp_path)
    values = {a.name: a.i for a in model.graph.node[-1].attribute}
    assert values == stated
    np.testing.assert_array_equal(answer(model, inputs), inputs[0] / inputs[1])


def test_opset_6_exchanges_operands_where_that_helps(tmp_path):
    inputs = numbers(4), numbers(3, 4) - 2
    model = written(model_of("Less", inputs, 13, np.bool_), 6, tmp_path)
    assert kinds(model) == ["Greater"]
    np.testing.assert_array_equal(answer(model, inputs), inputs[0] < inputs[1])


def test_opset_6_cannot_broadcast_both_ways(tmp_path):
    model = model_of("Add", [numbers(3, 1), numbers(1, 4)], 14)
    with pytest.raises(SaveError) as error:
        written(model, 6, tmp_path)
    assert str(error.value) == (
        "Add 'y0': float32[3, 1] and float32[1, 4] broadcast in a way of their own\n  fix: opset 7 or later can say it"
    )


def test_operand_of_unknown_lengths_cannot_be_moved_under_an_axis_for_opset_6(tmp_path):
    model = model_of("Add", [numbers(2, 3, 4), numbers(2, 3, 1)], 14)
    for info in model.graph.input:
        info.type.tensor_type.shape.dim[0].dim_param, info.type.tensor_type.shape.dim[1].dim_param = "N", "M"
    with pytest.raises(SaveError) as error:
        written(model, 6, tmp_path)
    assert str(error.value) == (
        "Add 'y0': the lengths of %x1: float32[N, M, 1] are not known\n  fix: opset 7 or later can say it"
    )


@pytest.mark.parametrize("op_type", ["Add", "Mul", "Less", "Greater", "Equal", "And"])
def test_opset_6_exchanges_operands_of_ops_that_have_a_mirror(tmp_path, op_type):
    dtype = np.bool_ if op_type == "And" else np.int32 if op_type == "Equal" else np.float32
    inputs = numbers(3, dtype=dtype), numbers(2, 3, dtype=dtype) % 2
    inputs = inputs[0], inputs[1].astype(dtype)
    result = np.float32 if op_type in ("Add", "Mul") else np.bool_
    source = model_of(op_type, inputs, 14, result)
    model = written(source, 6, tmp_path)
    assert kinds(model) == [{"Less": "Greater", "Greater": "Less"}.get(op_type, op_type)]
    np.testing.assert_array_equal(answer(model, inputs), answer(source, inputs))


@pytest.mark.parametrize("op_type", ["Sub", "Div", "Pow"])
def test_opset_6_cannot_exchange_operands_of_others(tmp_path, op_type):
    model = model_of(op_type, [numbers(3), numbers(2, 3)], 14)
    with pytest.raises(SaveError) as error:
        written(model, 6, tmp_path)
    assert str(error.value) == (
        f"{op_type} 'y0': float32[3] and float32[2, 3] broadcast in a way of their own\n"
        "  fix: opset 7 or later can say it"
    )


def test_value_of_any_rank_is_of_the_shape_that_it_has_itself():
    one = 'main(%x: float32[*]) { %y: float32[*] = Sub "s" (%x, %x) return y = %y }'
    assert nodes_text.written(one, 6) == ["[s] y = Sub (x, x)"]
    two = 'main(%x: float32[*], %z: float32[2]) { %y: float32[*] = Sub "s" (%x, %z) return y = %y }'
    assert nodes_text.refused_to_write(two, 6) == (
        "Sub 's': float32[*] and float32[2] broadcast in a way of their own\n  fix: opset 7 or later can say it"
    )
