"""Gradient, which names other tensors of its graph."""

import pytest
from onnx import TensorProto, helper

from whorl.api.models import load
from whorl.errors import RunError, SaveError
from whorl.formats.onnx.saving import to_proto
from whorl.runtime.session import Session


def gradient_of_square(y="y"):
    values = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in ("x", "y", "slope")}
    nodes = [
        helper.make_node("Mul", ["x", "x"], ["y"]),
        helper.make_node("Gradient", ["x"], ["slope"], domain="ai.onnx.preview.training", xs=["x"], y=y),
    ]
    graph = helper.make_graph(nodes, "case", [values["x"]], [values["y"], values["slope"]])
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.preview.training", 1)]
    return load(helper.make_model(graph, opset_imports=imports, ir_version=9))


def test_gradient_is_written_while_its_names_are_there():
    node = to_proto(gradient_of_square()).graph.node[1]
    assert {a.name: a.strings or a.s for a in node.attribute} == {"xs": [b"x"], "y": b"y"}


def test_gradient_of_a_tensor_that_is_gone_is_refused():
    with pytest.raises(SaveError, match="speaks of 'loss', which the graph does not have any more"):
        to_proto(gradient_of_square(y="loss"))


def test_gradient_is_typed_and_refuses_to_run():
    module = gradient_of_square()
    assert str(module.main.results[1].type) == "float32[2]"
    with pytest.raises(RunError, match="the gradient of 'y' needs the graph that computes it"):
        Session(module).execute(None, {"x": [1.0, 2.0]})
