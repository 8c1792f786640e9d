"""The error function and powers: bounds, and values that must be exact."""

from __future__ import annotations

import math
import platform

import numpy as np
import pytest

from codegen.functions.bounds import INF, NAN, call, check_bound, check_bound_without_fma, check_special, error
from codegen.maps import mapped

SINGLE = {"erf": 1.6, "erfc": 4.6}
SPECIAL: dict[str, list[tuple[float, float]]] = {
    "erf": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1), (9.0, 1)],
    "erfc": [(0.0, 1), (INF, 0), (-INF, 2), (40.0, 0), (-9.0, 2)],
}
can_leave_out_fma = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="other processors cannot leave out the fma"
)


@pytest.mark.parametrize("name", SINGLE)
def test_function_of_float32_keeps_its_bound(name: str) -> None:
    check_bound(name, SINGLE[name], 4099)


@pytest.mark.slow
@pytest.mark.parametrize("name", SINGLE)
def test_function_of_float32_keeps_its_bound_on_a_finer_sweep(name: str) -> None:
    check_bound(name, SINGLE[name], 307)


@can_leave_out_fma
@pytest.mark.parametrize("name", SINGLE)
def test_function_without_fused_operations_keeps_nearly_its_bound(name: str) -> None:
    check_bound_without_fma(name, SINGLE[name])


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("name", SPECIAL)
def test_function_of_special_value_is_exact(name: str, kind: str) -> None:
    check_special(name, SPECIAL[name], kind)


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
    actual = mapped(call("pow"), [x, y], "float32")
    np.testing.assert_array_max_ulp(actual[~np.isnan(expected)], expected[~np.isnan(expected)], 1)
    np.testing.assert_array_equal(np.isnan(actual), np.isnan(expected))
    np.testing.assert_array_equal(np.signbit(actual[~np.isnan(actual)]), np.signbit(expected[~np.isnan(expected)]))


def math_power(x: float, y: float) -> float:
    """The power of C, which Python refuses to give where it is a pole, undefined or too large."""
    try:
        return math.pow(x, y)
    except ValueError:
        odd = y == math.floor(y) and math.fmod(y, 2) != 0
        return math.copysign(INF, x) if x == 0 and odd else INF if x == 0 else NAN
    except OverflowError:
        return -INF if x < 0 and math.fmod(y, 2) != 0 else INF
