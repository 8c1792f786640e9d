"""Softmax, LogSoftmax and Hardmax before 13, which see a matrix: all axes before `axis` by all from it on."""

from __future__ import annotations

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.importing import OnnxNode, importer, make_op
from whorl.formats.onnx.versions.limits import axis_for, require_element_type
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.movement.shapes import Flatten, Reshape, Shape
from whorl.ops.reduce.softmax import Distribution


@importer("Hardmax", until=12)
@importer("LogSoftmax", until=12)
@importer("Softmax", until=12)
def distribution_1(node: OnnxNode, build: Builder) -> list[Value]:
    """Along the rows of the flattened input; from the last axis on that is the last axis."""
    x, axis = node.required(0), node.attribute("axis", 1)
    op = make_op(node, axis=-1)
    if axis == -1:
        return build.add_many(op, [x], node.outputs, name=node.name)
    rows = build.add(op, build.add(Flatten(axis), x), name=node.name)
    return build.add_many(Reshape(allowzero=1), [rows, build.add(Shape(), x)], node.outputs)


@exporter("Hardmax", until=12)
@exporter("LogSoftmax", until=12)
@exporter("Softmax", until=12)
def distribution_12(node: Node, write: NodeWriter) -> None:
    """Along the last axis as it is, along another one between two transpositions."""
    op, x = node.op, node.inputs[0]
    assert isinstance(op, Distribution) and x is not None
    require_element_type(x, op.name, write)
    operand, outputs = write.name(x), write.outputs(node)
    rank = tensor(x).rank
    if op.axis == -1 or (rank is not None and op.axis % rank == rank - 1):
        return write.node(op.name, [operand], outputs, name=node.name, axis=axis_for(op.axis, x, write))
    if rank is None:
        raise SaveError(
            f"axis {op.axis} of a tensor of unknown rank may not be the last", fix="opset 13 or later can say it"
        )
    swapped = list(range(rank))
    swapped[op.axis], swapped[-1] = rank - 1, op.axis % rank
    turned, result = write.fresh("turned"), write.fresh("turned")
    write.node("Transpose", [operand], [turned], perm=swapped)
    write.node(op.name, [turned], [result], name=node.name, axis=rank - 1)
    write.node("Transpose", [result], outputs, perm=swapped)
