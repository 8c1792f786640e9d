"""Sine, cosine and tangent: bounds for angles of any size, and values that must be exact."""

from __future__ import annotations

import platform

import pytest

from codegen.functions.bounds import INF, NAN, check_bound, check_bound_without_fma, check_special

SINGLE = {"sin": 1.6, "cos": 1.6, "tan": 3.2}
SPECIAL: dict[str, list[tuple[float, float]]] = {
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (1e-40, 1e-40)],
    "cos": [(0.0, 1), (-0.0, 1), (INF, NAN), (-INF, NAN), (1e-40, 1)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (1e-40, 1e-40)],
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
