"""Optionals written for opsets in which tensors and sequences are not taken for optionals."""

import numpy as np
import pytest
from onnx import TensorProto, checker, helper

from whorl.api.models import load
from whorl.errors import SaveError
from whorl.formats.onnx.saving import to_proto
from whorl.runtime.session import Session

TENSOR = helper.make_tensor_type_proto(TensorProto.FLOAT, [2])
KINDS = {
    "tensor": TENSOR,
    "sequence": helper.make_sequence_type_proto(TENSOR),
    "optional": helper.make_optional_type_proto(TENSOR),
}


def module(op, kind):
    """A model of one node on a tensor, a sequence or an optional."""
    expected = KINDS["tensor" if kind == "optional" else kind]
    if op == "OptionalHasElement":
        expected = helper.make_tensor_type_proto(TensorProto.BOOL, [])
    values = [helper.make_value_info("x", KINDS[kind]), helper.make_value_info("y", expected)]
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"])], "case", values[:1], values[1:])
    return load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("op", ["OptionalGetElement", "OptionalHasElement"])
def test_before_18_only_optionals_stay_what_they_are(op, kind):
    proto = to_proto(module(op, kind), opset=16)
    checker.check_model(proto, full_check=True)
    assert [node.op_type for node in proto.graph.node] == [op if kind == "optional" else "Identity"]


def test_has_element_of_a_tensor_is_true_all_the_same():
    proto = to_proto(module("OptionalHasElement", "tensor"), opset=10)
    (answer,) = Session(load(proto)).execute(None, {"x": np.zeros(2, np.float32)})
    assert answer.shape == () and answer


def test_get_element_of_a_sequence_is_refused_before_14():
    with pytest.raises(SaveError, match=r"passes on seq\(float32\[2\]\)"):
        to_proto(module("OptionalGetElement", "sequence"), opset=13)


def test_get_element_of_an_optional_is_refused_before_15():
    with pytest.raises(SaveError, match="OptionalGetElement came with version"):
        to_proto(module("OptionalGetElement", "optional"), opset=14)
