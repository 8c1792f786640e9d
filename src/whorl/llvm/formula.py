"""Formulas: functions of a few scalars without branches, so that the loop vectoriser can widen them once inlined."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from whorl.llvm.function import Function
from whorl.llvm.module import Module
from whorl.llvm.value import Value


def define_formula(name: str, parameters: Sequence[str], module: Module, write: Callable[..., Value]) -> str:
    """Add a function unless the module has it; `write(function, *arguments)` gives its result. Returns its name."""
    if name not in module:
        names = [f"x{k}" for k in range(len(parameters))]
        f = Function(
            module,
            name,
            "",
            dict(zip(names, parameters, strict=True)),
            attributes="alwaysinline nounwind memory(none)",
        )
        result = write(f, *(f[x] for x in names))
        f.result = result.type
        f.give(result)
    return name


def polynomial(f: Function, x: Value, coefficients: Sequence[float]) -> Value:
    """The sum of coefficient k times the k-th power of x, by Horner's rule."""
    total = x.number(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = f.muladd(total, x, coefficient)
    return total


def short_polynomial(f: Function, x: Value, square: Value, coefficients: Sequence[float]) -> Value:
    """The same sum by Estrin's scheme: pairs of terms, then pairs of pairs, which do not wait for each other.

    The last three are summed by Horner's rule, which takes no longer.
    """
    parts, power, next_power = [x.number(c) for c in coefficients], x, square
    while len(parts) > 3:
        odd = parts[1::2]
        parts = [f.muladd(odd[k], power, low) if k < len(odd) else low for k, low in enumerate(parts[::2])]
        power, next_power = next_power, next_power * next_power
    total = parts[-1]
    for part in reversed(parts[:-1]):
        total = f.muladd(total, power, part)
    return total


def clamp(f: Function, x: Value, low: float, high: float) -> Value:
    """The nearest number of a range; NaN stays."""
    raised = f.select(x < low, low, x)
    return f.select(raised > high, high, raised)
