"""Depth, space and shuffled channels read and written; sequences reversed."""

from __future__ import annotations

import numpy as np

from whorl.errors import LoadError
from whorl.formats.openvino.ops.nodes import cast, emit
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Div, Mul
from whorl.ops.movement.axes import Concat, ReverseSequence, Slice, Transpose
from whorl.ops.movement.blocks import DepthToSpace, SpaceToDepth
from whorl.ops.movement.shapes import Reshape, Shape
from whorl.ops.reduce.reductions import ReduceProd


def _concatenate(build: Builder, *parts: Value) -> Value:
    return build.add_many(Concat(0), parts, ["shape"])[0]


def read_depth_to_space(node: IrNode, build: Builder, op: DepthToSpace) -> list[Value]:
    """Images are the hub's op; other numbers of spatial axes are written out."""
    x, size, mode = node.required(0), op.blocksize, op.mode
    rank = tensor(x).rank
    if rank in (None, 4):
        return emit(node, build, op, x)
    count = rank - 2
    first, lengths, blocks = build.add(Shape(end=1), x), build.add(Shape(start=2), x), build.int64(*(size,) * count)
    depth = build.add(Div(), build.add(Shape(start=1, end=2), x), build.int64(size**count))
    parts = (blocks, depth) if mode == "DCR" else (depth, blocks)
    depth_axis, block_axis = (count + 1, 1) if mode == "DCR" else (1, 2)
    order = [0, depth_axis]
    for axis in range(count):
        order += [2 + count + axis, block_axis + axis]
    cut = build.add(Reshape(allowzero=1), x, _concatenate(build, first, *parts, lengths))
    target = _concatenate(build, first, depth, build.add(Mul(), lengths, blocks))
    return emit(node, build, Reshape(allowzero=1), build.add(Transpose(tuple(order)), cut), target)


def read_space_to_depth(node: IrNode, build: Builder, op: SpaceToDepth) -> list[Value]:
    """Images are the hub's op; other numbers of spatial axes are written out."""
    x, size, mode = node.required(0), op.blocksize, op.mode
    rank = tensor(x).rank
    if rank in (None, 4):
        return emit(node, build, op, x)
    count = rank - 2
    first, depth = build.add(Shape(end=1), x), build.add(Shape(start=1, end=2), x)
    lengths = [build.add(Shape(start=n, end=n + 1), x) for n in range(2, rank)]
    steps = [build.add(Div(), length, build.int64(size)) for length in lengths]
    cut = build.add(Reshape(allowzero=1), x, _concatenate(build, first, depth, *_pairs(build, steps, size)))
    inner, outer = range(3, 3 + 2 * count, 2), range(2, 2 + 2 * count, 2)
    order = (0, *inner, 1, *outer) if mode == "DCR" else (0, 1, *inner, *outer)
    target = _concatenate(build, first, build.add(Mul(), depth, build.int64(size**count)), *steps)
    return emit(node, build, Reshape(allowzero=1), build.add(Transpose(order), cut), target)


def _pairs(build: Builder, steps: list[Value], size: int) -> list[Value]:
    """Each length, and the size after it."""
    return [part for step in steps for part in (step, build.int64(size))]


@importer("ShuffleChannels", 1)
def shuffle_channels_1(node: IrNode, build: Builder) -> list[Value]:
    """The axis as [groups, rest] with the two in the other order."""
    x, axis, group = node.required(0), node.integer("axis", 1), node.integer("group", 1)
    shape = build.add(Shape(), x)
    before = build.add(ReduceProd(keepdims=1), build.add(Shape(end=axis), x), build.int64(0))
    after = build.add(Shape(), x) if axis == -1 else build.add(Shape(start=axis + 1), x)
    after = build.add(Slice(), after, build.int64(0), build.int64(0)) if axis == -1 else after
    length = build.add(Shape(start=axis), x)
    length = build.add(Slice(), length, build.int64(0), build.int64(1))
    rest = build.add(Div(), length, build.int64(group))
    last = build.add(ReduceProd(keepdims=1), after, build.int64(0))
    cut = build.add(Reshape(allowzero=1), x, _concatenate(build, before, build.int64(group), rest, last))
    return emit(node, build, Reshape(allowzero=1), build.add(Transpose((0, 2, 1, 3)), cut), shape)


def read_reverse_sequence(node: IrNode, build: Builder, op: ReverseSequence) -> list[Value]:
    """Other axes than the first two are brought there and back."""
    x, lengths, rank = node.required(0), cast(build, node.required(1), INT64), tensor(node.required(0)).rank
    batch, time = op.batch_axis, op.time_axis
    if {batch, time} == {0, 1}:
        return emit(node, build, op, x, lengths)
    if rank is None:
        raise LoadError(f"reverses along axis {time} of an input of unknown rank", node.title, "declare the rank")
    batch, time = batch % rank, time % rank
    if {batch, time} == {0, 1}:
        return emit(node, build, ReverseSequence(batch, time), x, lengths)
    order = [batch, time, *(axis for axis in range(rank) if axis not in (batch, time))]
    turned = build.add(ReverseSequence(0, 1), build.add(Transpose(tuple(order)), x), lengths)
    return emit(node, build, Transpose(tuple(int(n) for n in np.argsort(order))), turned)
