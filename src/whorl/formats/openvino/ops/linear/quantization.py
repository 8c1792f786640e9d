"""Quantization written as arithmetic.

Sums of products are equal to the last bit. OpenVINO divides by multiplying with a reciprocal, so that a quotient near
the middle between two levels can go the other way.
"""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.ops.nodes import emit, like
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import rewritten
from whorl.formats.openvino.writing.layers import ranked
from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT32, FLOAT64, INT32, is_float
from whorl.ir.graph import Value
from whorl.ir.types import tensor
from whorl.ops.core.base import COMPUTED_FLOATS, accumulator
from whorl.ops.core.writer import Writer
from whorl.ops.elementwise.arithmetic import Add, Clip, Div, Max, Min, Mul, Neg, Round, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Equal, Greater, LessOrEqual, Where
from whorl.ops.linear.quantization import RANGES, UINT8, DequantizeLinear, DynamicQuantizeLinear, QuantizeLinear
from whorl.ops.movement.shapes import Expand, Reshape
from whorl.ops.reduce.reductions import ReduceMax, ReduceMin
from whorl.ops.windows.convolution import LARGEST_PRODUCT, Conv, ConvInteger, Convolution, QLinearConv


@importer("FakeQuantize", 1)
def fake_quantize_1(node: IrNode, build: Builder) -> list[Value]:
    """x clipped to the input range, as the nearest of `levels` numbers across the output range."""
    x, low, high, out_low, out_high = (node.required(n) for n in range(5))
    steps = like(build, x, node.integer("levels") - 1)
    span = build.add(Div(), build.add(Sub(), x, low), build.add(Sub(), high, low))
    level = build.add(Div(), build.add(Round(), build.add(Mul(), span, steps)), steps)
    inside = build.add(Add(), build.add(Mul(), level, build.add(Sub(), out_high, out_low)), out_low)
    least, most = (build.add_many(op, [low, high], ["bound"])[0] for op in (Min(), Max()))
    capped = build.add(Where(), build.add(Greater(), x, most), out_high, inside)
    return emit(node, build, Where(), build.add(LessOrEqual(), x, least), out_low, capped)


_EXACT = (1 << 24) - 1
"""The largest whole number up to which float32 holds all."""


def _fixed(value: Value, what: str) -> tuple[int, ...]:
    """A shape whose lengths are all known."""
    shape = ranked(value, what)
    if not all(isinstance(dim, int) for dim in shape):
        raise SaveError(f"has {what} {value.type}, whose lengths are not known", fix="make them fixed")
    return cast(tuple[int, ...], shape)


def _spread(build: Builder, value: Value, x: Value, axis: int, block_size: int) -> Value:
    """A scale or zero point in a shape that broadcasts to x."""
    lengths = _fixed(value, "a scale or zero point")
    if math.prod(lengths) == 1:
        return build.add(Reshape(), value, build.int64()) if lengths else value
    shape = ranked(x, "the input")
    channels = 0 if len(shape) == 1 else axis % len(shape)
    if not block_size:
        return build.add(Reshape(), value, build.int64(*(-1 if k == channels else 1 for k in range(len(shape)))))
    write, length = Writer(build), shape[channels]
    if not isinstance(length, int):
        raise SaveError("has blocks along an axis whose length is not known", fix="make it fixed")
    before, count, after = lengths[:channels], lengths[channels], lengths[channels + 1 :]
    blocks = build.int64(*before, count, block_size, *after)
    repeated = build.add(Expand(), write.unsqueeze(value, channels + 1), blocks)
    whole = write.reshape(repeated, (*before, count * block_size, *after))
    return whole if count * block_size == length else write.slice(whole, channels, 0, length)


@rewritten(QuantizeLinear)
def quantize_linear(
    op: QuantizeLinear, build: Builder, x: Value, scale: Value, zero_point: Value | None = None
) -> Value:
    write, target = Writer(build), op.infer(x, scale, zero_point).dtype
    kind = tensor(scale).dtype
    precision = op.precision or (kind if kind in COMPUTED_FLOATS else FLOAT64 if kind == INT32 else FLOAT32)
    divisor = write.cast(_spread(build, scale, x, op.axis, op.block_size), precision)
    wide = accumulator(precision)
    level = write.cast(build.add(Div(), write.cast(x, precision), divisor), wide)
    level = build.add(Round(), level) if target in RANGES else level
    if zero_point is not None:
        level = write.add(level, write.cast(_spread(build, zero_point, x, op.axis, op.block_size), wide))
    if target not in RANGES:
        return build.add(Cast(target, op.saturate), level)
    return _limited(build, level, target)


def _limited(build: Builder, level: Value, target: np.dtype) -> Value:
    """Whole numbers as integers, clipped to their range."""
    write, wide = Writer(build), tensor(level).dtype
    low, high = (write.number(bound, wide) for bound in RANGES[target])
    return write.cast(build.add(Clip(), level, low, high), target)


