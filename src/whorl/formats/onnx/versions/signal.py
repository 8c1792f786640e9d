"""DFT before 20: the axis is an attribute, 1 by default."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import exporter
from whorl.formats.onnx.importing import OnnxNode, importer, make_op
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value
from whorl.ops.base import one_element
from whorl.ops.signal import DFT

if TYPE_CHECKING:
    from whorl.formats.onnx.writer import GraphWriter


@importer("DFT", until=19)
def dft_17(node: OnnxNode, build: Builder) -> list[Value]:
    """The axis becomes an input."""
    axis = build.constant(np.array(node.attribute("axis", 1), np.int64), "axis")
    op = make_op(node, axis=None)
    return build.add_many(op, [node.required(0), node.input(1), axis], node.outputs, name=node.name)


@exporter("DFT", until=19)
def dft_19(node: Node, write: GraphWriter) -> None:
    """The axis becomes an attribute."""
    op, inputs = node.op, (*node.inputs, None, None)
    assert isinstance(op, DFT)
    axis = np.array(-2) if inputs[2] is None else write.constant_value(inputs[2])
    if axis is None:
        raise SaveError("the axis is computed", fix="opset 20 or later can say it")
    write.node(
        "DFT",
        [write.name(x) for x in inputs[:2]],
        write.outputs(node),
        name=node.name,
        axis=int(one_element(axis, "axis")),
        inverse=op.inverse,
        onesided=op.onesided,
    )
