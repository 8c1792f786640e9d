"""Ops that move elements in old opsets: what their old forms mean, and what is written for each opset."""

import numpy as np
import onnx
import pytest
from single_node import feeds, onnxruntime_run, single_node

import whorl
from whorl.errors import LoadError, SaveError

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
    found = whorl.run(model, feeds(inputs))
    return [found[f"y{k}"].tolist() for k in range(outputs)]


# ---- reading -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op_type", "opset", "attributes", "expected"),
    [
        ("Reshape", 1, {"shape": [3, -1], "consumed_inputs": [0]}, X.reshape(3, 2)),
        ("Squeeze", 1, {"axes": [0]}, X),
        ("Squeeze", 1, {}, X),
        ("Unsqueeze", 11, {"axes": [0, -1]}, X[None, :, :, None]),
        ("Slice", 1, {"starts": [0, 1], "ends": [1, 1000], "axes": [0, 1]}, X[:1, 1:]),
        ("Slice", 9, {"starts": [-1], "ends": [2**31 - 1]}, X[-1:]),
        ("Pad", 1, {"paddings": [0, 1, 0, 0], "value": 7.0}, [[7, 0, 1, 2], [7, 3, 4, 5]]),
        ("Pad", 2, {"pads": [0, 1, 0, 0], "mode": "edge"}, [[0, 0, 1, 2], [3, 3, 4, 5]]),
        ("Flatten", 1, {"axis": 0}, X.reshape(1, 6)),
        ("Concat", 4, {"axis": 0}, X),
        ("Concat", 1, {}, X),
    ],
)
def test_attributes_of_old_versions(op_type, opset, attributes, expected):
    inputs = [X[None] if op_type == "Squeeze" else X]
    assert run_old(op_type, inputs, opset, **attributes)[0] == np.asarray(expected).tolist()


def test_concat_1_joins_along_axis_1_by_itself():
    assert run_old("Concat", [X, X], 1) == [np.concatenate([X, X], 1).tolist()]


def test_split_of_old_versions():
    assert run_old("Split", [X], 2, 2, split=[1, 2], axis=1) == [X[:, :1].tolist(), X[:, 1:].tolist()]
    assert run_old("Split", [X], 2, 2) == [X[:1].tolist(), X[1:].tolist()]
    lengths = np.array([1, 2], np.float32)
    assert run_old("Split", [X, lengths], 1, 2, axis=1) == [X[:, :1].tolist(), X[:, 1:].tolist()]
    assert run_old("Split", [X, ints(2, 1)], 13, 2, axis=-1) == [X[:, :2].tolist(), X[:, 2:].tolist()]


def test_tile_1_repeats_along_one_axis():
    copies, axis = np.array(2, np.float32), np.array(1, np.float32)
    assert run_old("Tile", [X, copies, axis], 1) == [np.tile(X, (1, 2)).tolist()]


def test_top_k_1_has_k_as_an_attribute():
    assert run_old("TopK", [X], 1, 2, k=2, axis=1) == [[[2, 1], [5, 4]], [[2, 1], [2, 1]]]


def test_scatter_is_scatter_elements():
    assert run_old("Scatter", [X, ints(1, -2).reshape(2, 1), -X[:, :1]], 9, axis=1) == [[[0, 0, 2], [3, -3, 5]]]


def test_one_hot_9_takes_negative_indices_as_outside():
    inputs = [ints(-1, 0, 1, 2), np.array(2), np.array([0, 1], np.float32)]
    assert run_old("OneHot", inputs, 9) == [[[0, 0], [1, 0], [0, 1], [0, 0]]]
    assert run_old("OneHot", inputs, 11) == [[[0, 1], [1, 0], [0, 1], [0, 0]]]


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
    found = whorl.run(model, {})["y0"]
    assert found.dtype == expected.dtype and found.shape == expected.shape and found.tolist() == expected.tolist()


def test_constant_from_a_sparse_tensor():
    values = onnx.helper.make_tensor("v", onnx.TensorProto.FLOAT, [2], [5.0, 6.0])
    places = onnx.helper.make_tensor("i", onnx.TensorProto.INT64, [2], [1, 3])
    sparse = onnx.helper.make_sparse_tensor(values, places, [2, 2])
    assert run_old("Constant", [], 11, sparse_value=sparse) == [[[0, 5], [0, 6]]]


