"""Batching rules of quantization: scales and zero points of rows are those of lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from whorl.ir.build import Builder
from whorl.ir.dtypes import BY_NAME
from whorl.ir.graph import Op, Value
from whorl.ops.core.base import normal_axis
from whorl.ops.elementwise.arithmetic import Add, Clip, Div, Max, Min, Neg, Round, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Equal, Where
from whorl.ops.linear.quantization import DequantizeLinear, DynamicQuantizeLinear, QuantizeLinear
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.shapes import Expand, Reshape
from whorl.ops.reduce.reductions import ReduceMax, ReduceMin
from whorl.passes.vectorize.batched import Batched, Operands, align, give_all_rows, lengths_of, row_count
from whorl.passes.vectorize.rules.folding import batch_folded, length_along
from whorl.passes.vectorize.rules.rule import Rule

Quantization = QuantizeLinear | DequantizeLinear


def batch_quantization(op: Quantization, operands: Operands, build: Builder) -> Sequence[Batched]:
    """One scale for each row is one for each line of the axis of rows; more fold into the axis that they are of."""
    x, *parameters = operands
    assert x is not None
    present = [p for p in parameters if p is not None]
    axis = 0 if x.rank < 2 else normal_axis(op.axis, x.rank) if -x.rank <= op.axis < x.rank else 0
    if op.block_size and any(p.rank == x.rank for p in present):
        return [_in_blocks(op, operands, axis, build)]
    if not any(p.is_mapped for p in present):
        moved = replace(op, axis=1 + axis if x.rank else 0)
        return [Batched(build.add(moved, x.value, *(None if p is None else p.value for p in parameters)))]
    rows = row_count(operands, build)
    if all(map(is_single, present)):
        scales = [None if p is None else _one_a_row(p, rows, build) for p in parameters]
        return [Batched(build.add(replace(op, axis=0), give_all_rows(x, rows, build), *scales))]
    count = length_along(x, axis, build)
    lines = [None if p is None else _one_a_line(p, rows, count, build) for p in parameters]
    return batch_folded(replace(op, axis=axis), (x, *lines), (axis, 0, 0), (axis,), build)


def is_single(parameter: Batched) -> bool:
    """Whether a parameter surely has one element in each row."""
    return all(length == 1 for length in lengths_of(parameter.value)[parameter.is_mapped :])


def _in_blocks(op: Quantization, operands: Operands, axis: int, build: Builder) -> Batched:
    rows = row_count(operands, build)
    shared = [x is None or (x.rank == 0 and not x.is_mapped) for x in operands]
    inputs = [
        x.value if x is not None and alone else None if x is None else give_all_rows(x, rows, build)
        for x, alone in zip(operands, shared, strict=True)
    ]
    return Batched(build.add(replace(op, axis=1 + axis), *inputs))


def _one_a_row(parameter: Batched, rows: Value, build: Builder) -> Value:
    whole = give_all_rows(parameter, rows, build)
    return build.add(Reshape(), whole, build.int64(-1), name=parameter.value.name) if parameter.rank else whole


def _one_a_line(parameter: Batched, rows: Value, count: Value, build: Builder) -> Batched:
    whole = align(Batched(give_all_rows(parameter, rows, build)), 1, build)
    return Batched(build.add(Expand(), whole, build.add(Concat(0), rows, count), name=parameter.value.name))


def batch_dynamic(_: DynamicQuantizeLinear, operands: Operands, build: Builder) -> Sequence[Batched]:
    """The extremes are those of each row."""
    (x,) = operands
    assert x is not None
    value, (zero, one, most) = x.value, (build.constant(np.array(n, np.float32)) for n in (0, 1, 255))
    axes = build.int64(*range(1, 1 + x.rank))
    low, high = (
        build.add(clamp, build.add(extreme, value, axes) if x.rank else value, zero, name=name)
        for clamp, extreme, name in ((Min(), ReduceMin(), "low"), (Max(), ReduceMax(), "high"))
    )
    step = build.add(Div(), build.add(Sub(), high, low), most, name="step")
    scale = build.add(Where(), build.add(Equal(), low, high), one, step, name="scale")
    ratio = build.add(Div(), build.add(Neg(), low), scale, name="ratio")
    centre = build.add(Round(), build.add(Clip(), ratio, zero, most), name="zero_point")
    moved = build.add(Add(), build.add(Round(), build.add(Div(), value, scale)), centre, name="moved")
    quantized = build.add(Cast(BY_NAME["uint8"]), build.add(Clip(), moved, zero, most), name="quantized")
    line = build.int64(-1)
    scales = build.add(Reshape(), scale, line, name="scale")
    centres = build.add(Cast(BY_NAME["uint8"]), build.add(Reshape(), centre, line), name="zero_point")
    return [Batched(quantized), Batched(scales), Batched(centres)]


RULES: Mapping[type[Op], Rule] = {
    QuantizeLinear: batch_quantization,
    DequantizeLinear: batch_quantization,
    DynamicQuantizeLinear: batch_dynamic,
}
