"""Scatter, the old name of ScatterElements."""

import numpy as np
import onnx
import pytest
from formats.onnx.nodes_text import refused_to_write, written
from single_node import feeds, single_node

import whorl

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def ints(*numbers):
    return np.array(numbers, np.int64)


def declare(model, op_type):
    """Correct the declared element types of outputs that are places or lengths."""
    for k in {"TopK": [1], "Shape": [0]}.get(op_type, []):
        model.graph.output[k].type.tensor_type.elem_type = onnx.TensorProto.INT64


def run_old(op_type, inputs, opset, outputs=1, **attributes):
    """What whorl makes of a node of an old opset."""
    model = single_node(op_type, inputs, opset, outputs, **attributes)
    declare(model, op_type)
    settings = whorl.run(model, feeds(inputs))
    return [settings[f"y{k}"].tolist() for k in range(outputs)]


def test_scatter_is_scatter_elements():
    assert run_old("Scatter", [X, ints(1, -2).reshape(2, 1), -X[:, :1]], 9, axis=1) == [[[0, 0, 2], [3, -3, 5]]]


def loaded(op_type, inputs, constants=(), outputs=1, opset=23, **attributes):
    """A module of one node; the inputs at `constants` are constants, the others are the feeds."""
    model = single_node(op_type, inputs, opset, outputs, **attributes)
    for k in constants:
        model.graph.initializer.append(onnx.numpy_helper.from_array(inputs[k], f"x{k}"))
    retained = [info for info in model.graph.input if int(info.name[1:]) not in constants]
    del model.graph.input[:]
    model.graph.input.extend(retained)
    declare(model, op_type)
    supplied = {name: value for name, value in feeds(inputs).items() if int(name[1:]) not in constants}
    return whorl.load(model), supplied


@pytest.mark.parametrize("opset", [9, 10, 11, 16, 18])
def test_scatter_elements_is_scatter_before_11(tmp_path, opset):
    inputs = [X, ints(1, -2).reshape(2, 1), -X[:, :1]]
    module, supplied = loaded("ScatterElements", inputs, axis=1)
    whorl.save(module, tmp_path / "m.onnx", opset=opset)
    (node,) = onnx.load(tmp_path / "m.onnx").graph.node
    assert node.op_type == ("Scatter" if opset < 11 else "ScatterElements")
    expected = whorl.run(module, supplied)["y0"]
    np.testing.assert_array_equal(whorl.run(tmp_path / "m.onnx", supplied)["y0"], expected)


@pytest.mark.parametrize(
    ("op", "reduction", "since"),
    [
        ("ScatterElements", "add", 16),
        ("ScatterElements", "mul", 16),
        ("ScatterElements", "min", 18),
        ("ScatterND", "mul", 16),
        ("ScatterND", "max", 18),
    ],
)
def test_reductions_need_the_opset_that_has_them(op, reduction, since):
    text = f"""
        main(%x: float32[2], %i: int64[1{", 1" if op == "ScatterND" else ""}], %u: float32[1]) {{
            %y: float32[2] = {op} "s" (%x, %i, %u) {{reduction = "{reduction}"}}
            return y = %y
        }}"""
    assert refused_to_write(text, since - 1) == (
        f"{op} 's': reduction is '{reduction}'\n  fix: opset {since} or later can say it"
    )
    (node,) = written(text, since)
    assert f'reduction: string = "{reduction}"' in node


def test_negative_axis_is_retained_in_all_names_of_the_op():
    text = """
        main(%x: float32[2, 3], %i: int64[1, 1], %u: float32[1, 1]) {
            %y: float32[2, 3] = ScatterElements(%x, %i, %u) {axis = -1}
            return y = %y
        }"""
    assert written(text, 9) == ["y = Scatter <axis: int = -1> (x, i, u)"]
    assert written(text, 11) == ["y = ScatterElements <axis: int = -1> (x, i, u)"]
