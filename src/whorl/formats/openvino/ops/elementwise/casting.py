"""Conversions of the element type written."""

from __future__ import annotations

import math

import numpy as np

from whorl.formats.openvino.ops.layers import SHORT, converted, types_of
from whorl.formats.openvino.writing.exporter import LayerWriter, Source, exporter, rewritten
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, BY_NAME, FLOAT32, INT32, is_float
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.casting import Cast, CastLike
from whorl.ops.elementwise.conversion import FLOAT8E8M0, SATURATING

FLOAT4 = BY_NAME["float4e2m1"]


@exporter("Cast")
def write_cast(node: Node, write: LayerWriter) -> list[Source]:
    """Convert; what some types of few bits need is done before."""
    op, x = node.op, write.source(node.inputs[0])
    assert isinstance(op, Cast)
    if x.type.dtype == op.to:
        return [x]
    if op.to == FLOAT8E8M0 and op.round_mode != "nearest":
        x = _power_of_two(write, converted(write, x, FLOAT32), op)
    elif op.saturate and op.to in SATURATING:
        x = _saturated(write, x if _is_wide(x.type.dtype) else converted(write, x, FLOAT32), *SATURATING[op.to])
    elif op.to in SHORT and is_float(x.type.dtype):
        x = converted(write, x, INT32)
    elif op.to == FLOAT4 and _is_wide(x.type.dtype):
        nan = write.layer("IsNaN", 10, [x], [x.type.with_dtype(BOOL)])[0]
        x = write.layer("Select", 1, [nan, write.constant(np.array(-0.0, x.type.dtype)), x], [x.type])[0]
    return write.layer("Convert", 1, [x], types_of(node.outputs), destination_type=op.to)


def _is_wide(dtype: np.dtype) -> bool:
    return is_float(dtype) and dtype.itemsize > 1


def _saturated(write: LayerWriter, x: Source, low: float, high: float) -> Source:
    """The number nearest in a range; NaN stays."""
    nan = write.layer("IsNaN", 10, [x], [x.type.with_dtype(BOOL)])[0]
    inside = x
    for kind, bound in (("Maximum", low), ("Minimum", high)):
        inside = write.layer(kind, 1, [inside, write.constant(np.array(bound).astype(x.type.dtype))], [x.type])[0]
    return write.layer("Select", 1, [nan, x, inside], [x.type])[0]


def _power_of_two(write: LayerWriter, x: Source, op: Cast) -> Source:
    """The power of two next above or below: the nearest one, or its neighbour."""
    code = write.layer("Convert", 1, [x], [x.type.with_dtype(FLOAT8E8M0)], destination_type=FLOAT8E8M0)[0]
    near = converted(write, code, FLOAT32)
    test, factor = ("Less", 2.0) if op.round_mode == "up" else ("Greater", 0.5)
    beside = write.layer(test, 1, [near, x], [x.type.with_dtype(BOOL)])[0]
    next_to = write.layer("Multiply", 1, [near, write.constant(np.array(factor, np.float32))], [x.type])[0]
    chosen = write.layer("Select", 1, [beside, next_to, near], [x.type])[0]
    return _saturated(write, chosen, 0.0, math.ldexp(1, 127)) if op.saturate else chosen


@rewritten("CastLike")
def cast_like(node: Node, build: Builder, x: Value, like: Value) -> Value:
    """The element type is known."""
    op = node.op
    assert isinstance(op, CastLike)
    return build.add(Cast(tensor(like).dtype, op.saturate, op.round_mode), x)
