"""Transfer functions of value ranges: what an op makes of the intervals of its inputs."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence

import numpy as np

from whorl.ir.constants import as_array
from whorl.ir.dtypes import BOOL
from whorl.ir.graph import Node, Value
from whorl.ir.types import TensorType
from whorl.ops.elementwise.arithmetic import (
    Abs,
    Add,
    Ceil,
    Clip,
    Div,
    Floor,
    Identity,
    Max,
    Min,
    Mod,
    Mul,
    Neg,
    Round,
    Sign,
    Sub,
)
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Where
from whorl.ops.elementwise.functions import Cos, Exp, Sin, Sqrt, Tanh
from whorl.ops.elementwise.logic import And, Not, Or, Xor
from whorl.ops.elementwise.nonlinear import Relu, Sigmoid
from whorl.ops.movement.axes import Concat, Slice, Split, Tile, Transpose
from whorl.ops.movement.filling import ConstantOfShape, Range
from whorl.ops.movement.indexing import Gather, GatherElements, GatherND
from whorl.ops.movement.lengths import at_most, bounds
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.selection import NonZero
from whorl.ops.movement.shapes import Expand, Reshaping, Shape, Size
from whorl.ops.reduce.reductions import ArgumentReduction, ReduceMax, ReduceMin
from whorl.ops.reduce.softmax import Softmax
from whorl.passes.facts.intervals import TRUTH, Interval, corners, of_array, union, whole, within

Found = Interval | None
_ARITHMETIC = {Add: operator.add, Sub: operator.sub, Mul: operator.mul}
_MOVES = (Identity, Reshaping, Expand, Transpose, Slice, Gather, GatherElements, GatherND, Split, Tile)
_MONOTONE = {Floor: math.floor, Ceil: math.ceil, Round: round}


def transfer(node: Node, inputs: Sequence[Found], read: Sequence[Value | None]) -> Found:
    """The interval of every output of a node without regions; None where nothing is known."""
    type = node.outputs[0].type
    if not isinstance(type, TensorType):
        return None
    found = _of(node, inputs, read, type.dtype)
    return whole(type.dtype) if found is None else found


def _of(node: Node, inputs: Sequence[Found], read: Sequence[Value | None], dtype: np.dtype) -> Found:
    op, kind = node.op, type(node.op)
    first = inputs[0] if inputs else None
    second = inputs[1] if len(inputs) > 1 else None
    match op:
        case Add() | Sub() | Mul():
            return None if first is None or second is None else corners(_ARITHMETIC[kind], first, second, dtype)
        case Max() | Min():
            return _extreme(max if kind is Max else min, inputs)
        case Equal() | Less() | LessOrEqual() | Greater() | GreaterOrEqual():
            return _compared(node, first, second, read)
        case And() | Or() | Not() | Xor():
            return _logical(node, inputs)
        case Where():
            chosen = first is not None and first.is_point
            return union(inputs[1:]) if not chosen or first is None else inputs[1 if first.low else 2]
        case Clip():
            return _clipped(node, inputs)
        case Mod() | Div():
            return _divided(node, first, second, dtype)
        case Concat():
            return union(inputs)
        case Pad():
            value = inputs[2] if len(inputs) > 2 and read[2] is not None else Interval(0, 0)
            return union([first, value])
        case Range() if dtype.kind in "iu":
            return _counted(inputs)
        case ConstantOfShape():
            return of_array(np.asarray(as_array(op.element)))
        case Shape() | Size() | NonZero() | ArgumentReduction():
            return _counts(node)
    if isinstance(op, _MOVES):
        return first
    return None if first is None else _unary(node, first, dtype)


def _unary(node: Node, x: Interval, dtype: np.dtype) -> Found:
    match node.op:
        case Neg():
            return within(Interval(-x.high, -x.low, x.nan), dtype)
        case Abs():
            low = 0 if x.low <= 0 <= x.high else min(abs(x.low), abs(x.high))
            return within(Interval(low, max(abs(x.low), abs(x.high)), x.nan), dtype)
        case Relu():
            return Interval(max(x.low, 0), max(x.high, 0), x.nan)
        case Sign():
            return Interval(_sign(x.low), _sign(x.high), x.nan)
        case Floor() | Ceil() | Round() if x.is_finite:
            step = _MONOTONE[type(node.op)]
            return Interval(float(step(x.low)), float(step(x.high)))
        case Sigmoid() | Softmax():
            return Interval(0.0, 1.0, x.nan or not x.is_finite)
        case Tanh():
            return Interval(-1.0, 1.0, x.nan)
        case Sin() | Cos():
            return Interval(-1.0, 1.0, not x.is_finite)
        case Exp():
            return Interval(0.0, math.inf, x.nan)
        case Sqrt():
            return Interval(0.0, math.inf, x.nan or x.low < 0)
        case Cast():
            return _cast(x, dtype)
        case ReduceMax() | ReduceMin() if _has_elements(node.inputs[0]):
            return x
    return None


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)


def _has_elements(value: Value | None) -> bool:
    shape = value.type.shape if value is not None and isinstance(value.type, TensorType) else None
    return isinstance(shape, tuple) and all(bounds(dim)[0] > 0 for dim in shape)


def _extreme(pick: object, inputs: Sequence[Found]) -> Found:
    known = [each for each in inputs if each is not None]
    if len(known) < len(inputs):
        return None
    low, high = pick(each.low for each in known), pick(each.high for each in known)  # type: ignore[operator]
    return Interval(low, high, any(each.nan for each in known))


def _clipped(node: Node, inputs: Sequence[Found]) -> Found:
    x, *limits = (*inputs, None, None)[:3]
    present = [*(v is not None for v in node.inputs[1:3]), False, False][:2]
    if x is None or any(here and limit is None for here, limit in zip(present, limits, strict=True)):
        return None
    if present[0] and limits[0] is not None:
        x = Interval(max(x.low, limits[0].low), max(x.high, limits[0].high), x.nan or limits[0].nan)
    if present[1] and limits[1] is not None:
        x = Interval(min(x.low, limits[1].low), min(x.high, limits[1].high), x.nan or limits[1].nan)
    return x


def _divided(node: Node, x: Found, y: Found, dtype: np.dtype) -> Found:
    """Integers by positive integers."""
    if x is None or y is None or dtype.kind not in "iu" or y.low <= 0:
        return None
    if isinstance(node.op, Div):
        ends = [_truncated(int(a), int(b)) for a in (x.low, x.high) for b in (y.low, y.high)]
        return Interval(min(ends), max(ends))
    if node.op.fmod and x.low < 0:  # type: ignore[attr-defined]
        return Interval(1 - y.high, y.high - 1)
    return Interval(0, min(y.high - 1, x.high) if x.low >= 0 else y.high - 1)


def _truncated(a: int, b: int) -> int:
    return a // b if a >= 0 else -(-a // b)


def _cast(x: Interval, dtype: np.dtype) -> Found:
    if dtype == BOOL:
        if x.nan or x.low <= 0 <= x.high:
            return Interval(0, 0) if x.is_point else TRUTH
        return Interval(1, 1)
    limits = whole(dtype)
    if limits is None or x.nan:
        return limits
    if dtype.kind in "iu":
        if not x.is_finite:
            return limits
        found = Interval(math.trunc(x.low), math.trunc(x.high), below=x.below)
        return found if limits.low <= found.low and found.high <= limits.high else limits
    with np.errstate(all="ignore"):
        return Interval(float(dtype.type(x.low)), float(dtype.type(x.high)))


def _counted(inputs: Sequence[Found]) -> Found:
    start, limit, delta = inputs
    if start is None or limit is None or delta is None:
        return None
    if delta.low > 0:
        return Interval(start.low, max(start.low, limit.high - 1))
    return Interval(min(start.high, limit.low + 1), start.high) if delta.high < 0 else None


def _counts(node: Node) -> Found:
    """Lengths and indices, which are never negative; what inference knows of them bounds them further."""
    known = node.outputs[0].known
    if known is None or not known.size:
        return Interval(0, int(np.iinfo(np.int64).max))
    lows, highs = zip(*(bounds(dim) for dim in known.flat), strict=True)
    high = max(highs)
    return Interval(max(0, int(min(lows))), int(high) if math.isfinite(high) else int(np.iinfo(np.int64).max))


# ---- truth -------------------------------------------------------------------------------------------------------


def _truth(answer: bool | None) -> Interval:
    return TRUTH if answer is None else Interval(int(answer), int(answer))


def _compared(node: Node, a: Found, b: Found, read: Sequence[Value | None]) -> Interval:
    if a is None or b is None:
        return TRUTH
    match node.op:
        case Equal():
            if a.high < b.low or b.high < a.low:
                return _truth(False)
            return _truth(True if a.is_point and b.is_point and a.low == b.low else None)
        case Less():
            return _truth(_less(a, b, read[1]))
        case Greater():
            return _truth(_less(b, a, read[0]))
        case LessOrEqual():
            return _truth(_at_most(a, b))
    return _truth(_at_most(b, a))


def _less(a: Interval, b: Interval, other: Value | None) -> bool | None:
    """Whether every a is less than every b."""
    if a.low >= b.high:
        return False
    if a.nan or b.nan:
        return None
    if a.high < b.low:
        return True
    known = None if other is None else other.known
    below = a.below
    is_below = below is not None and known is not None and known.size and all(at_most(below, d) for d in known.flat)
    return True if is_below else None


def _at_most(a: Interval, b: Interval) -> bool | None:
    if a.low > b.high:
        return False
    return True if a.high <= b.low and not a.nan and not b.nan else None


def _logical(node: Node, inputs: Sequence[Found]) -> Interval:
    known = [None if each is None or not each.is_point else bool(each.low) for each in inputs]
    match node.op:
        case Not():
            return _truth(None if known[0] is None else not known[0])
        case And():
            return _truth(False if False in known else True if known == [True, True] else None)
        case Or():
            return _truth(True if True in known else False if known == [False, False] else None)
    return _truth(None if None in known else known[0] != known[1])
