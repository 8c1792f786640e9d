"""Where elements of a resized axis come from, and their weights."""

import numpy as np
import pytest

from whorl.ops.image.resampling import AxisResize, Filter


@pytest.mark.parametrize("cubic", [False, True])
@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("count", [1, 3, 7, 20])
def test_weights_of_every_element_sum_to_one(cubic, antialias, count):
    _, weights = Filter(cubic, antialias=antialias).taps(AxisResize(7, count), "half_pixel")
    np.testing.assert_allclose(weights.sum(axis=0), 1)


def test_antialias_widens_the_filter_of_axes_that_shrink_only():
    plain, wide = (Filter(False, antialias=flag).taps(AxisResize(8, 2), "half_pixel")[1] for flag in (False, True))
    assert len(plain) == 2 and len(wide) == 8
    np.testing.assert_array_equal(
        *(Filter(False, antialias=flag).taps(AxisResize(2, 8), "half_pixel")[1] for flag in (False, True))
    )
