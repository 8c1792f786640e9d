"""What pools mean."""

import numpy as np

from whorl.ir.dtypes import FLOAT32
from whorl.kernels.depthwise.meaning import TAP_STEPS
from whorl.kernels.pooling.meaning import NUMBERS, WINDOW_MAXIMA, WINDOW_SUMS

KNOWN = {"channels": 2, "rows": 2, "columns": 3, "kernel_rows": 2, "kernel_columns": 2, "row_begin": 1}
NUMBERS_OF_IT = [{"row_count": 2, "column_count": 2, "column_begin": 0, **KNOWN}.get(name, 1) for name in NUMBERS]
"""Two channels of 2 x 3 elements by windows of 2 x 2, with a row of padding before."""
X = np.array([[[3, -1, 4], [1, 5, -9]], [[-2, -6, -5], [-3, np.nan, -8]]], np.float32)


def test_maxima_pass_padding_and_stop_at_what_is_no_number() -> None:
    y = np.zeros(8, np.float32)
    assert WINDOW_MAXIMA.extents(NUMBERS_OF_IT, FLOAT32) == (8, 12)
    WINDOW_MAXIMA.run([y, X.reshape(-1)], NUMBERS_OF_IT)
    np.testing.assert_array_equal(y.reshape(2, 2, 2), [[[3, 4], [5, 5]], [[-2, -5], [np.nan, np.nan]]])


def test_sums_count_padding_as_zero() -> None:
    y = np.ones(8, np.float32)
    WINDOW_SUMS.run([y, X.reshape(-1)], NUMBERS_OF_IT)
    np.testing.assert_array_equal(y.reshape(2, 2, 2), [[[2, 3], [8, -1]], [[-8, -11], [np.nan, np.nan]]])


def test_all_taps_of_all_windows_are_steps() -> None:
    assert WINDOW_SUMS.steps(NUMBERS_OF_IT) == TAP_STEPS * 8 * 4
