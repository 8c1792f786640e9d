"""Moving slices: transposing, concatenating, slicing, reversing, rolling."""

from __future__ import annotations

import numpy as np

from whorl.errors import LoadError
from whorl.formats.openvino.ops.nodes import (
    cast,
    constant_of,
    emit,
    flat,
    integers_of,
    length_of,
    listed,
    number_of,
    one,
    whole,
)
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import exporter
from whorl.formats.openvino.writing.layers import integers, scalar, types_of
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.core.base import known_length
from whorl.ops.elementwise.arithmetic import Add, Div, Identity, Max, Min, Mod, Mul, Sub
from whorl.ops.elementwise.comparison import Equal, Where
from whorl.ops.movement.axes import Concat, Slice, Split, Transpose
from whorl.ops.movement.filling import Range
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.selection import NonZero
from whorl.ops.movement.shapes import Expand, Reshape, Shape
from whorl.ops.reduce.cumulative import CumProd
from whorl.ops.reduce.reductions import ReduceSum

FIRST, LAST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def fixed_axis(node: IrNode, index: int) -> int:
    """The number that an input holds. Errors: LoadError where it is computed at run time."""
    axis = number_of(node.required(index))
    if axis is None:
        raise LoadError(f"input {index}, the axis, is computed at run time", node.title, "make it a Const")
    return int(axis)


@importer("Split", 1)
def split_1(node: IrNode, build: Builder) -> list[Value]:
    """Equal parts."""
    count = node.integer("num_splits")
    if count != len(node.outputs):
        raise LoadError(f"num_splits is {count}, the layer has {len(node.outputs)} outputs", node.title)
    op = Split(axis=fixed_axis(node, 1), output_count=count)
    return emit(node, build, op, node.required(0))


@importer("VariadicSplit", 1)
def variadic_split_1(node: IrNode, build: Builder) -> list[Value]:
    """Parts of listed lengths; -1 is what the others leave."""
    x, axis, lengths = node.required(0), fixed_axis(node, 1), listed(build, node.required(2))
    fixed = integers_of(lengths)
    if fixed is None or -1 in fixed:
        total = _length(build, x, axis)
        others = build.add(
            ReduceSum(keepdims=0), build.add(Where(), _is_rest(build, lengths), whole(build, 0), lengths)
        )
        rest = build.add(Sub(), total, others)
        lengths = build.add(Where(), _is_rest(build, lengths), rest, lengths)
    op = Split(axis=axis, output_count=len(node.outputs))
    return emit(node, build, op, x, lengths)


def _is_rest(build: Builder, lengths: Value) -> Value:
    return build.add(Equal(), lengths, build.int64(-1))


def _length(build: Builder, x: Value, axis: int) -> Value:
    """The length of an axis, without axes."""
    return one(build, build.add(Shape(axis, axis + 1 if axis != -1 else None), x))


@importer("Transpose", 1)
def transpose_1(node: IrNode, build: Builder) -> list[Value]:
    """The order is an input; an empty one reverses the axes."""
    x, order = node.required(0), node.required(1)
    perm = integers_of(order)
    if perm is not None:
        return emit(node, build, Transpose(tuple(perm) or None), x)
    return _transposed_at_run_time(node, build, x, listed(build, order))


def _transposed_at_run_time(node: IrNode, build: Builder, x: Value, order: Value) -> list[Value]:
    """Elements gathered by their row-major offsets: sums of an index on each axis times the axis's stride."""
    rank = tensor(x).rank
    if rank is None:
        raise LoadError("the order is computed at run time, the rank is not known", node.title, "make one a Const")
    shape = build.add(Shape(), x)
    strides = build.add(CumProd(exclusive=1, reverse=1), shape, build.int64(0))
    lengths, strides = (build.add(Gather(), row, order) for row in (shape, strides))
    offsets = whole(build, 0)
    for axis in range(rank):
        pick = whole(build, axis)
        length, stride = (build.add(Gather(), row, pick) for row in (lengths, strides))
        steps = build.add(Range(), whole(build, 0), length, whole(build, 1))
        column = build.add(Reshape(), build.add(Mul(), steps, stride), build.int64(-1, *(1,) * (rank - 1 - axis)))
        offsets = build.add(Add(), offsets, column)
    return emit(node, build, Gather(), flat(build, x) if rank else build.add(Reshape(), x, build.int64(1)), offsets)


@importer("Slice", 8)
def slice_8(node: IrNode, build: Builder) -> list[Value]:
    """The axes are the last input, and may be left out."""
    x, start, stop, step = (node.required(k) for k in range(4))
    axes = node.input(4)
    rows = [listed(build, row) for row in (start, stop)]
    named = None if axes is None else listed(build, axes)
    return emit(node, build, Slice(), x, *rows, named, listed(build, step))


@importer("Reverse", 1)
def reverse_1(node: IrNode, build: Builder) -> list[Value]:
    """The axes are listed, or marked by truth values."""
    x, selector = node.required(0), node.required(1)
    if node.text("mode", "index", ("index", "mask")) == "mask":
        mask = constant_of(selector)
        if mask is None:
            axes = flat(build, build.add(NonZero(), cast(build, selector, BOOL)))
            axes = build.add(Reshape(), axes, build.int64(-1))
        else:
            axes = build.int64(*np.flatnonzero(mask).tolist(), name="axes")
    else:
        axes = listed(build, selector)
    count = length_of(axes)
    if count == 0:
        return emit(node, build, Identity(), x)
    return emit(node, build, Slice(), x, *backwards(build, axes, count))


