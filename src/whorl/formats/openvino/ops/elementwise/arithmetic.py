"""Arithmetic, comparison, logic and bits of two operands, and the choice between two."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np

from whorl.formats.onnx.versions.broadcasting import aligned
from whorl.formats.openvino.ops.nodes import cast, emit, like
from whorl.formats.openvino.ops.rows import Row
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import exporter, rewritten
from whorl.formats.openvino.writing.layers import SHORT, combine, compare, convert, drop_axes, scalar, select, types_of
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, BY_NAME, FLOAT32, INT32, INT64, SIGNED, is_float, is_integer
from whorl.ir.graph import Node, Op, Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Add, Clip, Div, Mean, Mod, Mul, Sub, Sum
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Equal, Where
from whorl.ops.elementwise.logic import And, BitShift, BitwiseAnd, BitwiseOr, BitwiseXor, Not, Or, Xor
from whorl.ops.elementwise.powers import Pow

UINT8 = BY_NAME["uint8"]
_CLAMPED = (FLOAT32, INT32)
_OF_BOOLS: dict[type[Op], Op] = {BitwiseAnd: And(), BitwiseOr: Or(), BitwiseXor: Xor()}


def operands(node: IrNode, build: Builder, left: int = 0) -> tuple[Value, Value]:
    """Two inputs that broadcast to each other.

    With `auto_broadcast="pdpd"` the first axis of the right one lies under an axis of the left one, with -1 the last
    ones under each other as in NumPy.
    """
    x, y = node.required(left), node.required(left + 1)
    axis = node.integer("auto_broadcast.auto_broadcast_axis", 0)
    if node.text("auto_broadcast", "numpy", ("numpy", "none", "explicit", "pdpd")) != "pdpd" or axis < 0:
        return x, y
    return x, aligned(build, x, y, axis)


def read_binary(node: IrNode, build: Builder, op: Op) -> list[Value]:
    """The op of both operands."""
    return emit(node, build, op, *operands(node, build))


def read_comparison(node: IrNode, build: Builder, op: Op) -> list[Value]:
    """False is less than true."""
    x, y = operands(node, build)
    if tensor(x).dtype == BOOL:
        x, y = cast(build, x, UINT8), cast(build, y, UINT8)
    return emit(node, build, op, x, y)


def read_bits(node: IrNode, build: Builder, op: Op) -> list[Value]:
    """Truth values have a logic of their own."""
    x, y = operands(node, build)
    return emit(node, build, _OF_BOOLS[type(op)] if tensor(x).dtype == BOOL else op, x, y)


def read_division(node: IrNode, build: Builder, op: Div) -> list[Value]:
    """Integers are truncated, in spite of `m_pythondiv`."""
    node.flag("m_pythondiv", True)
    return read_binary(node, build, op)


def read_power(node: IrNode, build: Builder, op: Pow) -> list[Value]:
    """Integers of types that Pow lacks are computed in int64."""
    base, exponent = operands(node, build)
    dtype = tensor(base).dtype
    if not is_integer(dtype) or dtype in (INT32, INT64):
        return emit(node, build, op, base, exponent)
    return emit(node, build, Cast(dtype), build.add(op, cast(build, base, INT64), cast(build, exponent, INT64)))


@importer("NotEqual", 1)
def not_equal_1(node: IrNode, build: Builder) -> list[Value]:
    """True where either is NaN."""
    return emit(node, build, Not(), build.add(Equal(), *operands(node, build)))


@importer("SquaredDifference", 1)
def squared_difference_1(node: IrNode, build: Builder) -> list[Value]:
    difference = build.add(Sub(), *operands(node, build))
    return emit(node, build, Mul(), difference, difference)


@importer("Select", 1)
def select_1(node: IrNode, build: Builder) -> list[Value]:
    x, y = operands(node, build, 1)
    return emit(node, build, Where(), cast(build, node.required(0), BOOL), x, y)


def write_in_int32(op: Op, node: Node, write: NetWriter, row: Row[Any]) -> list[Source]:
    """Short integers are computed in int32: the CPU plugin saturates them, ONNX keeps their low bits."""
    (result,), sources = types_of(node.outputs), [write.source(value) for value in node.inputs]
    if result.dtype not in SHORT:
        return row.layer(op, node, write, sources)
    wide = [convert(write, source, INT32) for source in sources]
    (computed,) = row.layer(op, node, write, wide, [result.with_dtype(INT32)])
    return [convert(write, computed, result.dtype)]


def write_mod(op: Mod, node: Node, write: NetWriter, row: Row[Any]) -> Source:
    """The sign of the divisor, or that of the dividend. OpenVINO makes NaN of what an infinity leaves of a number."""
    fixed = write.constant_value(node.inputs[1])
    (rest,) = write_in_int32(op, node, write, row)
    if not is_float(rest.type.dtype) or (fixed is not None and np.isfinite(fixed.astype(np.float64)).all()):
        return rest
    x, y = (write.source(value) for value in node.inputs)
    truth = rest.type.with_dtype(BOOL)
    infinite = write.layer("IsInf", 10, [y], [y.type.with_dtype(BOOL)], detect_negative=True, detect_positive=True)[0]
    finite = write.layer("IsFinite", 10, [x], [x.type.with_dtype(BOOL)])[0]
    instead = x
    if not op.fmod:
        opposed = compare(write, "Less", combine(write, "Multiply", x, y, rest.type), scalar(write, 0, x.type.dtype))
        instead = select(write, opposed, y, x, rest.type)
    return select(write, combine(write, "LogicalAnd", infinite, finite, truth), instead, rest, rest.type)


def write_shift(op: BitShift, node: Node, write: NetWriter, row: Row[Any]) -> list[Source]:
    """OpenVINO takes the distance modulo the width; where all bits have gone, what remains is selected."""
    x, distance = (write.source(value) for value in node.inputs)
    width, fixed = 8 * x.type.dtype.itemsize, write.constant_value(node.inputs[1])
    (shifted,) = write_in_int32(op, node, write, row)
    if fixed is not None and ((fixed >= 0) & (fixed < width)).all():
        return [shifted]
    (result,), dtype = types_of(node.outputs), distance.type.dtype
    above = compare(write, "Greater", distance, scalar(write, width - 1, dtype))
    outside = compare(write, "LogicalOr", above, compare(write, "Less", distance, scalar(write, 0, dtype)))
    rest = scalar(write, 0, result.dtype)
    if op.direction == "RIGHT" and result.dtype in SIGNED:
        negative = compare(write, "Less", x, rest)
        rest = select(write, negative, scalar(write, -1, result.dtype), rest, x.type)
    return [select(write, outside, rest, shifted, result)]


def write_power(op: Pow, node: Node, write: NetWriter, row: Row[Any]) -> list[Source]:
    """Both in one element type: the base's, or float32 for an integer to the power of a float."""
    base, exponent = (write.source(value) for value in node.inputs)
    (result,) = types_of(node.outputs)
    common = result.dtype
    if is_integer(common) and not is_integer(exponent.type.dtype):
        common = FLOAT32
    elif common in SHORT:
        common = INT32
    sources = [convert(write, source, common) for source in (base, exponent)]
    (power,) = row.layer(op, node, write, sources, [result.with_dtype(common)])
    return [convert(write, power, result.dtype)]


