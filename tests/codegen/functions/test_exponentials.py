"""Exponentials and logarithms: bounds, and values that must be exact."""

from __future__ import annotations

import platform

import numpy as np
import pytest

from codegen.functions.bounds import (
    INF,
    NAN,
    REFERENCES,
    call,
    check_bound,
    check_bound_without_fma,
    check_special,
    error,
    many_float64,
)
from codegen.maps import mapped

SINGLE = {"exp": 1.0, "expm1": 1.5, "log": 1.0, "log1p": 1.5, "tanh": 2.5, "sigmoid": 2.5}
DOUBLE = {"exp": 1.0, "expm1": 1.8, "log": 1.0, "log1p": 1.5, "tanh": 2.5, "sigmoid": 2.5}
SPECIAL: dict[str, list[tuple[float, float]]] = {
    "exp": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, 0), (1e4, INF), (-1e4, 0)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1), (1e4, INF), (-1e4, -1), (1e-40, 1e-40)],
    "log": [(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-1.0, NAN), (-INF, NAN)],
    "log1p": [(0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (INF, INF), (-1.5, NAN), (-INF, NAN), (1e-40, 1e-40)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1), (40.0, 1), (-1e30, -1), (1e-40, 1e-40)],
    "sigmoid": [(0.0, 0.5), (INF, 1), (-INF, 0), (1e4, 1), (-1e4, 0)],
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


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="long double is no wider than double here")
@pytest.mark.parametrize("name", DOUBLE)
def test_function_of_float64_keeps_its_bound(name: str) -> None:
    x = many_float64()
    with np.errstate(all="ignore"):
        expected = REFERENCES[name](x.astype(np.longdouble))
    assert error(mapped(call(name), [x], "float64"), expected) <= DOUBLE[name]
