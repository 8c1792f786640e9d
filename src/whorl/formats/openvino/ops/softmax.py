"""Softmax kinds and the normalizations of distributions read."""

from __future__ import annotations

from whorl.formats.openvino.importing import IrNode, importer
from whorl.formats.openvino.ops.common import emit
from whorl.ir.build import Builder
from whorl.ir.graph import Value
from whorl.ops.reduce.softmax import LogSoftmax, Softmax


@importer("SoftMax", 1, 8)
def soft_max_1(node: IrNode, build: Builder) -> list[Value]:
    return emit(node, build, Softmax(node.integer("axis", 1)), node.required(0))


@importer("LogSoftmax", 5)
def log_softmax_5(node: IrNode, build: Builder) -> list[Value]:
    return emit(node, build, LogSoftmax(node.integer("axis", 1)), node.required(0))
