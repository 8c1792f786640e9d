"""Softmax kinds written."""

from __future__ import annotations

import numpy as np

from whorl.formats.openvino.exporting import LayerWriter, Source, exporter, rewritten
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.selection import OneHot
from whorl.ops.movement.shapes import Shape
from whorl.ops.reduce.reductions import ArgMax
from whorl.ops.reduce.softmax import Distribution, Hardmax


@exporter("Softmax")
def softmax(node: Node, write: LayerWriter) -> list[Source]:
    return _distribution("SoftMax", 8, node, write)


@exporter("LogSoftmax")
def log_softmax(node: Node, write: LayerWriter) -> list[Source]:
    return _distribution("LogSoftmax", 5, node, write)


def _distribution(type: str, version: int, node: Node, write: LayerWriter) -> list[Source]:
    op = node.op
    assert isinstance(op, Distribution)
    return write.layer(
        type, version, [write.source(node.inputs[0])], [tensor(node.outputs[0])], node.name, axis=op.axis
    )


@rewritten("Hardmax")
def hardmax(node: Node, build: Builder, x: Value) -> Value:
    op = node.op
    assert isinstance(op, Hardmax)
    place = build.constant(np.array(op.axis, np.int64))
    depth, values = build.add(Gather(0), build.add(Shape(), x), place), np.array([0, 1], tensor(x).dtype)
    return build.add(OneHot(op.axis), build.add(ArgMax(op.axis, keepdims=0), x), depth, build.constant(values))
