"""Filters in blocks of features."""

import numpy as np
import pytest

from whorl.kernels.convolution.layout import filter_blocks, pack_filters, unpack_filters
from whorl.kernels.machine import FILTER_BLOCK


@pytest.mark.parametrize("features", [*range(1, 40), 96, 97])
def test_blocks_cover_all_features_once_in_almost_equal_heights(features):
    first = 0
    heights = []
    for height, start, count in filter_blocks(features):
        assert start == first and height <= FILTER_BLOCK
        heights.append(height)
        first += height * count
    assert first == features and max(heights) - min(heights) <= 1


def test_no_features_have_no_blocks():
    assert filter_blocks(0) == []


@pytest.mark.parametrize("features", [1, 5, 12, 13, 25])
def test_packed_filters_unpack_to_themselves(features):
    filters = np.arange(2 * features * 3, dtype=np.float32).reshape(2, features, 3)
    packed = pack_filters(filters)
    assert packed.shape == (2, features * 3)
    for group in range(2):
        np.testing.assert_array_equal(unpack_filters(packed[group], features), filters[group])
