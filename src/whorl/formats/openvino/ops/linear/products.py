"""Matrix products."""

from __future__ import annotations

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import exporter
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64, is_float
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, TensorType, tensor
from whorl.ops.elementwise.arithmetic import Mul
from whorl.ops.linear.products import Gemm, MatMul
from whorl.ops.movement.axes import Concat, Slice, Transpose
from whorl.ops.movement.shapes import Reshape, Shape, Squeeze, Unsqueeze
from whorl.ops.reduce.reductions import ReduceProd, ReduceSum

_FAR = (1 << 63) - 1


@importer("MatMul", 1)
def mat_mul_1(node: IrNode, build: Builder) -> list[Value]:
    """The last two axes of an operand are swapped by its flag; a vector has no two."""
    a, b = node.required(0), node.required(1)
    a = turned(build, a) if node.flag("transpose_a", False) else a
    b = turned(build, b) if node.flag("transpose_b", False) else b
    return build.add_many(MatMul(), [a, b], node.outputs, name=node.name)


def turned(build: Builder, x: Value) -> Value:
    """The last two axes swapped. OpenVINO computes nothing whose rank changes, so a known rank stays."""
    shape = tensor(x).shape
    if isinstance(shape, AnyShape):
        return _turned_at_any_rank(build, x)
    if len(shape) < 2:
        return x
    return build.add(Transpose((*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)), x)


def _turned_at_any_rank(build: Builder, x: Value) -> Value:
    """As three axes, of which the last two are swapped; a vector is one row until then."""
    shape = build.add(Shape(), x)
    leading, last = _part(build, shape, 0, -2), _part(build, shape, -2, _FAR)
    count = build.add(ReduceProd(keepdims=1), leading, build.int64(0))
    padded = build.add_many(Concat(0), [build.int64(1), last], ["padded"])[0]
    rows = build.add_many(Concat(0), [count, _part(build, padded, -2, _FAR)], ["rows"])[0]
    turned = build.add(Transpose((0, 2, 1)), build.add(Reshape(allowzero=1), x, rows))
    target = build.add_many(Concat(0), [leading, _part(build, shape, -1, -3, -1)], ["target"])[0]
    return build.add(Reshape(allowzero=1), turned, target)


def _part(build: Builder, x: Value, start: int, stop: int, step: int = 1) -> Value:
    """Elements of a vector."""
    return build.add(Slice(), x, *(build.constant(np.array([n], INT64)) for n in (start, stop, 0, step)))


@exporter(MatMul)
def mat_mul(op: MatMul, node: Node, write: NetWriter) -> Source | list[Source]:
    """Integers are multiplied and summed apart, since the CPU plugin's products of matrices are products of floats."""
    a, b = (write.source(value) for value in node.inputs)
    type = tensor(node.outputs[0])
    if is_float(type.dtype):
        return write.layer("MatMul", 1, [a, b], [type], node.name, transpose_a=False, transpose_b=False)
    return write.through(node, _summed)


def _summed(build: Builder, a: Value, b: Value) -> Value:
    """The product as a sum over a new axis, [..., rows, inner, 1] * [..., 1, inner, columns]."""
    ranks = tensor(a).rank, tensor(b).rank
    if ranks[0] is None or ranks[1] is None:
        raise SaveError("multiplies integers of unknown rank", fix="declare the ranks")
    left = build.add(Unsqueeze(), a, build.int64(-1))
    left = left if ranks[0] > 1 else build.add(Unsqueeze(), left, build.int64(0))
    right = build.add(Unsqueeze(), b, build.int64(-1)) if ranks[1] == 1 else b
    right = build.add(Unsqueeze(), right, build.int64(-3))
    total = build.add(ReduceSum(keepdims=0), build.add(Mul(), left, right), build.int64(-2))
    dropped = [axis for axis, rank in ((-2, ranks[0]), (-1, ranks[1])) if rank == 1]
    return build.add(Squeeze(), total, build.int64(*dropped)) if dropped else total


@exporter(Gemm)
def gemm(op: Gemm, node: Node, write: NetWriter) -> Source | list[Source]:
    type = tensor(node.outputs[0])
    if not is_float(type.dtype):
        raise SaveError("multiplies integers", fix="use MatMul")
    a, b = (write.source(value) for value in node.inputs[:2])
    (y,) = write.layer("MatMul", 1, [a, b], [type], node.name, transpose_a=bool(op.transA), transpose_b=bool(op.transB))
    c = (*node.inputs, None)[2]
    y = _scaled(write, y, type, op.alpha)
    if c is None or not op.beta:
        return y
    added = _scaled(write, write.source(c), tensor(c), op.beta)
    return write.layer("Add", 1, [y, added], [type], auto_broadcast="numpy")


def _scaled(write: NetWriter, x: Source, type: TensorType, factor: float) -> Source:
    if factor == 1:
        return x
    number = write.constant(np.array(factor, type.dtype))
    return write.layer("Multiply", 1, [x, number], [type], auto_broadcast="numpy")[0]
