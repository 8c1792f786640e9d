"""The functions that generated code calls: formulas that the loop vectoriser widens, and the C library for the rest.

NaN gives NaN, -0 and infinities are as in C. Bounds in units in the last place stand at each formula; a function of
the C library has that library's.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from whorl.codegen import circular, exponentials, special
from whorl.codegen.formulas import Library, Number, define
from whorl.ir.dtypes import FLOAT32, FLOAT64, INT64

_OF_EITHER: dict[str, Callable[..., Number]] = {
    "exp": exponentials.exp,
    "expm1": exponentials.expm1,
    "log": exponentials.log,
    "log1p": exponentials.log1p,
    "sigmoid": exponentials.sigmoid,
    "tanh": exponentials.tanh,
}
_OF_SINGLE: dict[str, Callable[..., Number]] = {
    "cos": circular.cos,
    "erf": special.erf,
    "erfc": special.erfc,
    "pow": special.power,
    "sin": circular.sin,
    "tan": circular.tan,
}
_PRECISIONS = {FLOAT32: exponentials.SINGLE, FLOAT64: exponentials.DOUBLE}
_IN_C = frozenset(
    (
        *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh"),
        *("erf", "erfc", "fmod", "pow", "sin", "sinh", "tan"),
    )
)
_OF_TWO = frozenset(("atan2", "fmod", "pow"))
_INTEGER_POWER = """define internal i64 @whorl.pow.i64(i64 %base, i64 %exponent) nounwind memory(none) {
entry:
  br label %head
head:
  %b = phi i64 [ %base, %entry ], [ %square, %body ]
  %e = phi i64 [ %exponent, %entry ], [ %half, %body ]
  %p = phi i64 [ 1, %entry ], [ %next, %body ]
  %done = icmp eq i64 %e, 0
  br i1 %done, label %end, label %body
body:
  %odd = trunc i64 %e to i1
  %factor = select i1 %odd, i64 %b, i64 1
  %next = mul i64 %p, %factor
  %square = mul i64 %b, %b
  %half = lshr i64 %e, 1
  br label %head
end:
  ret i64 %p
}"""
"""A power by squaring; it wraps."""


def require(op: str, dtype: np.dtype, library: Library) -> str:
    """The name of a function of float32, float64 or int64; its text or declaration is added to the library."""
    if dtype == INT64 and op == "pow":
        library.setdefault("@whorl.pow.i64", _INTEGER_POWER)
        return "@whorl.pow.i64"
    precision = _PRECISIONS[dtype]
    arguments = [precision.kind] * (2 if op in _OF_TWO else 1)
    name = f"@whorl.{op}.{precision.kind}"
    if op in _OF_EITHER:
        formula = _OF_EITHER[op]
        return define(name, arguments, library, lambda f, x: formula(f, precision, x))
    if op in _OF_SINGLE and dtype == FLOAT32:
        return define(name, arguments, library, _OF_SINGLE[op])
    if op not in _IN_C:
        raise TypeError(f"there is no function {op!r}")
    name = f"@{op}f" if dtype == FLOAT32 else f"@{op}"
    declared = f"declare {precision.kind} {name}({', '.join(arguments)}) nounwind memory(none)"
    library.setdefault(name, declared)
    return name