def test_constant_needs_one_value():
    with pytest.raises(LoadError) as caught:
        whorl.load(single_node("Constant", [], 13, value_int=1, value_float=1.0))
    assert "needs one attribute that says its value, has value_float, value_int" in str(caught.value)


# ---- writing -------------------------------------------------------------------------------------------------------


def loaded(op_type, inputs, constants=(), outputs=1, opset=23, **attributes):
    """A module of one node; the inputs at `constants` are constants, the others are the feeds."""
    model = single_node(op_type, inputs, opset, outputs, **attributes)
    for k in constants:
        model.graph.initializer.append(onnx.numpy_helper.from_array(inputs[k], f"x{k}"))
    kept = [info for info in model.graph.input if int(info.name[1:]) not in constants]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    declare(model, op_type)
    given = {name: value for name, value in feeds(inputs).items() if int(name[1:]) not in constants}
    return whorl.load(model), given


WRITTEN = {
    "Squeeze": ([X[None], ints(-3)], (1,), 1, {}),
    "Squeeze everything": ([X[None]], (), 1, {}),
    "Squeeze nothing": ([X[None], ints()], (1,), 1, {}),
    "Unsqueeze": ([X, ints(0, -1)], (1,), 1, {}),
    "Slice": ([X, ints(0, -2), ints(1, 9), ints(0, -1)], (1, 2, 3), 1, {}),
    "Slice without axes": ([X, ints(1), ints(2)], (1, 2), 1, {}),
    "Split": ([X, ints(1, 2)], (1,), 2, {"axis": -1}),
    "Split evenly": ([X], (), 3, {"axis": -1, "num_outputs": 3}),
    "Split unevenly": ([X], (), 2, {"axis": -1, "num_outputs": 2}),
    "TopK": ([X, ints(2)], (1,), 2, {"axis": -1}),
    "Pad": ([X, ints(1, 2), np.array(7, np.float32), ints(-1)], (1, 2, 3), 1, {}),
    "Pad edge": ([X, ints(0, 1, 2, 0)], (1,), 1, {"mode": "edge"}),
    "Concat": ([X, X], (), 1, {"axis": -1}),
    "Flatten": ([X[None]], (), 1, {"axis": -1}),
    "Reshape": ([X, ints(3, 2)], (1,), 1, {"allowzero": 1}),
    "Shape": ([X], (), 1, {"start": -1, "end": 9}),
}


@pytest.mark.parametrize("opset", [6, 9, 10, 11, 12, 13, 14, 15, 17, 18, 21, 23])
@pytest.mark.parametrize("case", WRITTEN)
def test_every_opset_says_what_was_meant(tmp_path, case, opset):
    inputs, constants, outputs, attributes = WRITTEN[case]
    module, given = loaded(case.split()[0], inputs, constants, outputs, **attributes)
    whorl.save(module, tmp_path / "m.onnx", opset=opset)
    written = onnx.load(tmp_path / "m.onnx")
    assert written.opset_import[0].version == opset
    expected = list(whorl.run(module, given).values())
    for found in (list(whorl.run(written, given).values()), onnxruntime_run(written, given)):
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("opset", [9, 10])
def test_one_hot_counts_negative_indices_in_opsets_that_do_not(tmp_path, opset):
    inputs = [ints(-3, -2, -1, 0, 1, 2), np.array(2), np.array([0, 1], np.float32)]
    module, given = loaded("OneHot", inputs, axis=0)
    whorl.save(module, tmp_path / "m.onnx", opset=opset)
    expected = whorl.run(module, given)["y0"]
    np.testing.assert_array_equal(whorl.run(tmp_path / "m.onnx", given)["y0"], expected)
    np.testing.assert_array_equal(onnxruntime_run(onnx.load(tmp_path / "m.onnx"), given)[0], expected)


@pytest.mark.parametrize("opset", [9, 10, 11, 16, 18])
def test_scatter_elements_is_scatter_before_11(tmp_path, opset):
    inputs = [X, ints(1, -2).reshape(2, 1), -X[:, :1]]
    module, given = loaded("ScatterElements", inputs, axis=1)
    whorl.save(module, tmp_path / "m.onnx", opset=opset)
    (node,) = onnx.load(tmp_path / "m.onnx").graph.node
    assert node.op_type == ("Scatter" if opset < 11 else "ScatterElements")
    expected = whorl.run(module, given)["y0"]
    np.testing.assert_array_equal(whorl.run(tmp_path / "m.onnx", given)["y0"], expected)


