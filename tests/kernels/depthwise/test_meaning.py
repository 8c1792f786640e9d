"""What depthwise convolutions mean."""

import numpy as np

from whorl.ir.dtypes import FLOAT32
from whorl.kernels.depthwise.meaning import DEPTHWISE_CONVOLUTION, DEPTHWISE_CONVOLUTION_SUM, NUMBERS, TAP_STEPS

AXIS = {"kernel_rows": 2, "row_begin": 1, "kernel_columns": 2, "column_begin": 0}


def numbers(bounded: int = 0) -> list[int]:
    """Two channels of 2 x 3 elements by windows of 2 x 2, with a row of padding before."""
    known = {"channels": 2, "bounded": bounded, "rows": 2, "columns": 3, "row_count": 2, "column_count": 2, **AXIS}
    return [known.get(name, 1) for name in NUMBERS]


X = np.arange(12, dtype=np.float32)
FILTERS = np.array([1, 10, 100, 1000, 1, 0, 0, 0], np.float32)
BIAS = np.array([0, 0.5], np.float32)
SUMS = [[[0 * 100 + 1 * 1000, 1 * 100 + 2 * 1000], [4310, 5421]], [[0.5, 0.5], [6.5, 7.5]]]


def test_each_channel_has_a_filter_and_padding_is_zero() -> None:
    y = np.zeros(8, np.float32)
    assert DEPTHWISE_CONVOLUTION.extents(numbers(), FLOAT32) == (8, 12, 8, 2, 0)
    DEPTHWISE_CONVOLUTION.run([y, X, FILTERS, BIAS, BIAS[:0]], numbers())
    np.testing.assert_array_equal(y.reshape(2, 2, 2), SUMS)


def test_what_is_added_comes_before_the_limits() -> None:
    y, limits = np.zeros(8, np.float32), np.array([2, 4000], np.float32)
    assert DEPTHWISE_CONVOLUTION_SUM.extents(numbers(1), FLOAT32) == (8, 12, 8, 2, 2, 8)
    DEPTHWISE_CONVOLUTION_SUM.run([y, X, FILTERS, BIAS, limits, np.ones(8, np.float32)], numbers(1))
    np.testing.assert_array_equal(y.reshape(2, 2, 2), np.clip(np.array(SUMS) + 1, 2, 4000))


def test_infinite_weights_meet_the_zeros_outside() -> None:
    y, filters = np.zeros(8, np.float32), FILTERS.copy()
    filters[4] = np.inf
    with np.errstate(invalid="ignore"):
        DEPTHWISE_CONVOLUTION.run([y, X, filters, BIAS, BIAS[:0]], numbers())
    assert np.isnan(y.reshape(2, 2, 2)[1, 0]).all() and np.isinf(y.reshape(2, 2, 2)[1, 1]).all()


def test_all_taps_of_all_windows_are_steps() -> None:
    assert DEPTHWISE_CONVOLUTION.steps(numbers()) == TAP_STEPS * 8 * 4
