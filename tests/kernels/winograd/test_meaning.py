"""What the kernels of Winograd's convolutions mean is a convolution."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.winograd.cases import Case
from whorl.ir.dtypes import FLOAT64


@pytest.mark.parametrize("image", [(1, 1), (2, 5), (14, 14), (9, 40)])
@pytest.mark.parametrize("features", [4, 5, 6, 7])
def test_meaning_is_the_convolution(image: tuple[int, int], features: int) -> None:
    case = Case(image, features, 3, FLOAT64)
    np.testing.assert_allclose(case.meant(), case.expected(), rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("huge", [np.inf, -np.inf, np.nan])
def test_infinite_elements_reach_what_reads_them(huge: float) -> None:
    case = Case((9, 6), 6, 3, FLOAT64)
    case.x[[0, 40, 41, 100]] = huge, -huge, huge, huge
    np.testing.assert_allclose(case.meant(), case.expected(), rtol=1e-12, atol=1e-12)
