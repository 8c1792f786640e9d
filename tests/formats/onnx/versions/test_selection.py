"""OneHot and TopK in old opsets."""

import numpy as np
import onnx
import pytest
from formats.onnx.nodes_text import refused_to_write, written
from single_node import feeds, onnxruntime_run, single_node

import whorl
from whorl.errors import LoadError

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


def test_top_k_1_has_k_as_an_attribute():
    assert run_old("TopK", [X], 1, 2, k=2, axis=1) == [[[2, 1], [5, 4]], [[2, 1], [2, 1]]]


def test_one_hot_9_takes_negative_indices_as_outside():
    inputs = [ints(-1, 0, 1, 2), np.array(2), np.array([0, 1], np.float32)]
    assert run_old("OneHot", inputs, 9) == [[[0, 0], [1, 0], [0, 1], [0, 0]]]
    assert run_old("OneHot", inputs, 11) == [[[0, 1], [1, 0], [0, 1], [0, 0]]]


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


@pytest.mark.parametrize("opset", [9, 10])
def test_one_hot_counts_negative_indices_in_opsets_that_do_not(tmp_path, opset):
    inputs = [ints(-3, -2, -1, 0, 1, 2), np.array(2), np.array([0, 1], np.float32)]
    module, supplied = loaded("OneHot", inputs, axis=0)
    whorl.save(module, tmp_path / "m.onnx", opset=opset)
    expected = whorl.run(module, supplied)["y0"]
    np.testing.assert_array_equal(whorl.run(tmp_path / "m.onnx", supplied)["y0"], expected)
    np.testing.assert_array_equal(onnxruntime_run(onnx.load(tmp_path / "m.onnx"), supplied)[0], expected)


@pytest.mark.parametrize("opset", [9, 10])
@pytest.mark.parametrize("axis", [-1, 0, 1, -2])
def test_marks_at_any_axis_are_ones_of_later_opsets(opset, axis, tmp_path):
    inputs = [np.array([[-3, -2, -1], [0, 1, 2]]), np.array([2]), np.array([0, 1], np.float32)]
    module, arrays = loaded("OneHot", inputs, axis=axis)
    whorl.save(module, tmp_path / "m.onnx", opset=opset)
    expected = whorl.run(module, arrays)["y0"]
    np.testing.assert_array_equal(whorl.run(tmp_path / "m.onnx", arrays)["y0"], expected)
    np.testing.assert_array_equal(onnxruntime_run(onnx.load(tmp_path / "m.onnx"), arrays)[0], expected)


def test_unsigned_indices_need_no_counting():
    text = """
        main(%i: uint8[3], %n: int64[], %v: float32[2]) {
            %y: float32[3, k] = OneHot(%i, %n, %v)
            return y = %y
        }"""
    assert written(text, 9) == ["y = OneHot <axis: int = -1> (i, n, v)"]


TOP = """
    main(%x: float32[N, 3]) {{
        %k: int64[1] = Constant() {{value = int64[1] <{0}>}}
        %y: float32[N, {0}], %i: int64[N, {0}] = TopK "t" (%x, %k) {{{1}}}
        return y = %y
    }}"""


@pytest.mark.parametrize(
    ("opset", "node"),
    [(9, "TopK <axis: int = -1, k: int = 2> (x)"), (10, "TopK <axis: int = -1> (x, k)")],
)
def test_number_of_largest_elements_is_an_attribute_before_10(opset, node):
    (text,) = written(TOP.format(2, "axis = -1"), opset)
    assert text == f"[t] y, i = {node}"


def test_no_largest_element_needs_opset_10():
    assert refused_to_write(TOP.format(0, ""), 9) == "TopK 't': k is 0\n  fix: opset 10 or later can say it"
    assert written(TOP.format(0, ""), 10) == ["[t] y, i = TopK <axis: int = -1> (x, k)"]


def test_smallest_elements_need_opset_11():
    assert refused_to_write(TOP.format(1, "largest = 0"), 10) == (
        "TopK 't': takes the smallest elements\n  fix: opset 11 or later can say it"
    )


def test_number_that_is_missing_is_requested_for():
    with pytest.raises(LoadError) as caught:
        whorl.load(single_node("TopK", [X], 1, 2))
    assert str(caught.value) == "TopK 'y0': lacks the attribute 'k'"


@pytest.mark.parametrize("axis", [0, -1, None])
def test_compressed_axis_counts_from_the_front_before_11(axis, tmp_path):
    attributes = {} if axis is None else {"axis": axis}
    module, arrays = loaded("Compress", [X, np.array([False, True])], **attributes)
    whorl.save(module, tmp_path / "m.onnx", opset=9)
    expected = whorl.run(module, arrays)["y0"]
    np.testing.assert_array_equal(onnxruntime_run(onnx.load(tmp_path / "m.onnx"), arrays)[0], expected)
