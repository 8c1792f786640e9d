"""`whorl.backend`, the interface of `onnx.backend`; the whole of its suite runs in tests/conformance."""

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_text import ROLLOUT, model

import whorl
from whorl import backend

F32 = np.float32
X = np.array([[1, 2], [3, 4]], F32)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, **attributes)


# ---- models ------------------------------------------------------------------------------------------------------


def test_prepared_model_runs_many_times_with_inputs_in_order_or_by_name():
    prepared = backend.prepare(ROLLOUT)
    table = np.arange(12, dtype=F32)
    assert prepared.run([np.array(4), table]) == (6,)
    assert prepared.run((np.array(3), table)).total == 3
    assert prepared.run({"table": table, "count": np.array(2)}).total == 1


def test_one_input_needs_no_list():
    proto = model("main (float[n] x) => (float[n] y, float[n] z) { y = Neg(x) z = Exp(y) }")
    y, z = backend.run_model(proto, np.zeros(2, F32))
    assert y.tolist() == [0, 0] and z.tolist() == [1, 1]


def test_output_names_that_are_no_identifiers_stay_in_order():
    proto = model("main (float x) => (float y) { y = Neg(x) }")
    proto.graph.node[0].output[0] = proto.graph.output[0].name = "1/y:0"
    assert backend.run_model(proto, [F32(1)]) == (-1,)


def test_too_many_inputs_are_refused():
    with pytest.raises(whorl.RunError, match="3 inputs are given, the model takes 2"):
        backend.prepare(ROLLOUT).run([1, 2, 3])


def test_compatible_is_what_loads():
    assert backend.is_compatible(ROLLOUT)
    strange = model("main (float x) => (float y) { y = custom.Do(x) }", domains=', "custom": 1')
    assert not backend.is_compatible(strange)
    with pytest.raises(whorl.UnsupportedError, match="domain 'custom' is unknown"):
        backend.prepare(strange)


@pytest.mark.parametrize(("device", "supported"), [("CPU", True), ("CPU:0", True), ("CUDA", False), ("TPU:1", False)])
def test_the_cpu_is_the_only_device(device, supported):
    assert backend.supports_device(device) == backend.is_compatible(ROLLOUT, device) == supported
    if not supported:
        with pytest.raises(whorl.RunError, match=rf"^device '{device}' is not available\n  fix: use 'CPU'$"):
            backend.prepare(ROLLOUT, device)


def test_unknown_option_is_refused():
    for call in (
        lambda: backend.prepare(ROLLOUT, precision=16),
        lambda: backend.run_model(ROLLOUT, [], precision=16),
        lambda: backend.prepare(ROLLOUT).run([], precision=16),
        lambda: backend.run_node(node("Neg", ["x"], ["y"]), [X], precision=16),
    ):
        with pytest.raises(whorl.RunError, match="unknown option 'precision'"):
            call()


# ---- nodes -------------------------------------------------------------------------------------------------------


def test_node_runs_at_the_newest_version():
    (y,) = backend.run_node(node("ReduceSum", ["x", "axes"], ["y"], keepdims=0), [X, np.array([1])])
    assert y.dtype == F32 and y.tolist() == [3, 7]


def test_node_runs_at_an_older_version():
    """Softmax before version 13 takes everything from the axis on as one."""
    x = np.zeros((1, 2, 2), F32)
    assert backend.run_node(node("Softmax", ["x"], ["y"]), [x], opset_version=11).y.tolist() == [[[0.25] * 2] * 2]
    assert backend.run_node(node("Softmax", ["x"], ["y"]), [x]).y.tolist() == [[[0.5] * 2] * 2]
    (y,) = backend.run_node(node("ReduceSum", ["x"], ["y"], axes=[0], keepdims=0), [X], opset_version=11)
    assert y.tolist() == [4, 6]


def test_node_with_several_outputs_and_blank_ones():
    values, indices = backend.run_node(node("TopK", ["x", "k"], ["values", "indices"]), [X, np.array([1])])
    assert (values.tolist(), indices.tolist()) == ([[2], [4]], [[1], [1]])
    (indices,) = backend.run_node(node("TopK", ["x", "k"], ["", "indices"]), [X, np.array([1])])
    assert indices.tolist() == [[1], [1]]


def test_blank_inputs_take_no_value():
    (y,) = backend.run_node(node("Clip", ["x", "", "max"], ["y"]), [X, F32(2)])
    assert y.tolist() == [[1, 2], [2, 2]]
    (y,) = backend.run_node(node("Clip", ["x", "", "max"], ["y"]), {"max": F32(3), "x": X})
    assert y.tolist() == [[1, 2], [3, 3]]


def test_name_that_occurs_twice_takes_one_value():
    assert backend.run_node(node("Add", ["x", "x"], ["y"]), [X]).y.tolist() == [[2, 4], [6, 8]]


def test_node_of_another_domain():
    scaler = node("Scaler", ["x"], ["y"], domain="ai.onnx.ml", offset=[1.0, 1.0], scale=[2.0, 2.0])
    assert backend.run_node(scaler, [X], opset_version=1).y.tolist() == [[0, 2], [4, 6]]


def test_node_with_sequences_strings_and_optionals():
    (items,) = backend.run_node(node("SequenceInsert", ["s", "x"], ["items"]), [[X, X], X])
    assert len(items) == 3
    (text,) = backend.run_node(node("StringConcat", ["a", "b"], ["text"]), [np.array(["a", "b"]), "c"])
    assert text.tolist() == ["ac", "bc"]
    (passed,) = backend.run_node(node("OptionalHasElement", ["o"], ["given"]), [None])
    assert not passed


def test_node_with_a_graph():
    body = onnx.parser.parse_graph(
        "body (int64 i, bool on, float a) => (bool on2, float b) { on2 = Identity(on) b = Add(a, a) }"
    )
    loop = node("Loop", ["n", "", "x"], ["y"], body=body)
    assert backend.run_node(loop, [np.array(3), F32(1)]) == (8,)


def test_declared_outputs_are_checked():
    info = [(np.dtype(F32), (2, 2))]
    assert backend.run_node(node("Neg", ["x"], ["y"]), [X], outputs_info=info).y.tolist() == (-X).tolist()
    with pytest.raises(
        whorl.LoadError, match=r"output 'y' is declared float64\[2, 2\] but computed as float32\[2, 2\]"
    ):
        backend.run_node(node("Neg", ["x"], ["y"]), [X], outputs_info=[(np.dtype(np.float64), (2, 2))])


def test_wrong_number_of_values_is_refused():
    for passed in ([X], {"x": X}):
        with pytest.raises(whorl.RunError, match=r"^1 values are given for the inputs x, y$"):
            backend.run_node(node("Add", ["x", "y"], ["z"]), passed)


def test_errors_of_the_node_are_located():
    with pytest.raises(whorl.LoadError, match=r"Add 'z': cannot broadcast \[2, 2\] with \[3\]"):
        backend.run_node(node("Add", ["x", "y"], ["z"]), [X, np.zeros(3, F32)])
