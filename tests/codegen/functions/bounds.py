"""Errors of functions of generated code in units in the last place, and values that must be exact."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy.special

from codegen.maps import WITHOUT_FMA, mapped

Wide = Callable[[np.ndarray], np.ndarray]
NAN, INF = math.nan, math.inf


def sigmoid(x: np.ndarray) -> np.ndarray:
    """0 where e^-x overflows in the type that is computed in."""
    limit = math.log(np.finfo(np.float32).max) if np.abs(x[np.isfinite(x)]).max() < 1e39 else 709.78
    return np.where(x < -limit, 0, 1 / (1 + np.exp(-x)))


REFERENCES: dict[str, Wide] = {
    **{name: getattr(np, name) for name in ("exp", "expm1", "log", "log1p", "tanh", "sin", "cos", "tan")},
    "sigmoid": sigmoid,
    "erf": scipy.special.erf,
    "erfc": scipy.special.erfc,
}


def call(name: str) -> Callable:
    return lambda k, *x: k.apply(name, *x)


def every_float32(step: int) -> np.ndarray:
    return np.arange(0, 1 << 32, step, dtype=np.uint64).astype(np.uint32).view(np.float32)


def many_float64(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    anywhere = rng.integers(0, 1 << 64, 100_000, np.uint64).view(np.float64)
    near = [rng.uniform(-a, a, 50_000) for a in (750, 40, 2, 1e-3)]
    return np.concatenate([anywhere, *near, 1 + rng.uniform(-0.3, 0.3, 50_000)])


def error(actual: np.ndarray, expected: np.ndarray) -> float:
    """The largest error in units of the last place; infinite where NaN or infinity is missing or wrong."""
    limits = np.finfo(actual.dtype)
    with np.errstate(all="ignore"):
        rounded = expected.astype(actual.dtype)
    if not np.array_equal(np.isnan(actual), np.isnan(rounded)):
        return INF
    usual = np.isfinite(actual) & np.isfinite(rounded)
    if not np.array_equal(actual[~usual], rounded[~usual], equal_nan=True):
        return INF
    exponent = np.maximum(np.frexp(expected[usual])[1] - 1, limits.minexp)
    unit = np.ldexp(np.ones_like(expected[usual]), exponent - limits.nmant)
    return float(np.max(np.abs(actual[usual] - expected[usual]) / unit))


def wide(name: str, x: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return REFERENCES[name](x.astype(np.float64))


def check_bound(name: str, bound: float, step: int, features: str = "") -> None:
    """A function of float32 is right to so many units, on a sweep of all numbers by steps."""
    x = every_float32(step)
    assert error(mapped(call(name), [x], "float32", features), wide(name, x)) <= bound


def check_bound_without_fma(name: str, bound: float) -> None:
    check_bound(name, bound + 1.0, 10007, WITHOUT_FMA)


def check_special(name: str, pairs: Sequence[tuple[float, float]], kind: str) -> None:
    """Results that are exact, the signs of zeros among them; NaN gives NaN."""
    with np.errstate(all="ignore"):
        x = np.array([*(x for x, _ in pairs), NAN] * 5).astype(kind)
        expected = np.array([*(y for _, y in pairs), NAN] * 5).astype(kind)
    actual = mapped(call(name), [x], kind)
    np.testing.assert_array_equal(actual, expected)
    np.testing.assert_array_equal(np.signbit(actual[~np.isnan(actual)]), np.signbit(expected[~np.isnan(expected)]))
