"""Pad read and written; what mirrors or repeats an axis in a way the other side lacks becomes a Gather."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.errors import LoadError, SaveError
from whorl.formats.openvino.ops.native_layer import NativeLayer
from whorl.formats.openvino.ops.nodes import emit, integers_of, listed
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import exporter
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Add, Div, Max, Mod, Neg, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Less, Where
from whorl.ops.movement.axes import Concat, Slice
from whorl.ops.movement.filling import Range
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.scattering import ScatterElements
from whorl.ops.movement.shapes import Expand, Reshape, Shape, Squeeze

_MODES = ("constant", "edge", "reflect")


def _whole(build: Builder, number: int) -> Value:
    return build.constant(np.array(number, np.int64))


def _length(build: Builder, x: Value, axis: int) -> Value:
    return build.add(Squeeze(), build.add(Shape(axis, axis + 1 or None), x), build.int64(0))


def _positions(build: Builder, begin: Value, end: Value, length: Value) -> Value:
    """The positions from `begin` elements before an axis to `end` elements after it."""
    return build.add(Range(), build.add(Neg(), begin), build.add(Add(), length, end), _whole(build, 1))


def _mirrored(build: Builder, x: Value, axis: int, begin: Value, end: Value) -> Value:
    """An axis continued with its end elements repeated: ... 1 0 | 0 1 2 | 2 1 ..."""
    length = _length(build, x, axis)
    period = build.add(Add(), length, length)
    turn = build.add(Mod(), _positions(build, begin, end, length), period)
    back = build.add(Sub(), build.add(Sub(), period, _whole(build, 1)), turn)
    return build.add(Gather(axis), x, build.add(Where(), build.add(Less(), turn, length), turn, back))


def _wrapped(build: Builder, x: Value, axis: int, begin: Value, end: Value) -> Value:
    """An axis that starts over; negative numbers crop it first."""
    length, zero = _length(build, x, axis), _whole(build, 0)
    first, last = (build.add_many(Max(), [zero, build.add(Neg(), number)], ["cropped"])[0] for number in (begin, end))
    remaining = build.add(Sub(), build.add(Sub(), length, first), last)
    turn = build.add(Mod(), build.add(Sub(), _positions(build, begin, end, length), first), remaining)
    return build.add(Gather(axis), x, build.add(Add(), turn, first))


@importer("Pad", 1, 12)
def pad_1(node: IrNode, build: Builder) -> list[Value]:
    x, mode = node.required(0), node.text("pad_mode", choices=(*_MODES, "symmetric"))
    begins, ends = (listed(build, node.required(n)) for n in (1, 2))
    value = node.input(3)
    if mode != "symmetric":
        pads = build.add_many(Concat(0), [begins, ends], ["pads"])[0]
        value = node.input(3)
        return emit(node, build, Pad(mode), x, pads, value if mode == "constant" else None)
    before, after = integers_of(begins), integers_of(ends)
    if before is None or after is None:
        raise LoadError("mirrors by numbers that are computed", node.title, "make them constants")
    for axis, (begin, end) in enumerate(zip(before, after, strict=True)):
        if begin or end:
            x = _mirrored(build, x, axis, _whole(build, begin), _whole(build, end))
    return [x]


@exporter(Pad)
def pad(op: Pad, node: Node, write: NetWriter) -> list[Source]:
    x = node.inputs[0]
    assert x is not None
    _, pads, value, axes = (*node.inputs, None, None)[:4]
    rank, counts = tensor(x).rank, write.constant_value(pads)
    if rank is None:
        raise SaveError("pads an input of unknown rank", fix="declare the shape")
    if not rank:
        return [write.source(x)]
    if op.mode != "constant":
        value = None
    if value is not None and write.constant_value(value) is None:
        return write.through(node, _filled)
    named = list(range(rank)) if axes is None else write.constant_value(axes)
    if counts is None or named is None:
        return write.through(node, lambda build, *inputs: _computed(node, write, build, rank, *inputs))
    ends = [[0] * rank, [0] * rank]
    for k, axis in enumerate(int(n) for n in named):
        ends[0][axis % rank], ends[1][axis % rank] = int(counts[k]), int(counts[k + len(named)])
    if op.mode == "wrap":
        return write.through(node, lambda build, value, *_: _around(build, value, *ends))
    inputs = [write.source(x), *(write.constant(np.array(numbers, np.int64)) for numbers in ends)]
    if value is not None:
        inputs.append(write.constant(_number(write, value)))
    return write.layer("Pad", 12, inputs, [tensor(node.outputs[0])], node.name, pad_mode=op.mode)


def _number(write: NetWriter, value: Value) -> np.ndarray:
    """The value of padding without axes."""
    known = write.constant_value(value)
    assert known is not None
    return known.reshape(())


def _filled(build: Builder, x: Value, pads: Value, value: Value, axes: Value | None = None) -> Value:
    """The CPU plugin takes no value that is computed: it is chosen where a mask of ones was padded with zeros."""
    ones = build.add(Expand(), build.constant(np.ones((), np.int32)), build.add(Shape(), x))
    inside = build.add(Cast(BOOL), build.add(Pad(), ones, pads, None, axes))
    return build.add(Where(), inside, build.add(Pad(), x, pads, None, axes), build.add(Reshape(), value, build.int64()))


def _around(build: Builder, x: Value, begins: Sequence[int], ends: Sequence[int]) -> Value:
    """x with its axes started over."""
    for axis, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        if begin or end:
            x = _wrapped(build, x, axis, _whole(build, begin), _whole(build, end))
    return x


def _computed(
    node: Node,
    write: NetWriter,
    build: Builder,
    rank: int,
    x: Value,
    pads: Value,
    value: Value | None = None,
    axes: Value | None = None,
) -> Value:
    """The layer with numbers that only the run knows."""
    op = node.op
    assert isinstance(op, Pad)
    count = build.add(Div(), build.add(Shape(), pads), build.int64(2))
    far = build.int64((1 << 63) - 1)
    halves = [build.add(Slice(), pads, build.int64(0), count), build.add(Slice(), pads, count, far)]
    if axes is not None:
        zeros, axis_numbers = build.int64(*(0,) * rank), build.add(Cast(INT64), axes)
        halves = [build.add(ScatterElements(0), zeros, axis_numbers, half) for half in halves]
    if op.mode == "wrap":
        for axis in range(rank):
            x = _wrapped(build, x, axis, *(build.add(Gather(0), half, _whole(build, axis)) for half in halves))
        return x
    inputs = [x, *halves]
    if value is not None and op.mode == "constant":
        inputs.append(build.constant(_number(write, value)))
    layer = NativeLayer("Pad", 12, (tensor(node.outputs[0]),), (("pad_mode", op.mode),))
    return build.add_many(layer, inputs, ["padded"])[0]
