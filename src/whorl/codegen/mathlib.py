"""Scalar functions as LLVM IR that the vectoriser can widen, and the C library for the rest.

Bounds, measured over all of float32 against float64: exp 1.0 ulp, tanh 1.4, sigmoid 2.5. Functions of float64, and the
others of float32, are the C library's.
"""

from __future__ import annotations

import numpy as np

_C_NAMES = {
    name: name
    for name in ("exp", "log", "tanh", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh",
                 "atanh", "erf", "pow", "fmod", "atan2")
}  # fmt: skip


def require(op: str, dtype: np.dtype, library: dict[str, str]) -> str:
    """The name of a function, its text or declaration added to the library."""
    kind, suffix = ("float", "f") if dtype.itemsize == 4 else ("double", "")
    if op == "sigmoid":
        exp = require("exp", dtype, library)
        one = "1.0"
        text = f"""define internal {kind} @whorl_sigmoid{suffix}({kind} %x) alwaysinline nounwind memory(none) {{
  %n = fneg {kind} %x
  %e = call {kind} {exp}({kind} %n)
  %d = fadd {kind} %e, {one}
  %r = fdiv {kind} {one}, %d
  ret {kind} %r
}}"""
        return _add(f"@whorl_sigmoid{suffix}", text, library)
    if op not in _C_NAMES:
        raise TypeError(f"there is no function {op!r}")
    name = f"@{_C_NAMES[op]}{suffix}"
    arguments = ", ".join([kind] * (2 if op in ("pow", "fmod", "atan2") else 1))
    return _add(name, f"declare {kind} {name}({arguments}) nounwind memory(none)", library)


def _add(name: str, text: str, library: dict[str, str]) -> str:
    library.setdefault(name, text)
    return name
