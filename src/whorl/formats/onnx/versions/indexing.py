"""Scatter, the old name of ScatterElements, and reductions that older opsets do not have."""

from __future__ import annotations

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.importing import OnnxNode, importer
from whorl.formats.onnx.versions.limits import require_element_type
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value
from whorl.ops.movement.scattering import ScatterElements, ScatterND


@importer("Scatter")
def scatter(node: OnnxNode, build: Builder) -> list[Value]:
    """Renamed in version 11."""
    return build.add_many(ScatterElements(node.attribute("axis", 0)), node.inputs, node.outputs, name=node.name)


@exporter("ScatterElements", until=17)
@exporter("ScatterND", until=17)
def scatter_17(node: Node, write: NodeWriter) -> None:
    """No reduction before 16, and only sums and products before 18; ScatterElements is Scatter before 11."""
    op = node.op
    assert isinstance(op, (ScatterElements, ScatterND))
    name = "Scatter" if isinstance(op, ScatterElements) and write.opset < 11 else op.name
    require_element_type(node.inputs[0], name, write)
    since = {"none": 1, "add": 16, "mul": 16}.get(op.reduction, 18)
    if write.opset < since:
        raise SaveError(f"reduction is {op.reduction!r}", fix=f"opset {since} or later can say it")
    axis = op.axis if isinstance(op, ScatterElements) else None
    reduction = None if op.reduction == "none" else op.reduction
    names = [write.name(x) for x in node.inputs]
    write.node(name, names, write.outputs(node), name=node.name, axis=axis, reduction=reduction)
