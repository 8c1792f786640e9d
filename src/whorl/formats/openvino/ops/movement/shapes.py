"""Shapes: asking for them, the same elements under another one, and tensors of a shape."""

from __future__ import annotations

import numpy as np

from whorl.errors import LoadError
from whorl.formats.openvino.ops.movement.run_time_axes import with_axes_at_run_time, without_axes_at_run_time
from whorl.formats.openvino.ops.nodes import (
    constant_of,
    counted,
    emit,
    integers_of,
    length_of,
    length_of_axis,
    listed,
    whole,
)
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import exporter, rewritten
from whorl.formats.openvino.writing.layers import drop_axes, integers, scalar, types_of, write_layer
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.core.base import known_length
from whorl.ops.elementwise.arithmetic import Identity, Max, Min, Mul, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Equal
from whorl.ops.movement.axes import Concat, Slice, Tile
from whorl.ops.movement.filling import ConstantOfShape, EyeLike, Range
from whorl.ops.movement.shapes import Expand, Flatten, Reshape, Shape, Size, Squeeze, Unsqueeze
from whorl.ops.reduce.reductions import ReduceProd


@importer("ShapeOf", 1, 3)
def shape_of_1(node: IrNode, build: Builder) -> list[Value]:
    """Version 3 has the element type as an attribute."""
    x, dtype = node.required(0), node.dtype("output_type", "i64")
    if dtype == INT64:
        return emit(node, build, Shape(), x)
    return emit(node, build, Cast(dtype), build.add(Shape(), x))


def read_reshape(node: IrNode, build: Builder, op: Reshape) -> list[Value]:
    """The shape may be of any integer type."""
    return emit(node, build, op, node.required(0), listed(build, node.required(1)))


@importer("Squeeze", 1, 15)
def squeeze_1(node: IrNode, build: Builder) -> list[Value]:
    """A listed axis that is longer than 1 remains; without a list all of length 1 are dropped."""
    node.flag("allow_axis_skip", False)
    x, axes = node.required(0), node.input(1)
    if axes is None or length_of(axes) == 0:
        return emit(node, build, Squeeze(), x)
    picked, shape = integers_of(axes), tensor(x).shape
    if picked is None or isinstance(shape, AnyShape):
        return emit(node, build, Squeeze(), x, listed(build, axes))
    going = [axis for axis in picked if not -len(shape) <= axis < len(shape) or _may_be_one(shape[axis])]
    if not going:
        return emit(node, build, Identity(), x)
    return emit(node, build, Squeeze(), x, build.int64(*going, name="axes"))


def _may_be_one(dim: object) -> bool:
    return not isinstance(dim, int) or dim == 1


@importer("Unsqueeze", 1)
def unsqueeze_1(node: IrNode, build: Builder) -> list[Value]:
    """Axes are counted in the result."""
    return emit(node, build, Unsqueeze(), node.required(0), listed(build, node.required(1)))


@importer("Broadcast", 1, 3)
def broadcast_1(node: IrNode, build: Builder) -> list[Value]:
    """To a shape; `explicit` maps each axis of the input to one of the result."""
    x, shape, mapping = node.required(0), listed(build, node.required(1)), constant_of(node.input(2))
    mode = node.text("mode", "numpy", ("numpy", "none", "explicit", "bidirectional", "pdpd"))
    if mode == "pdpd":
        raise LoadError("broadcasts as PaddlePaddle does", node.title, "use mode numpy or explicit")
    if mode in ("none", "explicit"):
        rank = length_of(shape)
        if mapping is None or rank is None:
            raise LoadError("axes_mapping or the rank of the result is computed at run time", node.title, "fix both")
        new = sorted(set(range(rank)) - {int(axis) for axis in mapping.reshape(-1)})
        x = build.add(Unsqueeze(), x, build.int64(*new, name="axes")) if new else x
    return emit(node, build, Expand(), x, shape)


