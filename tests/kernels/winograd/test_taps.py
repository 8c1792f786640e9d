"""Results that are not finite: infinite elements have no effect that they do not have in a sum of products."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.runs import machine
from kernels.winograd.cases import Case
from whorl.ir.dtypes import FLOAT32


@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("huge", [np.inf, -np.inf, np.nan, 3e38], ids=["inf", "-inf", "nan", "large"])
def test_elements_that_are_not_finite_reach_the_results_that_read_them(huge: float, width: int) -> None:
    case = Case((14, 14), 26, 5, FLOAT32)
    case.x[[17, 400, 401, 979]] = huge, -huge, huge, huge
    case.filters[3, :, 0] = 0
    with np.errstate(invalid="ignore"):
        expected = case.expected().astype(np.float32)
    result = case.run(machine(width))
    large = np.abs(expected) > 1e37
    np.testing.assert_array_equal(np.isnan(result), np.isnan(expected))
    np.testing.assert_allclose(result[large], expected[large], rtol=1e-4)
    others = ~(large | np.isnan(expected))
    assert np.isfinite(result[others]).all()
    if not np.isfinite(huge):
        np.testing.assert_allclose(result[others], expected[others], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("huge", [np.inf, -np.inf, np.nan, 3e38], ids=["inf", "-inf", "nan", "large"])
def test_taps_that_are_not_finite_reach_what_they_take(huge: float, width: int) -> None:
    """Sums of taps of 3e38 are infinite, sums of their products with elements below 0.1 are not."""
    case = Case((13, 14), 26, 5, FLOAT32)
    case.x *= 0.1 / np.abs(case.x).max()
    case.filters[3, 4] = case.filters[24, 0, 1:] = huge
    case.filters[7, 2, ::2, 2] = huge
    with np.errstate(invalid="ignore"):
        expected = case.expected().astype(np.float32)
    np.testing.assert_allclose(case.run(machine(width)), expected, rtol=1e-4, atol=1e-4)
