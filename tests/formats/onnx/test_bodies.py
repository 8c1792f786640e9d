"""Graphs as bodies that are called with arrays, and what they read from outside."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_text import model

import whorl
from whorl.errors import LoadError
from whorl.formats.onnx.bodies import load_body

X = np.array([1, 2], np.float32)
BODY = model("main (float[2] x) => (float[2] y) { y = Add(x, w) }").graph


def result(source: object, **captured: object) -> list:
    return whorl.run(load_body(source, captured), {"x": X})["y"].tolist()


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.array([2, 2], np.float32)], ids=repr)
def test_value_from_outside_is_an_input_with_a_default(value):
    assert result(BODY, w=value) == [3, 4]
    module = load_body(BODY, {"w": value})
    assert whorl.run(module, {"x": X, "w": np.float32(5)})["y"].tolist() == [6, 7]


def test_number_of_python_takes_the_type_that_the_graph_wants():
    """In whatever way the main domain is written."""
    for domain in ("", "ai.onnx"):
        graph = type(BODY)()
        graph.CopyFrom(BODY)
        graph.node[0].domain = domain
        assert result(graph, w=2.5) == [3.5, 4.5]
    assert result(BODY, w=1 << 70) == [float(1 << 70)] * 2


def test_values_that_the_body_does_not_read_are_left_out():
    assert result(BODY, w=1, unused=object()) == [2, 3]


@pytest.mark.parametrize("source", [BODY, BODY.SerializeToString(), model("main () => () { }")])
def test_graph_may_be_a_proto_or_bytes(source):
    assert load_body(source, {"w": np.float32(1)}) is not None


def test_path_is_read(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(model("main (float[2] x) => (float[2] y) { y = Neg(x) }").SerializeToString())
    assert result(path) == [-1, -2]


def test_name_without_a_value_is_requested_for():
    with pytest.raises(LoadError) as caught:
        load_body(BODY, {})
    assert str(caught.value) == "the body reads 'w', which it does not make\n  fix: pass its value: w=array"


def test_body_of_a_branch_reads_names_from_outside_too():
    source = model("""main (bool c, float x) => (float y) {
        y = If (c) <then_branch = t () => (float r) { r = Neg(a) }, else_branch = e () => (float r) { r = Abs(b) }>
    }""")
    with pytest.raises(LoadError, match="the body reads 'a'"):
        load_body(source, {})
    module = load_body(source, {"a": np.float32(1), "b": np.float32(2)})
    assert sorted(module.defaults) == ["a", "b"]


@pytest.mark.parametrize("value", [None, object(), {"a": 1}], ids=["None", "object", "dict"])
def test_value_that_is_no_array_is_refused(value):
    with pytest.raises(LoadError) as caught:
        load_body(BODY, {"w": value})
    assert str(caught.value) == "the value of 'w': is no array\n  fix: give numbers, text, or a list of arrays"


def test_text_and_sequences_are_values():
    text = model("main (string[1] x) => (string[2] y) { y = Concat<axis = 0> (x, w) }").graph
    module = load_body(text, {"w": np.array(["b"])})
    assert whorl.run(module, {"x": np.array(["a"], object)})["y"].tolist() == ["a", "b"]
    items = model("main (int64 x) => (float[2] y) { y = SequenceAt(w, x) }").graph
    module = load_body(items, {"w": [X, X + 1]})
    assert whorl.run(module, {"x": np.array(1)})["y"].tolist() == [2, 3]


def test_body_that_is_no_graph_is_refused():
    with pytest.raises(LoadError) as caught:
        load_body(3, {})
    assert str(caught.value) == "the body is int\n  fix: give a graph, bytes, a path or a Python function"


def test_element_type_that_onnx_does_not_define_is_refused():
    info = helper.make_tensor_value_info("x", 99, [2])
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "b", [info], [out])
    with pytest.raises(LoadError) as caught:
        load_body(graph, {"w": 1})
    assert str(caught.value) == "'x' has element type number 99, which ONNX does not define"
