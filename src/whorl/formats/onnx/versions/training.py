"""ai.onnx.preview.training: Gradient, which speaks of other tensors by name."""

from __future__ import annotations

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.versions.ml import write_explicit
from whorl.ir.graph import Node
from whorl.ops.ml.training import Gradient


@exporter("Gradient")
def gradient(node: Node, write: NodeWriter) -> None:
    """Only where the tensors it names are still there."""
    op = node.op
    assert isinstance(op, Gradient)
    present = set(write.values.values())
    for name in (*op.xs, *op.zs, op.y):
        if name not in present:
            raise SaveError(f"speaks of {name!r}, which the graph does not have any more")
    write_explicit(node, write)
