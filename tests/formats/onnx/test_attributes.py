"""Attributes of nodes as Python values."""

import numpy as np
import pytest
from onnx import AttributeProto, TensorProto, helper
from onnx_text import model, refusal, run

from whorl.errors import LoadError
from whorl.formats.onnx.attributes import attribute_value, graphs_of, with_kind

X = np.array([1, 2], np.float32)


def test_ir_version_1_has_attributes_without_a_kind():
    source = model("main (float[2] x) => (float[4] y) { y = Concat<axis = 0> (x, x) }", 1)
    source.ir_version = 1
    source.graph.node[0].attribute[0].ClearField("type")
    np.testing.assert_array_equal(run(source, x=X), [[1, 2, 1, 2]])


def test_ir_version_1_has_graphs_without_a_kind():
    source = model(
        """main (bool c, float x) => (float y) {
            y = If (c) <then_branch = t () => (float r) { r = Neg(late) },
                        else_branch = e () => (float r) { r = Abs(x) }>
            late = Neg(x)
        }""",
        1,
    )
    source.ir_version = 1
    for attribute in source.graph.node[0].attribute:
        attribute.ClearField("type")
    np.testing.assert_array_equal(run(source, c=np.array(True), x=np.float32(3)), [3])


FLOATS = helper.make_tensor("t", TensorProto.FLOAT, [2], [1.0, 2.0])
VALUES = [
    (-3, -3),
    (0, 0),
    (0.5, 0.5),
    ("é", "é"),
    (b"\xff", "\udcff"),
    ([1, 2], (1, 2)),
    ([1.0, 2.0], (1.0, 2.0)),
    (["a", "b", "a"], ("a", "b", "a")),
]


@pytest.mark.parametrize(("value", "expected"), VALUES, ids=repr)
def test_value_is_a_number_a_text_or_a_tuple(value, expected):
    result = attribute_value(helper.make_attribute("a", value), None)
    assert (result, type(result)) == (expected, type(expected))


def test_tensors_are_arrays_and_graphs_stay_protos():
    assert attribute_value(helper.make_attribute("a", FLOATS), None).tolist() == [1, 2]
    pair = attribute_value(helper.make_attribute("a", [FLOATS, FLOATS]), None)
    assert [array.tolist() for array in pair] == [[1, 2], [1, 2]]
    graph = helper.make_graph([], "g", [], [])
    assert attribute_value(helper.make_attribute("a", graph), None).name == "g"
    type = helper.make_attribute("a", helper.make_tensor_type_proto(TensorProto.INT8, [2]))
    assert str(attribute_value(type, None)) == "int8[2]"


@pytest.mark.parametrize("kind", ["INT", "FLOAT", "STRING", "INTS"])
def test_attribute_without_content_is_0_or_empty(kind):
    attribute = AttributeProto(name="a", type=getattr(AttributeProto, kind))
    assert attribute_value(attribute, None) == {"INT": 0, "FLOAT": 0.0, "STRING": "", "INTS": ()}[kind]


def test_content_of_another_kind_than_the_declared_one_is_refused():
    source = model("main (float[2] x) => (float[4] y) { [c] y = Concat<axis = 0> (x, x) }")
    attribute = source.graph.node[0].attribute[0]
    attribute.ClearField("i")
    attribute.f = 1
    assert refusal(source) == "Concat 'c': attribute 'axis' is declared INT, its content is FLOAT"


def test_kind_that_onnx_does_not_define_is_refused():
    with pytest.raises(LoadError) as caught:
        attribute_value(AttributeProto(name="a", i=1), None)
    assert str(caught.value) == ("attribute 'a' has no kind that ONNX defines\n  fix: write the attribute's type field")


def test_kind_that_is_left_out_is_that_of_the_only_content():
    attribute = AttributeProto(name="a", ints=[1])
    assert with_kind(attribute).type == AttributeProto.INTS
    assert attribute.type == AttributeProto.UNDEFINED
    assert with_kind(AttributeProto(name="a", i=1, f=1)).type == AttributeProto.UNDEFINED


def test_graphs_of_an_attribute_are_ones_of_its_kind():
    graph = helper.make_graph([], "g", [], [])
    one, two = AttributeProto(name="a", g=graph), AttributeProto(name="a", graphs=[graph, graph])
    assert [len(graphs_of(each)) for each in (one, two, AttributeProto(name="a", i=1))] == [1, 2, 0]
