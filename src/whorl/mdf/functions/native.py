"""The functions of math and numpy that a compiled model has, as nodes of the hub.

Bits are those of NumPy where the hub has the function. cbrt, exp2, expm1, hypot, log10, log1p, log2, logaddexp and
arctan2 are put together of others, and differ from NumPy's in the last bits; std, var and norm sum in another order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from whorl.errors import UnsupportedError
from whorl.ir.graph import Value
from whorl.ir.op import Op
from whorl.ir.types import AnyShape
from whorl.mdf.functions.builder import Nodes, Part
from whorl.ops.elementwise.arithmetic import (
    Abs,
    Add,
    Ceil,
    Div,
    Floor,
    Max,
    Min,
    Mod,
    Mul,
    Neg,
    Reciprocal,
    Round,
    Sign,
    Sub,
)
from whorl.ops.elementwise.comparison import Equal, Greater, GreaterOrEqual, IsInf, IsNaN, Less, LessOrEqual, Where
from whorl.ops.elementwise.functions import (
    Acos,
    Acosh,
    Asin,
    Asinh,
    Atan,
    Atanh,
    Cos,
    Cosh,
    Erf,
    Exp,
    Log,
    Sin,
    Sinh,
    Sqrt,
    Tan,
    Tanh,
)
from whorl.ops.elementwise.logic import And, Not, Or, Xor
from whorl.ops.elementwise.powers import Pow
from whorl.ops.linear.products import Det, MatMul
from whorl.ops.movement.axes import Concat, Transpose
from whorl.ops.movement.shapes import Expand, Reshape, Shape, Squeeze, Unsqueeze
from whorl.ops.reduce.cumulative import CumProd, CumSum
from whorl.ops.reduce.reductions import (
    ArgMax,
    ArgMin,
    ReduceMax,
    ReduceMean,
    ReduceMin,
    ReduceProd,
    ReduceSum,
    Reduction,
)

Function = Callable[..., Part]


def _unary(op: Op) -> Function:
    return lambda nodes, x: nodes.add(op, nodes.number(x))


def _binary(op: Op) -> Function:
    return lambda nodes, x, y: nodes.add(op, nodes.number(x), nodes.number(y))


def _logical(op: Op) -> Function:
    return lambda nodes, x, y: nodes.add(op, nodes.truth(x), nodes.truth(y))


def _scaled(factor: float) -> Function:
    return lambda nodes, x: nodes.add(Mul(), nodes.number(x), nodes.number(factor))


def _where(nodes: Nodes, test: Part, x: Part, y: Part) -> Value:
    return nodes.add(Where(), nodes.truth(test), *nodes.alike(x, y))


def _not(nodes: Nodes, x: Part) -> Value:
    return nodes.add(Not(), nodes.truth(x))


def _less(nodes: Nodes, x: Part, y: Part) -> Value:
    return nodes.add(Less(), nodes.number(x), nodes.number(y))


def _equal(nodes: Nodes, x: Part, y: Part) -> Value:
    return nodes.add(Equal(), *nodes.alike(x, y))


def _floor_divide(nodes: Nodes, x: Part, y: Part) -> Value:
    """The floored quotient from the exact remainder, as Python and NumPy take it."""
    a, b = nodes.number(x), nodes.number(y)
    rest = nodes.add(Mod(fmod=1), a, b)
    quotient = nodes.add(Div(), nodes.add(Sub(), a, rest), b)
    opposed = nodes.add(Xor(), _less(nodes, rest, 0.0), _less(nodes, b, 0.0))
    down = nodes.add(And(), nodes.truth(rest), opposed)
    quotient = nodes.add(Sub(), quotient, nodes.number(down))
    floor = nodes.add(Floor(), quotient)
    up = nodes.add(Greater(), nodes.add(Sub(), quotient, floor), nodes.number(0.5))
    found = nodes.add(Add(), floor, nodes.number(up))
    exact = nodes.add(Div(), a, b)
    signed_zero = nodes.add(Mul(), exact, nodes.number(0.0))
    found = _where(nodes, _equal(nodes, quotient, 0.0), signed_zero, found)
    return _where(nodes, _equal(nodes, b, 0.0), exact, found)


def _truncated(nodes: Nodes, x: Part) -> Value:
    value = nodes.number(x)
    return _where(nodes, _less(nodes, value, 0.0), nodes.add(Ceil(), value), nodes.add(Floor(), value))


def _rounded(nodes: Nodes, x: Part, decimals: int = 0) -> Value:
    value, scale = nodes.number(x), nodes.number(10.0 ** abs(decimals))
    if not decimals:
        return nodes.add(Round(), value)
    first, last = (Mul(), Div()) if decimals > 0 else (Div(), Mul())
    return nodes.add(last, nodes.add(Round(), nodes.add(first, value, scale)), scale)


def _expm1(nodes: Nodes, x: Part) -> Value:
    value = nodes.number(x)
    power = nodes.add(Exp(), value)
    less = nodes.add(Sub(), power, nodes.number(1.0))
    mended = nodes.add(Div(), nodes.add(Mul(), less, value), nodes.add(Log(), power))
    is_small = nodes.add(Less(), nodes.add(Abs(), value), nodes.number(0.5))
    found = _where(nodes, is_small, mended, less)
    return _where(nodes, _equal(nodes, power, 1.0), value, found)


def _log1p(nodes: Nodes, x: Part) -> Value:
    value = nodes.number(x)
    more = nodes.add(Add(), value, nodes.number(1.0))
    log = nodes.add(Log(), more)
    mended = nodes.add(Div(), nodes.add(Mul(), log, value), nodes.add(Sub(), more, nodes.number(1.0)))
    is_small = nodes.add(Less(), nodes.add(Abs(), value), nodes.number(1.0))
    found = _where(nodes, is_small, mended, log)
    return _where(nodes, _equal(nodes, more, 1.0), value, found)


def _log_of_base(base: float) -> Function:
    return lambda nodes, x: nodes.add(Div(), nodes.add(Log(), nodes.number(x)), nodes.number(math.log(base)))


def _log(nodes: Nodes, x: Part, base: Part = None) -> Value:
    found = nodes.add(Log(), nodes.number(x))
    return found if base is None else nodes.add(Div(), found, nodes.add(Log(), nodes.number(base)))


def _cbrt(nodes: Nodes, x: Part) -> Value:
    value = nodes.number(x)
    root = nodes.add(Pow(), nodes.add(Abs(), value), nodes.number(1 / 3))
    return nodes.add(Mul(), nodes.add(Sign(), value), root)


def _hypot(nodes: Nodes, x: Part, y: Part) -> Value:
    a, b = nodes.number(x), nodes.number(y)
    return nodes.add(Sqrt(), nodes.add(Add(), nodes.add(Mul(), a, a), nodes.add(Mul(), b, b)))


def _logaddexp(nodes: Nodes, x: Part, y: Part) -> Value:
    a, b = nodes.number(x), nodes.number(y)
    distance = nodes.add(Neg(), nodes.add(Abs(), nodes.add(Sub(), a, b)))
    return nodes.add(Add(), nodes.add(Max(), a, b), _log1p(nodes, nodes.add(Exp(), distance)))


def _arctan2(nodes: Nodes, y: Part, x: Part) -> Value:
    a, b = nodes.number(y), nodes.number(x)
    angle = nodes.add(Atan(), nodes.add(Div(), a, b))
    half_turn = _where(nodes, _is_negative(nodes, a), -math.pi, math.pi)
    found = _where(nodes, _less(nodes, b, 0.0), nodes.add(Add(), angle, half_turn), angle)
    at_zero = _where(nodes, _is_negative(nodes, b), half_turn, nodes.add(Mul(), a, nodes.number(1.0)))
    return _where(nodes, nodes.add(And(), _equal(nodes, a, 0.0), _equal(nodes, b, 0.0)), at_zero, found)


def _is_negative(nodes: Nodes, x: Value) -> Value:
    """The sign bit, of zero too."""
    inverse = nodes.add(Reciprocal(), x)
    return nodes.add(Or(), _less(nodes, x, 0.0), nodes.add(And(), _equal(nodes, x, 0.0), _less(nodes, inverse, 0.0)))


def _copysign(nodes: Nodes, x: Part, y: Part) -> Value:
    size = nodes.add(Abs(), nodes.number(x))
    return _where(nodes, _is_negative(nodes, nodes.number(y)), nodes.add(Neg(), size), size)


def _heaviside(nodes: Nodes, x: Part, half: Part) -> Value:
    value = nodes.number(x)
    step = nodes.number(nodes.add(Greater(), value, nodes.number(0.0)))
    step = _where(nodes, _equal(nodes, value, 0.0), half, step)
    return _where(nodes, nodes.add(IsNaN(), value), value, step)


def _is_finite(nodes: Nodes, x: Part) -> Value:
    value = nodes.number(x)
    return nodes.add(Not(), nodes.add(Or(), nodes.add(IsNaN(), value), nodes.add(IsInf(), value)))


def _clip(nodes: Nodes, x: Part, low: Part = None, high: Part = None, **named: Part) -> Value:
    low, high = named.get("a_min", named.get("min", low)), named.get("a_max", named.get("max", high))
    value = nodes.number(x)
    value = value if low is None else nodes.add(Max(), value, nodes.number(low))
    return value if high is None else nodes.add(Min(), value, nodes.number(high))


# ---- reductions and shapes ---------------------------------------------------------------------------------------


def _reduced(kind: type[Reduction], nodes: Nodes, x: Part, axis: Part = None, keepdims: bool = False) -> Value:
    axes = None if axis is None else nodes.build.int64(*np.atleast_1d(np.asarray(axis, np.int64)).tolist())
    op = kind(keepdims=int(bool(keepdims)))
    return nodes.add(op, nodes.number(x)) if axes is None else nodes.add(op, nodes.number(x), axes)


def _truth_reduced(kind: type[Reduction], nodes: Nodes, x: Part, axis: Part = None, keepdims: bool = False) -> Value:
    return nodes.truth(_reduced(kind, nodes, nodes.truth(x), axis, keepdims))


def _extreme(reduction: type[Reduction], op: Op, nodes: Nodes, *parts: Part, **keywords: Part) -> Value:
    """`max(a, b)` of several parts, or of the elements of one."""
    if len(parts) == 1:
        return _reduced(reduction, nodes, *parts, **keywords)
    return nodes.add(op, *map(nodes.number, parts))


def _variance(nodes: Nodes, x: Part, axis: Part = None, keepdims: bool = False) -> Value:
    value = nodes.number(x)
    rest = nodes.add(Sub(), value, _reduced(ReduceMean, nodes, value, axis, True))
    return _reduced(ReduceMean, nodes, nodes.add(Mul(), rest, rest), axis, keepdims)


def _deviation(nodes: Nodes, x: Part, axis: Part = None, keepdims: bool = False) -> Value:
    return nodes.add(Sqrt(), _variance(nodes, x, axis, keepdims))


def _norm(nodes: Nodes, x: Part, axis: Part = None, keepdims: bool = False) -> Value:
    value = nodes.number(x)
    return nodes.add(Sqrt(), _reduced(ReduceSum, nodes, nodes.add(Mul(), value, value), axis, keepdims))


def _place(kind: type[ArgMax] | type[ArgMin], nodes: Nodes, x: Part, axis: Part = None) -> Value:
    value = nodes.number(x)
    if axis is None:
        value = _ravel(nodes, value)
    return nodes.add(kind(axis=0 if axis is None else int(axis), keepdims=0), value)


def _cumulative(op: Op, nodes: Nodes, x: Part, axis: Part = None) -> Value:
    value = nodes.number(x)
    if axis is None and nodes.type(value).rank != 1:
        value = _ravel(nodes, value)
    return nodes.add(op, value, nodes.build.constant(np.array(0 if axis is None else int(axis), np.int64)))


def _ravel(nodes: Nodes, x: Part) -> Value:
    return nodes.add(Reshape(), nodes.value(x), nodes.build.int64(-1))


def _reshaped(nodes: Nodes, x: Part, *shape: Part) -> Value:
    lengths = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
    return nodes.add(Reshape(allowzero=1), nodes.value(x), nodes.build.int64(*map(int, lengths)))


def _transposed(nodes: Nodes, x: Part, axes: Part = None) -> Value:
    return nodes.add(Transpose(perm=None if axes is None else tuple(axes)), nodes.value(x))


def _joined(nodes: Nodes, parts: Part, axis: int = 0) -> Value:
    return nodes.add(Concat(axis=axis), *map(nodes.number, _listed(parts)))


def _stacked(nodes: Nodes, parts: Part, axis: int = 0) -> Value:
    return nodes.stacked([nodes.number(part) for part in _listed(parts)], axis)


def _listed(parts: Part) -> list[Part]:
    if not isinstance(parts, list | tuple):
        raise UnsupportedError("the arrays to join are not written as a list")
    return list(parts)


def _with_axis(nodes: Nodes, x: Part, axis: int) -> Value:
    return nodes.add(Unsqueeze(), nodes.value(x), nodes.build.int64(axis))


def _without_axes(nodes: Nodes, x: Part, axis: Part = None) -> Value:
    axes = [] if axis is None else [nodes.build.int64(*np.atleast_1d(axis).tolist())]
    return nodes.add(Squeeze(), nodes.value(x), *axes)


def _filled_like(nodes: Nodes, x: Part, fill: Part) -> Value:
    return nodes.add(Expand(), nodes.number(fill), nodes.add(Shape(), nodes.value(x)))


def _known_rank(nodes: Nodes, value: Value) -> int:
    rank = nodes.type(value).rank
    if rank is None:
        raise UnsupportedError("the rank of an operand is not known before the run")
    return rank


def _dot(nodes: Nodes, x: Part, y: Part) -> Value:
    a, b = nodes.number(x), nodes.number(y)
    ranks = _known_rank(nodes, a), _known_rank(nodes, b)
    if max(ranks) > 2:
        raise UnsupportedError("dot of arrays of more than two axes is not compiled", fix="write it with @")
    return nodes.add(MatMul() if min(ranks) else Mul(), a, b)


def _outer(nodes: Nodes, x: Part, y: Part) -> Value:
    column = _with_axis(nodes, _ravel(nodes, nodes.number(x)), 1)
    return nodes.add(Mul(), column, _with_axis(nodes, _ravel(nodes, nodes.number(y)), 0))


def _array(nodes: Nodes, x: Part, dtype: Part = None) -> Value:
    return nodes.value(x) if dtype is None else nodes.number(x)


def _length(nodes: Nodes, x: Part) -> int:
    if isinstance(x, list | tuple):
        return len(x)
    shape = nodes.type(nodes.value(x)).shape
    if isinstance(shape, AnyShape) or not shape or not isinstance(shape[0], int):
        raise UnsupportedError("the length of a value is not known before the run")
    return shape[0]


_CIRCULAR: dict[str, Op] = {
    "exp": Exp(), "sqrt": Sqrt(), "sin": Sin(), "cos": Cos(), "tan": Tan(), "sinh": Sinh(), "cosh": Cosh(),
    "tanh": Tanh(), "arcsin": Asin(), "arccos": Acos(), "arctan": Atan(), "arcsinh": Asinh(), "arccosh": Acosh(),
    "arctanh": Atanh(), "asin": Asin(), "acos": Acos(), "atan": Atan(), "asinh": Asinh(), "acosh": Acosh(),
    "atanh": Atanh(), "erf": Erf(), "abs": Abs(), "absolute": Abs(), "fabs": Abs(), "sign": Sign(), "ceil": Ceil(),
    "floor": Floor(), "rint": Round(), "negative": Neg(), "reciprocal": Reciprocal(), "isnan": IsNaN(),
    "isinf": IsInf(), "linalg.det": Det(),
}  # fmt: skip
_PAIRS: dict[str, Op] = {
    "add": Add(), "subtract": Sub(), "multiply": Mul(), "divide": Div(), "true_divide": Div(), "power": Pow(),
    "float_power": Pow(), "pow": Pow(), "maximum": Max(), "minimum": Min(), "mod": Mod(), "remainder": Mod(),
    "fmod": Mod(fmod=1), "matmul": MatMul(), "greater": Greater(), "greater_equal": GreaterOrEqual(), "less": Less(),
    "less_equal": LessOrEqual(),
}  # fmt: skip

FUNCTIONS: dict[str, Function] = {
    **{name: _unary(op) for name, op in _CIRCULAR.items()},
    **{name: _binary(op) for name, op in _PAIRS.items()},
    "logical_and": _logical(And()), "logical_or": _logical(Or()), "logical_xor": _logical(Xor()), "logical_not": _not,
    "equal": _equal, "not_equal": lambda nodes, x, y: nodes.add(Not(), _equal(nodes, x, y)), "where": _where,
    "floor_divide": _floor_divide, "trunc": _truncated, "fix": _truncated, "int": _truncated, "round": _rounded,
    "around": _rounded, "float": Nodes.number, "bool": Nodes.truth, "positive": Nodes.number, "log": _log,
    "log2": _log_of_base(2), "log10": _log_of_base(10), "log1p": _log1p, "expm1": _expm1, "cbrt": _cbrt,
    "exp2": lambda nodes, x: nodes.add(Pow(), nodes.number(2.0), nodes.number(x)),
    "square": lambda nodes, x: nodes.add(Mul(), nodes.number(x), nodes.number(x)), "hypot": _hypot,
    "arctan2": _arctan2, "atan2": _arctan2, "logaddexp": _logaddexp, "copysign": _copysign, "heaviside": _heaviside,
    "isfinite": _is_finite, "clip": _clip, "deg2rad": _scaled(math.pi / 180), "radians": _scaled(math.pi / 180),
    "rad2deg": _scaled(180 / math.pi), "degrees": _scaled(180 / math.pi),
    "sum": partial(_reduced, ReduceSum), "prod": partial(_reduced, ReduceProd), "mean": partial(_reduced, ReduceMean),
    "average": partial(_reduced, ReduceMean), "amax": partial(_reduced, ReduceMax),
    "amin": partial(_reduced, ReduceMin), "max": partial(_extreme, ReduceMax, Max()),
    "min": partial(_extreme, ReduceMin, Min()), "all": partial(_truth_reduced, ReduceMin),
    "any": partial(_truth_reduced, ReduceMax), "var": _variance, "std": _deviation, "linalg.norm": _norm,
    "argmax": partial(_place, ArgMax), "argmin": partial(_place, ArgMin), "cumsum": partial(_cumulative, CumSum()),
    "cumprod": partial(_cumulative, CumProd()), "ravel": _ravel, "reshape": _reshaped, "transpose": _transposed,
    "concatenate": _joined, "hstack": _joined, "stack": _stacked, "expand_dims": _with_axis, "squeeze": _without_axes,
    "zeros_like": lambda nodes, x: _filled_like(nodes, x, 0.0),
    "ones_like": lambda nodes, x: _filled_like(nodes, x, 1.0), "full_like": _filled_like, "dot": _dot,
    "outer": _outer, "array": _array, "asarray": _array, "copy": Nodes.value, "float64": Nodes.number, "len": _length,
}  # fmt: skip
"""By the name without its module."""
METHODS = {"sum", "prod", "mean", "max", "min", "all", "any", "var", "std", "argmax", "argmin", "cumsum", "cumprod",
    "ravel", "reshape", "transpose", "squeeze", "dot", "copy", "clip", "round"}  # fmt: skip
