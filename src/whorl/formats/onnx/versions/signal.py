"""DFT before 20: the axis is an attribute, 1 by default."""

from __future__ import annotations

import numpy as np

from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.importing import OnnxNode, importer, make_op
from whorl.formats.onnx.versions.constants import fixed_ints
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value
from whorl.ops.signal.fourier import DFT


@importer("DFT", until=19)
def dft_17(node: OnnxNode, build: Builder) -> list[Value]:
    """The axis becomes an input."""
    axis = build.constant(np.array(node.attribute("axis", 1), np.int64), "axis")
    op = make_op(node, axis=None)
    return build.add_many(op, [node.required(0), node.input(1), axis], node.outputs, name=node.name)


@exporter("DFT", until=19)
def dft_19(node: Node, write: NodeWriter) -> None:
    """The axis becomes an attribute."""
    op, (x, length, axis) = node.op, (*node.inputs, None, None)[:3]
    assert isinstance(op, DFT)
    (at,) = (-2,) if axis is None else fixed_ints(axis, "axis", 20, write)
    write.node(
        "DFT",
        [write.name(x), write.name(length)],
        write.outputs(node),
        name=node.name,
        axis=at,
        inverse=op.inverse,
        onesided=op.onesided,
    )
