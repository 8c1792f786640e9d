"""The functions that generated code calls: formulas that the loop vectoriser widens, and the C library for the rest.

NaN gives NaN, -0 and infinities are as in C. Bounds in units in the last place stand at each formula; a function of
the C library has that library's.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from whorl.codegen.functions import circular, exponentials, special
from whorl.ir.dtypes import FLOAT32, FLOAT64, INT64
from whorl.llvm.formula import define_formula
from whorl.llvm.function import Function
from whorl.llvm.module import Module
from whorl.llvm.value import Value

_OF_EITHER: dict[str, Callable[..., Value]] = {
    "exp": exponentials.exp,
    "expm1": exponentials.expm1,
    "log": exponentials.log,
    "log1p": exponentials.log1p,
    "sigmoid": exponentials.sigmoid,
    "tanh": exponentials.tanh,
}
_OF_SINGLE: dict[str, Callable[..., Value]] = {
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
        *("c_log", "erf", "erfc", "fmod", "pow", "sin", "sinh", "tan"),
    )
)
_OF_TWO = frozenset(("atan2", "fmod", "pow"))


def require_function(op: str, dtype: np.dtype, module: Module) -> str:
    """The name of a function of float32, float64 or int64; its text or declaration is added to the module."""
    if dtype == INT64 and op == "pow":
        return _require_integer_power(module)
    precision = _PRECISIONS[dtype]
    arguments = [precision.kind] * (2 if op in _OF_TWO else 1)
    name = f"@whorl.{op}.{precision.kind}"
    if op in _OF_EITHER:
        formula = _OF_EITHER[op]

        def write(f: Function, x: Value) -> Value:
            return formula(f, precision, x)

        return define_formula(name, arguments, module, write)
    if op in _OF_SINGLE and dtype == FLOAT32:
        return define_formula(name, arguments, module, _OF_SINGLE[op])
    if op not in _IN_C:
        raise TypeError(f"there is no function {op!r}")
    name = f"@{op.removeprefix('c_')}" + ("f" if dtype == FLOAT32 else "")
    return module.declare(name, precision.kind, arguments, "nounwind memory(none)")


def _require_integer_power(module: Module) -> str:
    """A power by squaring; it wraps."""
    name = "@whorl.pow.i64"
    if name not in module:
        f = Function(module, name, "i64", {"base": "i64", "exponent": "i64"}, attributes="nounwind memory(none)")
        base, exponent, power = f.variable(f["base"]), f.variable(f["exponent"]), f.variable(f.number(1, "i64"))
        f.jump("head")
        f.start("head")
        b, e, p = (f.load("i64", variable) for variable in (base, exponent, power))
        f.branch(e.equals(0), "end", "body")
        f.start("body")
        f.store(p * f.select(f.convert("trunc", e, "i1"), b, 1), power)
        f.store(b * b, base)
        f.store(e >> 1, exponent)
        f.jump("head")
        f.start("end")
        f.give(p)
    return name