@importer("Tile", 1)
def tile_1(node: IrNode, build: Builder) -> list[Value]:
    """Repeats and the shape lie with their last elements beside each other; ones fill the shorter of them."""
    x, repeats = node.required(0), listed(build, node.required(1))
    count, rank = length_of(repeats), tensor(x).rank
    if count is not None and rank is not None:
        if count > rank:
            x = build.add(Unsqueeze(), x, build.int64(*range(count - rank), name="axes"))
        elif count < rank:
            repeats = build.add(Concat(0), build.int64(*(1,) * (rank - count), name="ones"), repeats)
        return emit(node, build, Tile(), x, repeats)
    shape = build.add(Shape(), x)
    lengths = [build.add(Size(), row) for row in (shape, repeats)]
    shape = build.add(Concat(0), _ones(build, lengths[1], lengths[0]), shape)
    repeats = build.add(Concat(0), _ones(build, *lengths), repeats)
    return emit(node, build, Tile(), build.add(Reshape(allowzero=1), x, shape), repeats)


def _ones(build: Builder, longer: Value, shorter: Value) -> Value:
    """As many ones as one length exceeds another."""
    missing = build.add(Max(), build.add(Sub(), longer, shorter), build.constant(np.array(0, np.int64)))
    count = build.add(Reshape(), missing, build.int64(1))
    return build.add(ConstantOfShape(np.ones(1, np.int64)), count)


@exporter(Shape)
def write_shape(op: Shape, node: Node, write: NetWriter) -> list[Source]:
    """All lengths, or those that a slice picks."""
    x = write.source(node.inputs[0])
    if op.start or op.end is not None:
        return write.through(node, lambda build, x: _some_lengths(op, build, x))
    return write.layer("ShapeOf", 3, [x], types_of(node.outputs), output_type=INT64)


def _some_lengths(op: Shape, build: Builder, x: Value) -> Value:
    end = np.iinfo(np.int64).max if op.end is None else op.end
    rows = (build.int64(number) for number in (op.start, end, 0, 1))
    return build.add(Slice(), build.add(Shape(), x), *rows)


@rewritten(Size)
def size(op: Size, build: Builder, x: Value) -> Value:
    """The product of the lengths."""
    return build.add(ReduceProd(keepdims=0), build.add(Shape(), x), build.int64(0))


@exporter(Expand)
def write_expand(op: Expand, node: Node, write: NetWriter) -> list[Source]:
    return write_layer(write, node, "Broadcast", 3, mode="bidirectional")


@rewritten(Flatten)
def flatten(op: Flatten, build: Builder, x: Value) -> Value:
    """Two axes: what lies before `axis`, and the rest."""
    simple = {0: (1, -1), 1: (0, -1), tensor(x).rank: (-1, 1)}
    if op.axis in simple:
        return build.add(Reshape(), x, build.int64(*simple[op.axis]))
    sides = (build.add(Shape(*bounds), x) for bounds in ((0, op.axis), (op.axis, None)))
    lengths = (build.add(ReduceProd(), side, build.int64(0)) for side in sides)
    return build.add(Reshape(allowzero=1), x, build.add(Concat(0), *lengths))


@exporter(Squeeze)
def write_squeeze(op: Squeeze, node: Node, write: NetWriter) -> list[Source]:
    """Axes are listed where the shape tells them; where it does not, OpenVINO may still know more of it."""
    x, axes = write.source(node.inputs[0]), node.inputs[1] if len(node.inputs) > 1 else None
    shape, rank, left = x.type.shape, x.type.rank, tensor(node.outputs[0]).rank
    if axes is not None and write.constant_value(axes) is None and rank is not None and left is not None:
        return write.through(node, lambda build, y, going: without_axes_at_run_time(build, y, going, rank, left))
    if axes is not None:
        listed_axes = [write.source(axes)]
    elif not isinstance(shape, AnyShape) and all(isinstance(dim, int) for dim in shape):
        listed_axes = [integers(write, *(k for k, dim in enumerate(shape) if dim == 1))]
    else:
        listed_axes = []
    return write.layer("Squeeze", 1, [x, *listed_axes], types_of(node.outputs))


