"""The standard functions of MDF: each is an expression over its arguments."""

from __future__ import annotations

from whorl.mdf.expressions.syntax import Expression, parse
from whorl.mdf.model import Datum

_X = "variable0"
_TEXTS: dict[str, tuple[tuple[str, ...], str]] = {
    "linear": ((_X, "slope", "intercept"), "variable0 * slope + intercept"),
    "logistic": ((_X, "gain", "bias", "offset"), "1/(1 + numpy.exp(-1*gain*(variable0 + bias) + offset))"),
    "exponential": (
        (_X, "scale", "rate", "bias", "offset"),
        "scale * numpy.exp((rate * variable0) + bias) + offset",
    ),
    **{
        name: ((_X, "scale"), f"scale * numpy.{name}(variable0)")
        for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan")
    },
    "MatMul": (("A", "B"), "A @ B"),
    "Relu": (("A",), "A * (A > 0)"),
}
"""Arguments and formula by name. Source: MDF function specifications, version 0.4."""

DEFAULTS: dict[str, float] = {"slope": 1.0, "intercept": 0.0, "gain": 1.0, "bias": 0.0, "offset": 0.0, "scale": 1.0,
    "rate": 1.0}  # fmt: skip
"""What an argument is where neither the file nor the node says it."""

STANDARD: dict[str, tuple[dict[str, Datum], Expression]] = {
    name: ({argument: DEFAULTS.get(argument) for argument in arguments}, parse(text, f"function {name!r}"))
    for name, (arguments, text) in _TEXTS.items()
}
"""For each function its arguments with their defaults (None: required) and its expression."""
