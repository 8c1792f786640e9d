"""Shapes, and tensors of a shape, written."""

from __future__ import annotations

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.exporting import LayerWriter, Source, exporter, rewritten
from whorl.formats.openvino.ops.common_out import (
    counted,
    length_of_axis,
    plain,
    row,
    types_of,
    whole,
)
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.casting import Cast
from whorl.ops.comparison import Equal
from whorl.ops.elementwise import Sub
from whorl.ops.filling import ConstantOfShape, EyeLike
from whorl.ops.movement import Concat, Slice
from whorl.ops.reductions import ReduceProd
from whorl.ops.shapes import Flatten, Reshape, Shape, Unsqueeze


@exporter("Shape")
def write_shape(node: Node, write: LayerWriter) -> list[Source]:
    """All lengths, or those that a slice picks."""
    op, x = node.op, write.source(node.inputs[0])
    assert isinstance(op, Shape)
    if op.start or op.end is not None:
        return write.through(node, lambda build, x: _some_lengths(op, build, x))
    return write.layer("ShapeOf", 3, [x], types_of(node.outputs), output_type=INT64)


def _some_lengths(op: Shape, build: Builder, x: Value) -> Value:
    end = np.iinfo(np.int64).max if op.end is None else op.end
    rows = (build.int64(number) for number in (op.start, end, 0, 1))
    return build.add(Slice(), build.add(Shape(), x), *rows)


@rewritten("Size")
def size(node: Node, build: Builder, x: Value) -> Value:
    """The product of the lengths."""
    return build.add(ReduceProd(keepdims=0), build.add(Shape(), x), build.int64(0))


@exporter("Reshape")
def write_reshape(node: Node, write: LayerWriter) -> Source | list[Source]:
    """0 copies a length, or is one."""
    op = node.op
    assert isinstance(op, Reshape)
    return plain("Reshape", 1, special_zero=not op.allowzero)(node, write)


@rewritten("Flatten")
def flatten(node: Node, build: Builder, x: Value) -> Value:
    """Two axes: what lies before `axis`, and the rest."""
    op = node.op
    assert isinstance(op, Flatten)
    if op.axis in (0, 1):
        return build.add(Reshape(), x, build.int64(*((1, -1), (0, -1))[op.axis]))
    sides = (build.add(Shape(*bounds), x) for bounds in ((0, op.axis), (op.axis, None)))
    lengths = (build.add(ReduceProd(), side, build.int64(0)) for side in sides)
    return build.add(Reshape(allowzero=1), x, build.add(Concat(0), *lengths))


@exporter("Squeeze")
def write_squeeze(node: Node, write: LayerWriter) -> list[Source]:
    """Axes are listed where the shape tells them."""
    x, axes = write.source(node.inputs[0]), node.inputs[1] if len(node.inputs) > 1 else None
    shape = x.type.shape
    if axes is not None:
        given = [write.source(axes)]
    elif not isinstance(shape, AnyShape) and all(isinstance(dim, int) for dim in shape):
        given = [row(write, [k for k, dim in enumerate(shape) if dim == 1])]
    else:
        given = []
    return write.layer("Squeeze", 1, [x, *given], types_of(node.outputs))


exporter("Unsqueeze")(plain("Unsqueeze", 1))
exporter("Expand")(plain("Broadcast", 3, mode="bidirectional"))


@exporter("Tile")
def write_tile(node: Node, write: LayerWriter) -> Source | list[Source]:
    """A scalar stays."""
    return write.source(node.inputs[0]) if tensor(node.outputs[0]).rank == 0 else plain("Tile", 1)(node, write)


@exporter("ConstantOfShape")
def write_filled(node: Node, write: LayerWriter) -> list[Source]:
    """A number broadcast to a shape."""
    op = node.op
    assert isinstance(op, ConstantOfShape)
    value = np.zeros((), np.float32) if op.value is None else np.asarray(op.value).reshape(())
    inputs = [write.constant(value), write.source(node.inputs[0])]
    return write.layer("Broadcast", 3, inputs, types_of(node.outputs), mode="numpy")


@exporter("Range")
def write_range(node: Node, write: LayerWriter) -> list[Source]:
    """OpenVINO's CPU plugin counts backwards where there is nothing to count, so the limit is kept behind the start."""
    (result,) = types_of(node.outputs)
    start, limit, step = (_without_axes(write, write.source(value)) for value in node.inputs)
    steps, ends = write.constant_value(node.inputs[2]), [write.constant_value(value) for value in node.inputs[:2]]
    if steps is None:
        raise SaveError("the step is computed at run time", fix="make it a constant")
    rising = bool((steps > 0).all())
    known = all(end is not None for end in ends)
    if known and bool(np.all((ends[1] < ends[0]) if rising else (ends[1] > ends[0]))):
        return [write.constant(np.zeros(0, result.dtype))]
    if not known:
        kind = "Maximum" if rising else "Minimum"
        (limit,) = write.layer(kind, 1, [limit, start], [limit.type], auto_broadcast="numpy")
    return write.layer("Range", 4, [start, limit, step], [result], output_type=result.dtype)


def _without_axes(write: LayerWriter, source: Source) -> Source:
    if source.type.shape == ():
        return source
    shape = write.constant(np.zeros(0, np.int64))
    return write.layer("Reshape", 1, [source, shape], [source.type.with_shape(())], special_zero=False)[0]


@rewritten("EyeLike")
def eye_like(node: Node, build: Builder, x: Value) -> Value:
    """Ones where the column minus the row is k."""
    op = node.op
    assert isinstance(op, EyeLike)
    down, across = (counted(build, length_of_axis(build, x, axis)) for axis in (0, 1))
    gap = build.add(Sub(), across, build.add(Unsqueeze(), down, build.int64(1)))
    return build.add(Cast(op.dtype or tensor(x).dtype), build.add(Equal(), gap, whole(build, op.k)))
