"""Functions of generated code: errors in units in the last place, and values that must be exact."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable

import numpy as np
import pytest
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
SINGLE = {
    "exp": 1.0, "expm1": 1.5, "log": 1.0, "log1p": 1.5, "tanh": 2.5, "sigmoid": 2.5,
    "sin": 1.6, "cos": 1.6, "tan": 3.2, "erf": 1.6, "erfc": 4.6,
}  # fmt: skip
DOUBLE = {"exp": 1.0, "expm1": 1.8, "log": 1.0, "log1p": 1.5, "tanh": 2.5, "sigmoid": 2.5}
SPECIAL: dict[str, list[tuple[float, float]]] = {
    "exp": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, 0), (1e4, INF), (-1e4, 0)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1), (1e4, INF), (-1e4, -1), (1e-40, 1e-40)],
    "log": [(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-1.0, NAN), (-INF, NAN)],
    "log1p": [(0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (INF, INF), (-1.5, NAN), (-INF, NAN), (1e-40, 1e-40)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1), (40.0, 1), (-1e30, -1), (1e-40, 1e-40)],
    "sigmoid": [(0.0, 0.5), (INF, 1), (-INF, 0), (1e4, 1), (-1e4, 0)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (1e-40, 1e-40)],
    "cos": [(0.0, 1), (-0.0, 1), (INF, NAN), (-INF, NAN), (1e-40, 1)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (1e-40, 1e-40)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1), (9.0, 1)],
    "erfc": [(0.0, 1), (INF, 0), (-INF, 2), (40.0, 0), (-9.0, 2)],
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


def error(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest error in units of the last place; infinite where NaN or infinity is missing or wrong."""
    limits = np.finfo(found.dtype)
    with np.errstate(all="ignore"):
        rounded = expected.astype(found.dtype)
    if not np.array_equal(np.isnan(found), np.isnan(rounded)):
        return INF
    usual = np.isfinite(found) & np.isfinite(rounded)
    if not np.array_equal(found[~usual], rounded[~usual], equal_nan=True):
        return INF
    exponent = np.maximum(np.frexp(expected[usual])[1] - 1, limits.minexp)
    unit = np.ldexp(np.ones_like(expected[usual]), exponent - limits.nmant)
    return float(np.max(np.abs(found[usual] - expected[usual]) / unit))


def wide(name: str, x: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return REFERENCES[name](x.astype(np.float64))


@pytest.mark.parametrize("name", SINGLE)
def test_function_of_float32_keeps_its_bound(name: str) -> None:
    x = every_float32(4099)
    assert error(mapped(call(name), [x], "float32"), wide(name, x)) <= SINGLE[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", SINGLE)
def test_function_of_float32_keeps_its_bound_on_a_finer_sweep(name: str) -> None:
    x = every_float32(307)
    assert error(mapped(call(name), [x], "float32"), wide(name, x)) <= SINGLE[name]


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="other processors cannot leave out the fma")
@pytest.mark.parametrize("name", SINGLE)
def test_function_without_fused_operations_keeps_nearly_its_bound(name: str) -> None:
    x = every_float32(10007)
    assert error(mapped(call(name), [x], "float32", WITHOUT_FMA), wide(name, x)) <= SINGLE[name] + 1.0


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="long double is no wider than double here")
@pytest.mark.parametrize("name", DOUBLE)
def test_function_of_float64_keeps_its_bound(name: str) -> None:
    x = many_float64()
    with np.errstate(all="ignore"):
        expected = REFERENCES[name](x.astype(np.longdouble))
    assert error(mapped(call(name), [x], "float64"), expected) <= DOUBLE[name]


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("name", SPECIAL)
def test_function_of_special_value_is_exact(name: str, kind: str) -> None:
    with np.errstate(all="ignore"):
        x = np.array([*(x for x, _ in SPECIAL[name]), NAN] * 5).astype(kind)
        expected = np.array([*(y for _, y in SPECIAL[name]), NAN] * 5).astype(kind)
    found = mapped(call(name), [x], kind)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found[~np.isnan(found)]), np.signbit(expected[~np.isnan(expected)]))


def test_power_of_float32_keeps_its_bound() -> None:
    rng, count = np.random.default_rng(0), 200_000
    anything = [rng.integers(0, 1 << 32, count, np.uint64).astype(np.uint32).view(np.float32) for _ in range(2)]
    near_one = (1 + rng.uniform(-1e-3, 1e-3, count)).astype(np.float32)
    x = np.concatenate([anything[0], near_one, rng.integers(-20, 20, count).astype(np.float32)])
    exponents = [rng.uniform(-8e4, 8e4, count), rng.integers(-20, 20, count)]
    y = np.concatenate([anything[1], *(part.astype(np.float32) for part in exponents)])
    with np.errstate(all="ignore"):
        expected = np.power(x.astype(np.float64), y.astype(np.float64))
    assert error(mapped(call("pow"), [x, y], "float32"), expected) <= 0.6


def test_power_of_special_values_is_that_of_c() -> None:
    values = np.array([0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, INF, -INF, NAN, 1e-45, 2.0**24, 2.0**24 - 1, 1e38])
    x, y = (grid.reshape(-1).astype(np.float32) for grid in np.meshgrid(values, values))
    expected = np.array([math_power(float(a), float(b)) for a, b in zip(x, y, strict=True)])
    with np.errstate(all="ignore"):
        expected = expected.astype(np.float32)
    found = mapped(call("pow"), [x, y], "float32")
    np.testing.assert_array_max_ulp(found[~np.isnan(expected)], expected[~np.isnan(expected)], 1)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_array_equal(np.signbit(found[~np.isnan(found)]), np.signbit(expected[~np.isnan(expected)]))


def math_power(x: float, y: float) -> float:
    """The power of C, which Python refuses to give where it is a pole, undefined or too large."""
    try:
        return math.pow(x, y)
    except ValueError:
        odd = y == math.floor(y) and math.fmod(y, 2) != 0
        return math.copysign(INF, x) if x == 0 and odd else INF if x == 0 else NAN
    except OverflowError:
        return -INF if x < 0 and math.fmod(y, 2) != 0 else INF


def test_power_of_integers_wraps() -> None:
    x = np.array([3, -3, 7, 2, 0, 1, -1], np.int64)
    y = np.array([40, 41, 100, 64, 0, 1 << 40, (1 << 40) + 1], np.int64)
    np.testing.assert_array_equal(mapped(call("pow"), [x, y], "int64"), np.power(x, y))


@pytest.mark.parametrize("name", ["fmod", "atan2"])
def test_function_of_the_c_library_takes_two(name: str) -> None:
    x, y = np.array([5.5, -5.5, 1.0]), np.array([2.0, 2.0, -0.5])
    reference = {"fmod": np.fmod, "atan2": np.arctan2}[name]
    np.testing.assert_allclose(mapped(call(name), [x, y], "float64"), reference(x, y), rtol=1e-15)


def test_unknown_function_is_refused() -> None:
    with pytest.raises(TypeError, match="there is no function 'gamma'"):
        mapped(call("gamma"), [np.ones(3)], "float64")
