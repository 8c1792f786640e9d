"""A summary in the place of a tensor that is too large to be recorded in every iteration."""

from __future__ import annotations

import numpy as np

from whorl.ir.dtypes import STRING
from whorl.ir.graph import Region, Value
from whorl.ir.types import TensorType
from whorl.ops.elementwise.arithmetic import Div, Mul
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import IsInf, IsNaN, Where
from whorl.ops.elementwise.functions import Sqrt
from whorl.ops.elementwise.logic import Not, Or
from whorl.ops.movement.axes import Concat
from whorl.ops.reduce.reductions import ReduceMax, ReduceMin, ReduceSum
from whorl.passes.expose.adding import add, constant, flat
from whorl.passes.expose.scopes import NamedValue

DOUBLE = np.dtype(np.float64)
SUMMARY = "min", "max", "mean", "norm", "nan", "inf"
"""What a summary consists of: the first four are of the finite elements, the last two count the others."""


def can_summarize(value: Value) -> bool:
    """Whether a value is a tensor of real numbers or truth values."""
    return isinstance(value.type, TensorType) and value.type.dtype != STRING and value.type.dtype.kind != "c"


def summarize(named: NamedValue) -> NamedValue:
    """The summary of a tensor, float64[6], as a value of the same region, called as the tensor is."""
    region = named.scope.region
    numbers = flat(region, add(region, Cast(to=DOUBLE), named.value))
    nan, infinite = add(region, IsNaN(), numbers), add(region, IsInf(), numbers)
    is_finite = add(region, Not(), add(region, Or(), nan, infinite))
    zero, low, high = (constant(region, np.array(x, np.float64)) for x in (0, -np.inf, np.inf))
    finite = add(region, Where(), is_finite, numbers, zero)
    squares = add(region, ReduceSum(), add(region, Mul(), finite, finite))
    parts = [
        add(region, ReduceMin(), add(region, Where(), is_finite, numbers, high)),
        add(region, ReduceMax(), add(region, Where(), is_finite, numbers, low)),
        add(region, Div(), add(region, ReduceSum(), finite), _count(region, is_finite)),
        add(region, Sqrt(), squares),
        _count(region, nan),
        _count(region, infinite),
    ]
    summary = add(region, Concat(0), *parts)
    summary.type = TensorType(DOUBLE, (len(SUMMARY),))
    return NamedValue(summary, named.scope, named.path)


def _count(region: Region, flags: Value) -> Value:
    return add(region, ReduceSum(), add(region, Cast(to=DOUBLE), flags))
