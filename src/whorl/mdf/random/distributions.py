"""Distributions of numpy.random, each a formula over two uniform numbers `u` and `w` and its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from whorl.errors import RunError, UnsupportedError
from whorl.mdf.expressions.syntax import Expression, parse
from whorl.mdf.model import Datum

_NORMAL = "numpy.sqrt(-2.0 * numpy.log(1.0 - u)) * numpy.cos(6.283185307179586 * w)"
_ABOVE_0 = "(u + 2.7755575615628914e-17)"
_TEXTS: dict[str, tuple[dict[str, float], str]] = {
    "random": ({}, "u"),
    "uniform": ({"low": 0.0, "high": 1.0}, "low + (high - low) * u"),
    "normal": ({"loc": 0.0, "scale": 1.0}, f"loc + scale * ({_NORMAL})"),
    "lognormal": ({"mean": 0.0, "sigma": 1.0}, f"numpy.exp(mean + sigma * ({_NORMAL}))"),
    "exponential": ({"scale": 1.0}, "-scale * numpy.log(1.0 - u)"),
    "logistic": ({"loc": 0.0, "scale": 1.0}, f"loc + scale * (numpy.log({_ABOVE_0}) - numpy.log(1.0 - u))"),
    "gumbel": ({"loc": 0.0, "scale": 1.0}, f"loc - scale * numpy.log(-numpy.log({_ABOVE_0}))"),
    "laplace": ({"loc": 0.0, "scale": 1.0}, "loc + scale * (numpy.log(1.0 - w) - numpy.log(1.0 - u))"),
    "rayleigh": ({"scale": 1.0}, "scale * numpy.sqrt(-2.0 * numpy.log(1.0 - u))"),
    "weibull": ({"a": 1.0}, "(-numpy.log(1.0 - u)) ** (1.0 / a)"),
    "pareto": ({"a": 1.0}, "numpy.exp(-numpy.log(1.0 - u) / a) - 1.0"),
    "power": ({"a": 1.0}, "(1.0 - u) ** (1.0 / a)"),
    "standard_cauchy": ({}, "numpy.tan(3.141592653589793 * (u - 0.5))"),
    "randint": ({"low": 0.0, "high": 0.0}, "numpy.floor(low + (high - low) * u)"),
}
_SAME = {
    "random_sample": "random",
    "rand": "random",
    "randn": "normal",
    "standard_normal": "normal",
    "standard_exponential": "exponential",
    "integers": "randint",
}
_BY_LENGTHS = {"rand", "randn"}
"""Functions whose arguments are the lengths of the result."""
FORMULAS = {name: parse(text, f"numpy.random.{name}") for name, (_, text) in _TEXTS.items()}


class Draw(Struct, frozen=True):
    """A draw with its arguments: the formula, the parameters, and the shape where the call says it."""

    formula: Expression
    parameters: dict[str, Datum]
    size: tuple[int, ...] | None


def draw_of(name: str, arguments: Sequence[Datum], keywords: Mapping[str, Datum]) -> Draw:
    """Errors: UnsupportedError for other distributions, RunError for arguments that do not fit."""
    known = _SAME.get(name, name)
    if known not in _TEXTS:
        raise UnsupportedError(f"numpy.random.{name} is not drawn", fix=f"one of {', '.join(sorted(_TEXTS))}")
    defaults = _TEXTS[known][0]
    if name in _BY_LENGTHS:
        return Draw(FORMULAS[known], dict(defaults), tuple(map(_length, arguments)) or None)
    parameters, left = dict(defaults), dict(keywords)
    is_free = name in ("standard_normal", "standard_exponential")
    positional = [*([] if is_free else defaults), "size"]
    if len(arguments) > len(positional):
        raise RunError(f"numpy.random.{name} has {len(arguments)} arguments, at most {len(positional)} are known")
    left |= zip(positional, arguments, strict=False)
    size = left.pop("size", None)
    unknown = left.keys() - defaults.keys()
    if unknown:
        raise RunError(f"numpy.random.{name} has no argument {', '.join(sorted(unknown))}")
    parameters |= left
    if known == "randint" and "high" not in left:
        parameters |= {"low": 0.0, "high": left.get("low", 0.0)}
    return Draw(FORMULAS[known], parameters, _size(size))


def _size(size: Datum) -> tuple[int, ...] | None:
    if size is None:
        return None
    return tuple(map(_length, size)) if isinstance(size, list | tuple) else (_length(size),)


def _length(value: Datum) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UnsupportedError(f"the size of a draw is {value!r}, expected whole numbers")
    return value
