"""Shapes: asking for them, and the same elements under another one."""

from __future__ import annotations

import numpy as np

from whorl.errors import LoadError
from whorl.formats.openvino.importing import IrNode, importer
from whorl.formats.openvino.ops.common import constant_of, emit, integers_of, length_of, listed
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.elementwise.arithmetic import Identity, Max, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.movement.axes import Concat, Tile
from whorl.ops.movement.filling import ConstantOfShape
from whorl.ops.movement.shapes import Expand, Reshape, Shape, Size, Squeeze, Unsqueeze


@importer("ShapeOf", 1, 3)
def shape_of_1(node: IrNode, build: Builder) -> list[Value]:
    """Version 3 says the element type."""
    x, dtype = node.required(0), node.dtype("output_type", "i64")
    if dtype == INT64:
        return emit(node, build, Shape(), x)
    return emit(node, build, Cast(dtype), build.add(Shape(), x))


@importer("Reshape", 1)
def reshape_1(node: IrNode, build: Builder) -> list[Value]:
    """With `special_zero` 0 copies a length."""
    op = Reshape(allowzero=int(not node.flag("special_zero", False)))
    return emit(node, build, op, node.required(0), listed(build, node.required(1)))


@importer("Squeeze", 1, 15)
def squeeze_1(node: IrNode, build: Builder) -> list[Value]:
    """An axis that is longer than 1 stays, asked for or not; without axes all of length 1 go."""
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
    """To a shape; `explicit` says which axis of the result each axis of the input becomes."""
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


def _ones(build: Builder, wanted: Value, given: Value) -> Value:
    """As many ones as are wanted more than given."""
    missing = build.add(Max(), build.add(Sub(), wanted, given), build.constant(np.array(0, np.int64)))
    count = build.add(Reshape(), missing, build.int64(1))
    return build.add(ConstantOfShape(np.ones(1, np.int64)), count)
