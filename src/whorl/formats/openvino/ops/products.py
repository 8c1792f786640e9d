"""MatMul read."""

from __future__ import annotations

import numpy as np

from whorl.formats.openvino.importing import IrNode, importer
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.linear.products import MatMul
from whorl.ops.movement.axes import Concat, Slice, Transpose
from whorl.ops.movement.shapes import Reshape, Shape
from whorl.ops.reduce.reductions import ReduceProd

_FAR = (1 << 63) - 1


@importer("MatMul", 1)
def mat_mul_1(node: IrNode, build: Builder) -> list[Value]:
    """The last two axes of an operand change places if so asked; a vector has no two."""
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