def backwards(build: Builder, axes: Value, count: int | None) -> list[Value]:
    """What makes a Slice reverse some axes."""
    if count is not None:
        ends = [build.int64(*(number,) * count) for number in (-1, FIRST, -1)]
    else:
        size = build.add(Shape(), axes)
        ends = [build.add(Expand(), build.int64(number), size) for number in (-1, FIRST, -1)]
    return [ends[0], ends[1], axes, ends[2]]


@importer("Roll", 7)
def roll_7(node: IrNode, build: Builder) -> list[Value]:
    """Elements move on along each axis; what leaves at the end comes in at the front."""
    x, shifts, axes = node.required(0), listed(build, node.required(1)), integers_of(node.required(2))
    if axes is None:
        raise LoadError("the axes are computed at run time", node.title, "make them a Const")
    numbers, several = integers_of(shifts), length_of(shifts) != 1
    for k, axis in enumerate(axes):
        length = build.add(Shape(axis, axis + 1 if axis != -1 else None), x)
        shift = build.int64(numbers[k % len(numbers)]) if numbers else shifts
        if numbers is None and several:
            shift = build.add(Gather(), shifts, build.int64(k))
        x = _rolled(build, x, axis, shift, length)
    return emit(node, build, Identity(), x)


def _rolled(build: Builder, x: Value, axis: int, shift: Value, length: Value) -> Value:
    start = build.add(Sub(), length, build.add(Mod(), shift, length))
    along = build.int64(axis)
    tail = build.add(Slice(), x, start, build.int64(LAST), along)
    return build.add(Concat(axis), tail, build.add(Slice(), x, build.int64(0), start, along))


@exporter(Transpose)
def write_transpose(op: Transpose, node: Node, write: NetWriter) -> list[Source]:
    """The order is an input; an empty one reverses the axes."""
    x = write.source(node.inputs[0])
    order = op.perm if op.perm is not None else tuple(reversed(range(x.type.rank or 0)))
    return write.layer("Transpose", 1, [x, integers(write, *order)], types_of(node.outputs))


@exporter(Split)
def write_split(op: Split, node: Node, write: NetWriter) -> list[Source]:
    """Parts of listed lengths, equal ones, or equal ones with a rest."""
    x = node.inputs[0]
    assert x is not None
    lengths = node.inputs[1] if len(node.inputs) > 1 else None
    source, axis, results = write.source(x), scalar(write, op.axis), types_of(node.outputs)
    if lengths is not None:
        return write.layer("VariadicSplit", 1, [source, axis, write.source(lengths)], results)
    parts = _parts_of(x, op)
    if op.num_outputs is not None and len(set(parts or (0,))) > 1:
        assert parts is not None
        return write.layer("VariadicSplit", 1, [source, axis, integers(write, *parts)], results)
    if op.num_outputs is not None and parts is None:
        return write.through(node, lambda build, y: _split_with_rest(op, build, y))
    return write.layer("Split", 1, [source, axis], results, num_splits=op.output_count)


def _parts_of(x: Value, op: Split) -> list[int] | None:
    """The lengths of parts of which the last ones may be shorter, where the axis has a known length."""
    shape = tensor(x).shape
    length = None if isinstance(shape, AnyShape) else shape[op.axis]
    if not isinstance(length, int):
        return None
    part = -(-length // op.output_count)
    return [max(0, min(part, length - part * k)) for k in range(op.output_count)]


def _split_with_rest(op: Split, build: Builder, x: Value) -> list[Value]:
    length, count = build.add(Shape(op.axis, op.axis + 1 or None), x), build.int64(op.output_count)
    part = build.add(Div(), build.add(Sub(), build.add(Add(), length, count), build.int64(1)), count)
    starts = build.add(Mul(), part, build.int64(*range(op.output_count)))
    lengths = build.add(Max(), build.add(Min(), part, build.add(Sub(), length, starts)), build.int64(0))
    names = [f"part{k}" for k in range(op.output_count)]
    return build.add_many(Split(op.axis, output_count=op.output_count), [x, lengths], names)


@exporter(Slice)
def write_slice(op: Slice, node: Node, write: NetWriter) -> list[Source]:
    """Steps are required; axes come last."""
    x, starts, ends, axes, steps = (*node.inputs, None, None)[:5]
    sources = [write.source(value) for value in (x, starts, ends)]
    assert starts is not None
    count = known_length(starts)
    if steps is None and count is None:
        return write.through(node, _sliced_by_ones)
    sources.append(integers(write, *(1,) * (count or 0)) if steps is None else write.source(steps))
    if axes is not None:
        sources.append(write.source(axes))
    return write.layer("Slice", 8, sources, types_of(node.outputs))


def _sliced_by_ones(build: Builder, x: Value, starts: Value, ends: Value, axes: Value | None = None) -> Value:
    steps = build.add(Expand(), build.int64(1), build.add(Shape(), starts))
    return build.add(Slice(), x, starts, ends, axes, steps)
