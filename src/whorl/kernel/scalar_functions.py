"""The operations of kernel programs as functions of NumPy scalars, whose results are of the very element type."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from whorl.errors import VerifyError
from whorl.ir.dtypes import BOOL, FLOAT64, UNSIGNED, is_float
from whorl.ir.native.expressions import Apply
from whorl.ops.elementwise.conversion import convert


def _is_nan(x: Any) -> bool:
    return bool(x != x)


def _choose(condition: Any, x: Any, y: Any) -> Any:
    return x if condition else y


def function_of(expr: Apply) -> Callable[..., Any]:
    """An operation on NumPy scalars."""
    op, source, target = expr.op, expr.args[0].dtype, expr.dtype
    if op == "select":
        return _choose
    if op == "cast":
        return _on_scalar(lambda x: convert(x, target, False))
    if op == "bits":
        return _on_scalar(lambda x: x.view(target))
    if op == "not" and source == BOOL:
        return _negated
    if op == "isnan":
        return _is_nan
    if op in _COMMON:
        return _COMMON[op]
    if not is_float(source):
        if op in _ON_INTEGER:
            return _on_integer(_ON_INTEGER[op], target)
        return _on_integers(_ON_INTEGERS[op], target)
    if op in _EXACTLY:
        exact = np.vectorize(_EXACTLY[op], otypes=[FLOAT64])
        return _on_scalar(lambda x: np.asarray(exact(x.astype(FLOAT64))).astype(target))
    return _ON_FLOATS[op]


def _on_scalar(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[Any], Any]:
    return lambda x: function(np.asarray(x))[()]


def _on_integer(function: Callable[[int, np.dtype], int], dtype: np.dtype) -> Callable[[Any], Any]:
    return lambda x: _wrapped(function(int(x), dtype), dtype)


def _on_integers(function: Callable[[int, int, np.dtype], int], dtype: np.dtype) -> Callable[[Any, Any], Any]:
    kind, unwrapped = dtype.type, range(1 << 8 * dtype.itemsize - 2)

    def result(x: Any, y: Any) -> Any:
        number = function(int(x), int(y), dtype)
        return kind(number) if number in unwrapped else _wrapped(number, dtype)

    return result


def _negated(condition: Any) -> Any:
    return np.bool_(not condition)


def _wrapped(number: int, dtype: np.dtype) -> Any:
    if dtype == BOOL:
        return np.bool_(number)
    width = 8 * dtype.itemsize
    low = 0 if dtype in UNSIGNED else -(1 << (width - 1))
    return dtype.type((number - low) % (1 << width) + low)


def _quotient(x: int, y: int, dtype: np.dtype) -> int:
    if y == 0:
        raise VerifyError("a division by zero")
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _right(x: int, y: int, dtype: np.dtype) -> int:
    width = 8 * dtype.itemsize
    return x >> y if 0 <= y < width else -1 if x < 0 else 0


def _logarithm(x: float) -> float:
    return math.log(x) if x > 0 else float(np.log(x))


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x)) if x < 0 else x


def _over(x: Any, y: Any) -> Any:
    return x / y


_COMMON: dict[str, Callable[[Any, Any], Any]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "min": lambda x, y: x if x < y or x != x else y,
    "max": lambda x, y: x if x > y or x != x else y,
    "minimum": lambda x, y: x if x < y or x != x else y,
    "maximum": lambda x, y: x if x > y or x != x else y,
}
_ON_INTEGER: dict[str, Callable[[int, np.dtype], int]] = {
    "not": lambda x, dtype: ~x,
    "neg": lambda x, dtype: -x,
    "abs": lambda x, dtype: abs(x),
}
_ON_INTEGERS: dict[str, Callable[[int, int, np.dtype], int]] = {
    "add": lambda x, y, dtype: x + y,
    "sum": lambda x, y, dtype: x + y,
    "sub": lambda x, y, dtype: x - y,
    "mul": lambda x, y, dtype: x * y,
    "div": _quotient,
    "rem": lambda x, y, dtype: x - y * _quotient(x, y, dtype),
    "pow": lambda x, y, dtype: pow(x, y % (1 << 64), 1 << 64),
    "and": lambda x, y, dtype: x & y,
    "or": lambda x, y, dtype: x | y,
    "xor": lambda x, y, dtype: x ^ y,
    "shl": lambda x, y, dtype: x << y if 0 <= y < 8 * dtype.itemsize else 0,
    "shr": _right,
}
_EXACTLY: dict[str, Callable[[float], float]] = {
    "c_log": _logarithm,
    "erf": math.erf,
    "erfc": math.erfc,
    "sigmoid": _sigmoid,
}
_ON_FLOATS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sum": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": _over,
    "pow": np.power,
    "fmod": np.fmod,
    "atan2": np.arctan2,
    "neg": operator.neg,
    "abs": operator.abs,
    **{name: getattr(np, name) for name in ("sqrt", "floor", "ceil", "rint", "trunc", "exp", "expm1", "log", "log1p")},
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}
