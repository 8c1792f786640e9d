"""Python's and NumPy's operators, bounded: a short expression of a file must not take all memory or time."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable

import numpy as np

from whorl.errors import RunError
from whorl.mdf.functions.table import MAX_ELEMENTS
from whorl.mdf.model import Datum

MAX_BITS = 4096
"""The largest whole number that arithmetic may make."""
MAX_ITEMS = 1_000_000
"""The longest list or text that arithmetic may make."""

_FIXED_SIZE = frozenset({float, np.float64})


def _power(a: Datum, b: Datum) -> Datum:
    """NaN where Python has a complex number."""
    value = a**b
    return math.nan if isinstance(value, complex) else value


_MEANINGS: dict[type[ast.operator], Callable[[Datum, Datum], Datum]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
UNARY: dict[type[ast.unaryop], Callable[[Datum], Datum]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
COMPARISONS: dict[type[ast.cmpop], Callable[[Datum, Datum], Datum]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}


def _bounded(kind: type[ast.operator], meaning: Callable[[Datum, Datum], Datum]) -> Callable[[Datum, Datum], Datum]:
    def compute(a: Datum, b: Datum) -> Datum:
        if a.__class__ not in _FIXED_SIZE or b.__class__ not in _FIXED_SIZE:
            check_growth(kind, a, b)
        try:
            return meaning(a, b)
        except (ZeroDivisionError, OverflowError):
            return meaning(np.float64(a), np.float64(b)).item()

    return compute


BINARY = {kind: _bounded(kind, meaning) for kind, meaning in _MEANINGS.items()}
"""Operations of arithmetic; what Python would raise for a number out of range is what NumPy gives."""


def check_growth(kind: type[ast.operator], a: object, b: object) -> None:
    """Refuse whole numbers, lists, texts and arrays that a short expression could make huge. Errors: RunError."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.shape != b.shape or kind is ast.MatMult:
            check_result(kind is ast.MatMult, a, b)
        return
    if kind is ast.Pow and type(a) is int and type(b) is int and b > 0 and a.bit_length() * b > MAX_BITS:
        raise RunError(f"{a} ** {b} is too large", fix="write one of the numbers with a decimal point")
    if kind is ast.Mult:
        if type(a) is int and type(b) is int and a.bit_length() + b.bit_length() > MAX_BITS:
            raise RunError("a product of whole numbers is too large")
        for items, count in ((a, b), (b, a)):
            if isinstance(items, str | list | tuple) and isinstance(count, int) and len(items) * count > MAX_ITEMS:
                raise RunError(f"a list or text would have more than {MAX_ITEMS} items")
    if kind is ast.Mod and isinstance(a, str):
        raise RunError("a text has no remainder")


def check_result(is_product: bool, *arrays: np.ndarray) -> None:
    """Refuse arrays whose broadcast or product of matrices would be larger than any shape in a file."""
    if len(arrays) < 2 or math.prod(float(array.size) for array in arrays) <= MAX_ELEMENTS:
        return
    a, b = arrays[0], arrays[-1]
    try:
        if is_product and a.ndim > 1 and b.ndim > 1:
            size = math.prod(np.broadcast_shapes(a.shape[:-2], b.shape[:-2])) * a.shape[-2] * b.shape[-1]
        else:
            size = math.prod(np.broadcast_shapes(*(array.shape for array in arrays)))
    except ValueError:
        return
    if size > MAX_ELEMENTS:
        raise RunError(f"the result would have more than {MAX_ELEMENTS} elements")
