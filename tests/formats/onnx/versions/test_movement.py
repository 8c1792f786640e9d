"""Ops that move elements in old opsets: what their old forms mean, and what is written for each opset."""

import numpy as np
import onnx
import pytest
from single_node import feeds, onnxruntime_run, single_node

import whorl
from whorl.errors import SaveError

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


# ---- writing -------------------------------------------------------------------------------------------------------


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
    module, supplied = loaded(case.split()[0], inputs, constants, outputs, **attributes)
    whorl.save(module, tmp_path / "m.onnx", opset=opset)
    written = onnx.load(tmp_path / "m.onnx")
    assert written.opset_import[0].version == opset
    expected = list(whorl.run(module, supplied).values())
    for settings in (list(whorl.run(written, supplied).values()), onnxruntime_run(written, supplied)):
        for a, b in zip(settings, expected, strict=True):
            np.testing.assert_array_equal(a, b)


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


def test_uneven_parts_of_a_named_length_need_opset_18(tmp_path):
    module = parsed(18, "(a, b) { a, b = Split<num_outputs = 2>(x) }")
    with pytest.raises(SaveError) as caught:
        whorl.save(module, tmp_path / "m.onnx", opset=17)
    assert "the last of 2 parts may be smaller" in str(caught.value)
