"""Scalar expressions of native code, without side effects, and the buffers that they read.

Expressions compare by identity: a builder that makes equal ones once shows what is shared.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from whorl.ir.cached_property import cached_property
from whorl.ir.dtypes import BOOL, INT64, name_of


class Expr(Struct, frozen=True, eq=False):
    """A scalar of one element type."""

    dtype: np.dtype


class Const(Expr, frozen=True, eq=False):
    """A fixed number."""

    value: bool | int | float


class Var(Expr, frozen=True, eq=False):
    """A scalar variable; `once` is true for one that is assigned in a single place before it is read."""

    name: str
    once: bool = True


class Load(Expr, frozen=True, eq=False):
    """The element of a buffer at an index, one expression an axis."""

    buffer: Buffer
    index: tuple[Expr, ...]


class Apply(Expr, frozen=True, eq=False):
    """A scalar operation: one of `OPS` on arguments, of one element type unless it says other."""

    op: str
    args: tuple[Expr, ...]


def _times(a: int | Expr, b: int | Expr) -> int | Expr:
    if isinstance(a, int) and isinstance(b, int):
        return a * (b or 1)
    if a == 1 or b == 1:
        return b if a == 1 else a
    return Apply(INT64, "mul", tuple(index_const(x) if isinstance(x, int) else x for x in (a, b)))


FUNCTIONS = frozenset(
    (
        *("exp", "expm1", "log", "c_log", "log1p", "tanh", "sigmoid", "erf", "erfc", "pow", "fmod", "atan2"),
        *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh"),
    )
)
"""Operations that take many instructions; `c_log` is the C library's logarithm, to its last bit."""
OPS = FUNCTIONS | frozenset(
    (
        *("add", "sum", "sub", "mul", "div", "rem"),
        *("min", "max", "minimum", "maximum"),
        *("neg", "abs", "sqrt", "floor", "ceil", "rint", "trunc"),
        *("and", "or", "xor", "not", "shl", "shr"),
        *("lt", "le", "gt", "ge", "eq", "ne", "isnan"),
        *("select", "cast", "bits"),
    )
)
"""`select` takes a bool and two values; comparisons and `isnan` give a bool; `cast` converts as `Cast` does, `bits` as
`BitCast`; integers wrap, `div` and `rem` of them truncate, and no divisor is 0; a shift by the width or more moves all
bits out; `min` and `max` give NaN where one is NaN. `sum`, `minimum` and `maximum` are `add`, `min` and `max` whose
order in a reduction may change."""


class Buffer(Struct, frozen=True, eq=False, dict=True):
    """Memory for a tensor, row-major. Lengths are numbers; the first may be None, where the caller knows it alone.

    One that `grows` has as much memory as `Reserve` last asked for. Its lengths may be expressions, which hold where
    an element is read or written, and the first that is not 1 may be None.
    """

    name: str
    dtype: np.dtype
    shape: tuple[int | Expr | None, ...]
    grows: bool = False

    @cached_property
    def strides(self) -> tuple[int | Expr, ...]:
        """Elements from one index to the next, by axis."""
        strides: list[int | Expr] = []
        step: int | Expr = 1
        for length in reversed(self.shape):
            strides.append(step)
            step = _times(step, 1 if length is None else length)
        return tuple(reversed(strides))

    @cached_property
    def run_lengths(self) -> tuple[Expr, ...]:
        """The lengths that are expressions."""
        return tuple(length for length in self.shape if isinstance(length, Expr))


def text(expr: Expr) -> str:
    """An expression as it prints."""
    match expr:
        case Const():
            return str(expr.value)
        case Var():
            return expr.name
        case Load():
            return f"{expr.buffer.name}[{', '.join(map(text, expr.index))}]"
        case Apply():
            name = f"cast<{name_of(expr.dtype)}>" if expr.op == "cast" else expr.op
            return f"{name}({', '.join(map(text, expr.args))})"
        case _:
            pass
    raise TypeError(f"{expr!r} is no expression")


def is_true(expr: Expr) -> bool:
    return isinstance(expr, Const) and expr.value is True


def index_const(value: int) -> Const:
    """A number as an index."""
    return Const(INT64, value)


TRUE, FALSE = Const(BOOL, True), Const(BOOL, False)
