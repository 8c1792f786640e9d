"""Functions of one number, and questions about one number."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from whorl.errors import LoadError
from whorl.formats.openvino.ops.elementwise.arithmetic import write_in_int32
from whorl.formats.openvino.ops.nodes import cast, emit, like
from whorl.formats.openvino.ops.rows import Row
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import rewritten
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Sources
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, FLOAT32, UNSIGNED, is_float, is_integer
from whorl.ir.graph import Node, Op, Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Abs, Add, Clip, Div, Floor, Identity, Mul, Reciprocal, Round, Sign
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import IsInf, IsNaN
from whorl.ops.elementwise.logic import Not, Or


def read_function(node: IrNode, build: Builder, op: Op) -> list[Value]:
    """A function of floats; integers are computed in float32, and the result is rounded."""
    x = node.required(0)
    if is_float(tensor(x).dtype):
        return emit(node, build, op, x)
    result = build.add(op, cast(build, x, FLOAT32))
    return emit(node, build, Cast(tensor(x).dtype), build.add(Round(), result))


def read_rounding(node: IrNode, build: Builder, op: Op) -> list[Value]:
    """Integers are whole already."""
    x = node.required(0)
    return emit(node, build, op if is_float(tensor(x).dtype) else Identity(), x)


def read_bitwise_not(node: IrNode, build: Builder, op: Op) -> list[Value]:
    """Truth values have a logic of their own."""
    x = node.required(0)
    return emit(node, build, Not() if tensor(x).dtype == BOOL else op, x)


def read_round(node: IrNode, build: Builder, op: Round) -> list[Value]:
    """Halves go to the even number, or away from zero."""
    x = node.required(0)
    mode = node.text("mode", "half_to_even", ("half_to_even", "half_away_from_zero"))
    if mode == "half_to_even" or not is_float(tensor(x).dtype):
        return read_rounding(node, build, op)
    size = build.add(Floor(), build.add(Add(), build.add(Abs(), x), like(build, x, 0.5)))
    return emit(node, build, Mul(), build.add(Sign(), x), size)


@importer("Clamp", 1)
def clamp_1(node: IrNode, build: Builder) -> list[Value]:
    """Bounds are numbers; for integers they are rounded towards the inside."""
    x = node.required(0)
    dtype = tensor(x).dtype
    low, high = node.number("min"), node.number("max")
    if is_integer(dtype):
        if math.isnan(low) or math.isnan(high):
            raise LoadError(f"bounds integers by {low} and {high}", node.title, "make both numbers")
        limits = ml_dtypes.iinfo(dtype)
        low, high = np.ceil(max(low, limits.min)), np.floor(min(high, limits.max))
    bounds = (build.constant(_bound(value, dtype), "bound") for value in (low, high))
    return emit(node, build, Clip(), x, *bounds)


def _bound(value: float, dtype: np.dtype) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.array(int(value) if is_integer(dtype) else value).astype(dtype)


@importer("IsFinite", 10)
def is_finite_10(node: IrNode, build: Builder) -> list[Value]:
    x = node.required(0)
    return emit(node, build, Not(), build.add(Or(), build.add(IsInf(), x), build.add(IsNaN(), x)))


def write_abs(op: Abs, node: Node, write: NetWriter, row: Row[Any]) -> Sources:
    """Unsigned integers are their own absolute values."""
    source = write.source(node.inputs[0])
    return source if source.type.dtype in UNSIGNED else write_in_int32(op, node, write, row)


@rewritten(Reciprocal)
def reciprocal(op: Reciprocal, build: Builder, x: Value) -> Value:
    return build.add(Div(), like(build, x, 1), x)