def write_chain(op: Op, node: Node, write: NetWriter, row: Row[Any]) -> list[Source]:
    """Any number of operands, two at a time."""
    (result,), sources = types_of(node.outputs), [write.source(value) for value in node.inputs]
    return [reduce(lambda left, right: combine(write, row.type, left, right, result), sources)]


@rewritten(Sum)
def sum_of(op: Sum, build: Builder, *inputs: Value) -> Value:
    return reduce(lambda x, y: build.add(Add(), x, y), inputs)


@rewritten(Mean)
def mean(op: Mean, build: Builder, *inputs: Value) -> Value:
    total = reduce(lambda x, y: build.add(Add(), x, y), inputs)
    return build.add(Div(), total, like(build, total, len(inputs)))


@exporter(Clip)
def write_clip(op: Clip, node: Node, write: NetWriter) -> list[Source]:
    """Clamp for two constant bounds in order, else a maximum and a minimum."""
    x, low, high = (*node.inputs, None, None)[:3]
    (result,), source = types_of(node.outputs), write.source(x)
    bounds = [write.constant_value(bound) for bound in (low, high)]
    least, most = (None if bound is None or bound.size != 1 else bound.reshape(-1)[0].item() for bound in bounds)
    if least is not None and most is not None and -math.inf < least <= most < math.inf and result.dtype in _CLAMPED:
        return write.layer("Clamp", 1, [source], [result], min=float(least), max=float(most))
    for bound, kind in ((low, "Maximum"), (high, "Minimum")):
        if bound is not None:
            source = combine(write, kind, drop_axes(write, write.source(bound)), source, result)
    return [source]
