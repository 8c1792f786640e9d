"""Pad read and written; what mirrors or repeats an axis in a way the other side lacks becomes a Gather."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from whorl.errors import LoadError, SaveError
from whorl.formats.openvino.exporting import LayerWriter, Source, exporter
from whorl.formats.openvino.importing import IrNode, importer
from whorl.formats.openvino.ops.common import emit, integers_of, listed
from whorl.formats.openvino.ops.native_layer import NativeLayer
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.casting import Cast
from whorl.ops.comparison import Less, Where
from whorl.ops.elementwise import Add, Div, Mod, Sub
from whorl.ops.filling import Range
from whorl.ops.indexing import Gather
from whorl.ops.movement import Concat, Slice
from whorl.ops.padding import Pad
from whorl.ops.scattering import ScatterElements
from whorl.ops.shapes import Reshape, Shape, Squeeze

_MODES = ("constant", "edge", "reflect")
Places = Callable[[Builder, Value, Value], Value]
"""(builder, positions that may lie outside, length) -> positions inside."""


def _whole(build: Builder, number: int) -> Value:
    return build.constant(np.array(number, np.int64))


def _mirrored(build: Builder, place: Value, length: Value) -> Value:
    """The end elements are repeated: ... 1 0 | 0 1 2 | 2 1 ..."""
    period = build.add(Add(), length, length)
    turn = build.add(Mod(), place, period)
    back = build.add(Sub(), build.add(Sub(), period, _whole(build, 1)), turn)
    return build.add(Where(), build.add(Less(), turn, length), turn, back)


def _wrapped(build: Builder, place: Value, length: Value) -> Value:
    """The axis starts over."""
    return build.add(Mod(), place, length)


def _picked(build: Builder, x: Value, axis: int, begin: int, end: int, places: Places) -> Value:
    """An axis from `begin` elements before it to `end` elements after it."""
    length = build.add(Squeeze(), build.add(Shape(axis, axis + 1 or None), x), build.int64(0))
    stop = build.add(Add(), length, _whole(build, end))
    place = build.add(Range(), _whole(build, -begin), stop, _whole(build, 1))
    return build.add(Gather(axis), x, places(build, place, length))


@importer("Pad", 1, 12)
def pad_1(node: IrNode, build: Builder) -> list[Value]:
    x, mode = node.required(0), node.text("pad_mode", choices=(*_MODES, "symmetric"))
    begins, ends = (listed(build, node.required(n)) for n in (1, 2))
    if mode != "symmetric":
        pads = build.add_many(Concat(0), [begins, ends], ["pads"])[0]
        return emit(node, build, Pad(mode), x, pads, node.input(3) if mode == "constant" else None)
    before, after = integers_of(begins), integers_of(ends)
    if before is None or after is None:
        raise LoadError("mirrors by numbers that are computed", node.title, "make them constants")
    for axis, (begin, end) in enumerate(zip(before, after, strict=True)):
        if begin or end:
            x = _picked(build, x, axis, begin, end, _mirrored)
    return [x]


@exporter("Pad")
def pad(node: Node, write: LayerWriter) -> list[Source]:
    op, x = node.op, node.inputs[0]
    assert isinstance(op, Pad) and x is not None
    _, pads, value, axes = (*node.inputs, None, None)[:4]
    rank, given = tensor(x).rank, write.constant_value(pads)
    if rank is None:
        raise SaveError("pads an input of unknown rank", fix="declare the shape")
    named = list(range(rank)) if axes is None else write.constant_value(axes)
    if given is None or named is None:
        if op.mode == "wrap":
            raise SaveError("starts axes over by numbers that are computed", fix="make the pads constants")
        return write.through(node, lambda build, *inputs: _computed(node, build, rank, *inputs))
    ends = [[0] * rank, [0] * rank]
    for k, axis in enumerate(int(n) for n in named):
        ends[0][axis % rank], ends[1][axis % rank] = int(given[k]), int(given[k + len(named)])
    if op.mode == "wrap":
        return write.through(node, lambda build, value, *_: _around(build, value, *ends))
    inputs = [write.source(x), *(write.constant(np.array(numbers, np.int64)) for numbers in ends)]
    if value is not None and op.mode == "constant":
        inputs.append(_without_axes(write, value))
    return write.layer("Pad", 12, inputs, [tensor(node.outputs[0])], node.name, pad_mode=op.mode)


def _without_axes(write: LayerWriter, value: Value) -> Source:
    """The value of padding as a scalar."""
    known = write.constant_value(value)
    if known is not None:
        return write.constant(known.reshape(()))
    source, type = write.source(value), tensor(value)
    if type.rank == 0:
        return source
    target = write.constant(np.zeros(0, np.int64))
    return write.layer("Reshape", 1, [source, target], [type.with_shape(())], special_zero=False)[0]


def _around(build: Builder, x: Value, begins: Sequence[int], ends: Sequence[int]) -> Value:
    """x with its axes started over; negative numbers crop first."""
    for axis, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        if begin < 0 or end < 0:
            bounds = (max(0, -begin), min(end, 0) or (1 << 63) - 1, axis)
            x = build.add(Slice(), x, *(build.int64(n) for n in bounds))
        if begin > 0 or end > 0:
            x = _picked(build, x, axis, max(0, begin), max(0, end), _wrapped)
    return x


def _computed(
    node: Node, build: Builder, rank: int, x: Value, pads: Value, value: Value | None = None, axes: Value | None = None
) -> Value:
    """The layer with numbers that only the run knows."""
    op = node.op
    assert isinstance(op, Pad)
    count = build.add(Div(), build.add(Shape(), pads), build.int64(2))
    far = build.int64((1 << 63) - 1)
    halves = [build.add(Slice(), pads, build.int64(0), count), build.add(Slice(), pads, count, far)]
    if axes is not None:
        zeros, places = build.int64(*(0,) * rank), build.add(Cast(INT64), axes)
        halves = [build.add(ScatterElements(0), zeros, places, half) for half in halves]
    inputs = [x, *halves]
    if value is not None and op.mode == "constant":
        inputs.append(value if tensor(value).rank == 0 else build.add(Reshape(), value, build.int64()))
    layer = NativeLayer("Pad", 12, (tensor(node.outputs[0]),), (("pad_mode", op.mode),))
    return build.add_many(layer, inputs, ["padded"])[0]
