"""Transformed filters, and where they are for."""

from __future__ import annotations

import numpy as np
import pytest

from whorl.kernels.plane.layout import around_elements
from whorl.kernels.windows import WindowAxis
from whorl.kernels.winograd.layout import pays, points_of, transform_filters, untransform_filters


def test_points_of_a_filter_are_sums_of_its_taps() -> None:
    """G g G' by hand."""
    filters = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], np.float32)
    points = points_of(transform_filters(filters.reshape(1, 1, 9))[0], 1)[0, :, :, 0]
    np.testing.assert_array_equal(points, [[1, 3, 1, 3], [6, 11.25, 3.75, 9], [2, 3.75, 1.25, 3], [7, 12, 4, 9]])


@pytest.mark.parametrize("features", [1, 12, 25, 50])
def test_taps_come_back(features: int) -> None:
    filters = np.random.default_rng(0).standard_normal((2, features, 45))
    packed = transform_filters(filters)
    assert packed.shape == (2, features * 5 * 16) and packed.dtype == filters.dtype
    for own, rows in zip(filters, packed, strict=True):
        np.testing.assert_allclose(untransform_filters(rows, features), own, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("taps", [[0, 6], [1, 7], [8, 2], [6, 7, 8], [4, 6, 8]])
@pytest.mark.parametrize("huge", [np.inf, -np.inf, np.nan, 3e38])
def test_taps_whose_sums_are_not_finite_come_back_exactly(huge: float, taps: list[int]) -> None:
    filters = np.ones((1, 5, 4 * 9), np.float32)
    filters[0, 3, 9:18] = [huge if n in taps else n / 8 for n in range(9)]
    packed = transform_filters(filters)[0]
    np.testing.assert_array_equal(untransform_filters(packed, 5), filters[0])
    is_finite = np.isfinite(points_of(packed, 5)).all(axis=(1, 2))
    assert np.argwhere(~is_finite).tolist() == [[3, 1]]


@pytest.mark.parametrize(
    ("image", "channels", "features", "expected"),
    [((14, 14), 256, 256, True), ((56, 56), 128, 32, True), ((7, 7), 512, 512, False), ((56, 56), 8, 64, False)],
)
def test_it_pays_where_products_are_spared(
    image: tuple[int, int], channels: int, features: int, expected: bool
) -> None:
    axes = [WindowAxis(n, 3, 1, 1, 1, n) for n in image]
    assert pays(around_elements(axes, features, 4), channels, features) is expected