COMPUTED = {
    "Squeeze": ([X[None], ints(0)], "axes", 13),
    "Unsqueeze": ([X, ints(0)], "axes", 13),
    "Slice": ([X, ints(0), ints(1)], "starts", 10),
    "Split": ([X, ints(2)], "split", 13),
    "TopK": ([X, ints(2)], "k", 10),
    "Pad": ([X, ints(1, 1, 0, 0)], "pads", 11),
}


@pytest.mark.parametrize("op_type", COMPUTED)
def test_what_was_an_attribute_must_not_be_computed(tmp_path, op_type):
    inputs, name, since = COMPUTED[op_type]
    module, _ = loaded(op_type, inputs, outputs=2 if op_type == "TopK" else 1)
    with pytest.raises(SaveError) as caught:
        whorl.save(module, tmp_path / "m.onnx", opset=since - 1)
    fix = f"opset {since} or later can say it"
    assert str(caught.value) == f"{op_type} 'y0': the input {name!r} is computed at run time\n  fix: {fix}"
    whorl.save(module, tmp_path / "m.onnx", opset=since)


ROW = ints(0).reshape(1, 1)
REFUSED = [
    ("Slice", [X, ints(0), ints(1), ints(0), ints(2)], {}, "has steps other than 1", 10),
    ("TopK", [X, ints(2)], {"largest": 0}, "takes the smallest elements", 11),
    ("Pad", [X, ints(1, 1, 0, 0)], {"mode": "wrap"}, "mode is 'wrap'", 19),
    ("Reshape", [X[:0], ints(3, 0)], {"allowzero": 1}, "a length of 0 in the shape would copy one", 14),
    ("ScatterElements", [X, ROW, X[:1, :1]], {"reduction": "max"}, "reduction is 'max'", 18),
    ("ScatterND", [X, ROW, X[:1]], {"reduction": "add"}, "reduction is 'add'", 16),
]


@pytest.mark.parametrize(("op_type", "inputs", "attributes", "message", "since"), REFUSED)
def test_what_an_opset_cannot_say_is_refused(tmp_path, op_type, inputs, attributes, message, since):
    constants = tuple(range(1, len(inputs)))
    module, _ = loaded(op_type, inputs, constants, 2 if op_type == "TopK" else 1, **attributes)
    with pytest.raises(SaveError) as caught:
        whorl.save(module, tmp_path / "m.onnx", opset=since - 1)
    assert str(caught.value) == f"{op_type} 'y0': {message}\n  fix: opset {since} or later can say it"
    whorl.save(module, tmp_path / "m.onnx", opset=since)


def test_pads_of_computed_axes_need_opset_18(tmp_path):
    module, _ = loaded("Pad", [X, ints(1, 0), None, ints(0)], (1,))
    with pytest.raises(SaveError, match="the input 'axes' is computed at run time"):
        whorl.save(module, tmp_path / "m.onnx", opset=17)


def parsed(opset, body):
    """A module in ONNX text with a float input x of length N."""
    head = f'<ir_version: 8, opset_import: ["" : {opset}]>'
    return whorl.load(onnx.parser.parse_model(f"{head} g (float[N] x, int64[K] s) => {body}"))


def test_an_axis_from_the_end_needs_a_rank_before_11(tmp_path):
    module = parsed(17, "(y) { r = Reshape(x, s) y = Flatten<axis = -1>(r) }")
    with pytest.raises(SaveError) as caught:
        whorl.save(module, tmp_path / "m.onnx", opset=10)
    assert "axis -1 counts from the end of a tensor of unknown rank" in str(caught.value)
    whorl.save(module, tmp_path / "m.onnx", opset=11)


def test_uneven_parts_of_a_named_length_need_opset_18(tmp_path):
    module = parsed(18, "(a, b) { a, b = Split<num_outputs = 2>(x) }")
    with pytest.raises(SaveError) as caught:
        whorl.save(module, tmp_path / "m.onnx", opset=17)
    assert "the last of 2 parts may be smaller" in str(caught.value)
