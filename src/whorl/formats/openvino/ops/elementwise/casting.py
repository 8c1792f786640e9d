"""Conversions of the element type."""

from __future__ import annotations

import math

import numpy as np

from whorl.formats.openvino.ops.nodes import emit
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import exporter, rewritten
from whorl.formats.openvino.writing.layers import SHORT, combine, compare, convert, scalar, select, types_of
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, BY_NAME, FLOAT32, INT32, is_float
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.casting import Cast, CastLike
from whorl.ops.elementwise.conversion import FLOAT8E8M0, SATURATING

FLOAT4 = BY_NAME["float4e2m1"]
_OF_EIGHT_BITS = (*SATURATING, FLOAT8E8M0)
"""The floating-point types whose range decides what large numbers become."""


@importer("Convert", 1)
def convert_1(node: IrNode, build: Builder) -> list[Value]:
    """Numbers that are too large for a type of few bits are infinite or NaN."""
    dtype = node.dtype("destination_type")
    op = Cast(dtype, saturate=0, round_mode="nearest") if dtype in _OF_EIGHT_BITS else Cast(dtype)
    return emit(node, build, op, node.required(0))


@importer("ConvertLike", 1)
def convert_like_1(node: IrNode, build: Builder) -> list[Value]:
    like = node.required(1)
    op = CastLike(saturate=0, round_mode="nearest") if tensor(like).dtype in _OF_EIGHT_BITS else CastLike()
    return emit(node, build, op, node.required(0), like)


@exporter(Cast)
def write_cast(op: Cast, node: Node, write: NetWriter) -> list[Source]:
    """Convert; what some types of few bits need is done before."""
    x = write.source(node.inputs[0])
    if x.type.dtype == op.to:
        return [x]
    if op.to == FLOAT8E8M0 and op.round_mode != "nearest":
        x = _power_of_two(write, convert(write, x, FLOAT32), op)
    elif op.saturate and op.to in SATURATING:
        x = _saturated(write, x if _is_wide(x.type.dtype) else convert(write, x, FLOAT32), *SATURATING[op.to])
    elif op.to in SHORT and is_float(x.type.dtype):
        x = convert(write, x, INT32)
    elif op.to == FLOAT4 and _is_wide(x.type.dtype):
        x = select(write, _is_nan(write, x), scalar(write, -0.0, x.type.dtype), x, x.type)
    return write.layer("Convert", 1, [x], types_of(node.outputs), destination_type=op.to)


def _is_wide(dtype: np.dtype) -> bool:
    return is_float(dtype) and dtype.itemsize > 1


def _is_nan(write: NetWriter, x: Source) -> Source:
    return write.layer("IsNaN", 10, [x], [x.type.with_dtype(BOOL)])[0]


def _saturated(write: NetWriter, x: Source, low: float, high: float) -> Source:
    """The number nearest in a range; NaN remains."""
    nan, inside = _is_nan(write, x), x
    for kind, bound in (("Maximum", low), ("Minimum", high)):
        inside = combine(write, kind, inside, scalar(write, bound, x.type.dtype))
    return select(write, nan, x, inside, x.type)


def _power_of_two(write: NetWriter, x: Source, op: Cast) -> Source:
    """The power of two next above or below: the nearest one, or its neighbour."""
    near = convert(write, convert(write, x, FLOAT8E8M0), FLOAT32)
    test, factor = ("Less", 2.0) if op.round_mode == "up" else ("Greater", 0.5)
    neighbour = combine(write, "Multiply", near, scalar(write, factor, FLOAT32))
    chosen = select(write, compare(write, test, near, x), neighbour, near, x.type)
    return _saturated(write, chosen, 0.0, math.ldexp(1, 127)) if op.saturate else chosen


@rewritten(CastLike)
def cast_like(op: CastLike, build: Builder, x: Value, like: Value) -> Value:
    return build.add(Cast(tensor(like).dtype, op.saturate, op.round_mode), x)