@rewritten(DequantizeLinear)
def dequantize_linear(
    op: DequantizeLinear, build: Builder, x: Value, scale: Value, zero_point: Value | None = None
) -> Value:
    write, target = Writer(build), op.infer(x, scale, zero_point).dtype
    wide, whole = accumulator(target), FLOAT32 if is_float(tensor(x).dtype) else INT32
    value = write.cast(x, whole)
    if zero_point is not None:
        value = write.sub(value, write.cast(_spread(build, zero_point, x, op.axis, op.block_size), whole))
    factor = write.cast(_spread(build, scale, x, op.axis, op.block_size), wide)
    return write.cast(write.mul(write.cast(value, wide), factor), target)


@rewritten(DynamicQuantizeLinear)
def dynamic_quantize_linear(op: DynamicQuantizeLinear, build: Builder, x: Value) -> list[Value]:
    """The function of ONNX divides zeros by a scale of 0; the hub's scale is then 1."""
    write = Writer(build)
    zero, one, top = (write.number(n, FLOAT32) for n in (0, 1, 255))
    low = build.add(Min(), build.add(ReduceMin(keepdims=0), x), zero)
    high = build.add(Max(), build.add(ReduceMax(keepdims=0), x), zero)
    scale = build.add(Div(), write.sub(high, low), top)
    scale = build.add(Where(), build.add(Equal(), low, high), one, scale)
    offset = build.add(Round(), build.add(Clip(), build.add(Div(), build.add(Neg(), low), scale), zero, top))
    level = write.add(build.add(Round(), build.add(Div(), x, scale)), offset)
    return [_limited(build, level, UINT8), scale, write.cast(offset, UINT8)]


@rewritten(ConvInteger)
def conv_integer(
    op: ConvInteger, build: Builder, x: Value, w: Value, x_zero: Value | None = None, w_zero: Value | None = None
) -> Value:
    return _exact_sums(op, build, x, w, x_zero, w_zero)


@rewritten(QLinearConv)
def q_linear_conv(op: QLinearConv, build: Builder, *inputs: Value | None) -> Value:
    write = Writer(build)
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, b = (*inputs, None)[:9]
    assert x and x_scale and w and w_scale and y_scale and y_zero
    sums = _exact_sums(op, build, x, w, x_zero, w_zero)
    rank = len(ranked(sums, "the result"))
    if b is not None:
        sums = write.add(sums, _on_features(build, b, rank))
    first, last = (build.add(Reshape(), value, build.int64()) for value in (x_scale, y_scale))
    scale = _on_features(build, build.add(Div(), write.mul(first, w_scale), last), rank)
    level = build.add(Round(), write.mul(write.cast(sums, FLOAT32), scale))
    zero = write.cast(build.add(Reshape(), y_zero, build.int64()), FLOAT32)
    return _limited(build, write.add(level, zero), tensor(y_zero).dtype)


def _on_features(build: Builder, value: Value, rank: int) -> Value:
    """A scalar, or one value a feature, shaped to broadcast over [N, M, ...]."""
    if math.prod(_fixed(value, "a scale, zero point or bias")) == 1:
        return build.add(Reshape(), value, build.int64())
    return build.add(Reshape(), value, build.int64(-1, *(1,) * (rank - 2)))


def _exact_sums(
    op: Convolution, build: Builder, x: Value, w: Value, x_zero: Value | None, w_zero: Value | None
) -> Value:
    """The sums of products as int32, of float32 sums over so few channels that these are exact."""
    write, shape = Writer(build), _fixed(w, "filters")
    numbers, filters = write.cast(x, FLOAT32), write.cast(w, FLOAT32)
    if x_zero is not None:
        numbers = write.sub(numbers, write.cast(build.add(Reshape(), x_zero, build.int64()), FLOAT32))
    if w_zero is not None:
        filters = write.sub(filters, _on_filters(build, write.cast(w_zero, FLOAT32), len(shape)))
    depth = _EXACT // (math.prod(shape[2:]) * LARGEST_PRODUCT)
    fields: dict[str, Any] = {name: getattr(op, name) for name in Convolution.__struct_fields__}
    if shape[1] <= depth:
        return write.cast(build.add(Conv(**fields), numbers, filters), INT32)
    if op.group != 1 or not depth:
        raise SaveError("sums more products than float32 adds exactly", fix="fewer channels a group")
    total: Value | None = None
    for start in range(0, shape[1], depth):
        parts = [write.slice(value, 1, start, min(start + depth, shape[1])) for value in (numbers, filters)]
        part = write.cast(build.add(Conv(**fields), *parts), INT32)
        total = part if total is None else write.add(total, part)
    assert total is not None
    return total


def _on_filters(build: Builder, zero: Value, rank: int) -> Value:
    """A scalar, or one value a feature, shaped to broadcast over [M, C, kernel...]."""
    if math.prod(_fixed(zero, "a zero point")) == 1:
        return build.add(Reshape(), zero, build.int64())
    return build.add(Reshape(), zero, build.int64(-1, *(1,) * (rank - 1)))