@exporter(Unsqueeze)
def write_unsqueeze(op: Unsqueeze, node: Node, write: NetWriter) -> Source | list[Source]:
    """Axes that only a run knows give a rank that OpenVINO does not know, so the new shape is computed."""
    x, axes = node.inputs
    assert x is not None and axes is not None
    rank, count = tensor(x).rank, known_length(axes)
    if write.constant_value(axes) is not None or rank is None or count is None:
        return write_layer(write, node, "Unsqueeze", 1)
    return write.through(node, lambda build, y, new: with_axes_at_run_time(build, y, new, rank + count))


@exporter(Tile)
def write_tile(op: Tile, node: Node, write: NetWriter) -> Source | list[Source]:
    """A scalar stays. OpenVINO's CPU plugin gives no elements for repeats that only a run knows, so these broadcast."""
    rank = tensor(node.outputs[0]).rank
    if rank == 0:
        return write.source(node.inputs[0])
    if rank is None or write.constant_value(node.inputs[1]) is not None:
        return write_layer(write, node, "Tile", 1)
    return write.through(node, lambda build, x, repeats: _tiled(build, x, repeats, rank))


def _tiled(build: Builder, x: Value, repeats: Value, rank: int) -> Value:
    """Each axis behind one of length 1, which is broadcast and merged with it."""
    shape = build.add(Shape(), x)
    apart = build.add(Unsqueeze(), x, build.int64(*range(0, 2 * rank, 2)))
    pairs = build.add(Concat(1), *(build.add(Unsqueeze(), each, build.int64(1)) for each in (repeats, shape)))
    broadcast = build.add(Expand(), apart, build.add(Reshape(), pairs, build.int64(2 * rank)))
    return build.add(Reshape(allowzero=1), broadcast, build.add(Mul(), repeats, shape))


@exporter(ConstantOfShape)
def write_filled(op: ConstantOfShape, node: Node, write: NetWriter) -> list[Source]:
    """A number broadcast to a shape."""
    value = np.zeros((), np.float32) if op.value is None else np.asarray(op.value).reshape(())
    inputs = [write.constant(value), write.source(node.inputs[0])]
    return write.layer("Broadcast", 3, inputs, types_of(node.outputs), mode="numpy")


@exporter(Range)
def write_range(op: Range, node: Node, write: NetWriter) -> list[Source]:
    """OpenVINO's CPU plugin counts backwards where there is nothing to count, so the limit is bounded by the start."""
    (result,) = types_of(node.outputs)
    start, limit, step = (drop_axes(write, write.source(value)) for value in node.inputs)
    steps, *ends = (write.constant_value(node.inputs[k]) for k in (2, 0, 1))
    if steps is None:
        falling = write.layer("Less", 1, [step, scalar(write, 0, result.dtype)], [result.with_dtype(BOOL)])[0]
        limits = [write.layer(kind, 1, [limit, start], [limit.type])[0] for kind in ("Minimum", "Maximum")]
        (limit,) = write.layer("Select", 1, [falling, *limits], [limit.type])
    elif _is_bounded_by(node.inputs[1], node.inputs[0]):
        pass
    elif any(end is None for end in ends):
        kind = "Maximum" if (steps > 0).all() else "Minimum"
        (limit,) = write.layer(kind, 1, [limit, start], [limit.type])
    elif result.shape == (0,):
        return [write.constant(np.zeros(0, result.dtype))]
    return write.layer("Range", 4, [start, limit, step], [result], output_type=result.dtype)


def _is_bounded_by(limit: Value | None, start: Value | None) -> bool:
    """Whether an earlier writing took the extreme of the limit and the start."""
    owner = None if limit is None else limit.owner
    return isinstance(owner, Node) and isinstance(owner.op, Max | Min) and start in owner.inputs


@rewritten(EyeLike)
def eye_like(op: EyeLike, build: Builder, x: Value) -> Value:
    """Ones where the column minus the row is k."""
    down, across = (counted(build, length_of_axis(build, x, axis)) for axis in (0, 1))
    gap = build.add(Sub(), across, build.add(Unsqueeze(), down, build.int64(1)))
    return build.add(Cast(op.dtype or tensor(x).dtype), build.add(Equal(), gap, whole(build, op.k)))
