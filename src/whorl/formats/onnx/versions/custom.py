"""Operators that a user registered: nodes with their own domain and name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.ir.graph import Node
from whorl.ops.core.custom import CustomOp


@exporter("CustomOp")
@exporter("ImpureCustomOp")
def write_custom(node: Node, write: NodeWriter) -> None:
    """The node as it was read."""
    op = node.op
    assert isinstance(op, CustomOp)
    inputs = [write.name(value) for value in node.inputs]
    write.node(op.type, inputs, write.outputs(node), op.of, node.name, **dict(op.attributes))


def run_of_class(kind: type, domain: str, name: str) -> Callable[..., Any]:
    """What a class with `_run` computes, as `onnx.reference.ReferenceEvaluator` calls it.

    One that derives from `onnx.reference.op_run.OpRun` is made with a node that has the attributes.
    """
    from onnx import helper
    from onnx.reference.op_run import OpRun

    if not issubclass(kind, OpRun):
        return lambda *inputs, **attributes: kind()._run(*inputs, **attributes)

    def run(*inputs: Any, **attributes: Any) -> Any:
        node = helper.make_node(name, [f"x{k}" for k in range(len(inputs))], ["y"], domain=domain, **attributes)
        parameters = {"log": lambda *_: None, "opsets": {domain: 1}, "new_ops": {}, "verbose": 0}
        return kind(node, parameters).run(*inputs)

    return run
