"""Softmax kinds, and the normalizations of distributions."""

from __future__ import annotations

import numpy as np

from whorl.formats.openvino.ops.nodes import emit
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import LayerWriter, Source, exporter, rewritten
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.selection import OneHot
from whorl.ops.movement.shapes import Shape
from whorl.ops.reduce.reductions import ArgMax
from whorl.ops.reduce.softmax import Distribution, Hardmax, LogSoftmax, Softmax


@importer("SoftMax", 1, 8)
def soft_max_1(node: IrNode, build: Builder) -> list[Value]:
    return emit(node, build, Softmax(node.integer("axis", 1)), node.required(0))


@importer("LogSoftmax", 5)
def log_softmax_5(node: IrNode, build: Builder) -> list[Value]:
    return emit(node, build, LogSoftmax(node.integer("axis", 1)), node.required(0))


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
