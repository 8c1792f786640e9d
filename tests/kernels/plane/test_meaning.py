"""What kernels over planes mean."""

import numpy as np

from whorl.ir.dtypes import FLOAT32
from whorl.kernels.plane.layout import split_phases
from whorl.kernels.plane.meaning import PLANE_MAXIMA, PLANE_SUMS, SPLIT_PHASES, WINDOW_STEPS
from whorl.kernels.windows import WindowAxis

LAYOUT = split_phases([WindowAxis(5, 2, 2, 1, 1, 3)], 4, may_be_direct=False)
OFFSETS = LAYOUT.offsets(1)


def split(image: np.ndarray, fill: int) -> np.ndarray:
    numbers = (fill, 1, *LAYOUT.split_numbers)
    target = np.full(SPLIT_PHASES.extents(numbers, FLOAT32)[0], 7, np.float32)
    SPLIT_PHASES.run([target, image], numbers)
    return target


def test_sum_of_windows_counts_padding_as_zero():
    y = np.zeros(3, np.float32)
    x = split(np.arange(1, 6, dtype=np.float32), 0)
    numbers = (2, 0, LAYOUT.reach(1), *LAYOUT.grid)
    assert PLANE_SUMS.extents(numbers, FLOAT32)[0] == 3
    PLANE_SUMS.run([y, x, OFFSETS, np.array([1, 10], np.float32), np.ones(1, np.float32), np.zeros(0)], numbers)
    assert y.tolist() == [11, 33, 55]


def test_sum_of_windows_is_clamped_if_bounded():
    y = np.zeros(3, np.float32)
    x = split(np.arange(1, 6, dtype=np.float32), 0)
    limits = np.array([12, 40], np.float32)
    operands = [y, x, OFFSETS, np.array([1, 10], np.float32), np.ones(1, np.float32), limits]
    PLANE_SUMS.run(operands, (2, 1, LAYOUT.reach(1), *LAYOUT.grid))
    assert y.tolist() == [12, 33, 40]


def test_split_image_is_filled_wherever_no_window_reads():
    assert np.count_nonzero(split(np.ones(5, np.float32), 0)) == 5
    assert np.count_nonzero(np.isfinite(split(np.ones(5, np.float32), 1))) == 5


def test_maximum_ignores_padding_and_is_nan_where_one_is():
    y = np.zeros(3, np.float32)
    numbers = (2, LAYOUT.reach(1), *LAYOUT.grid)
    PLANE_MAXIMA.run([y, split(np.array([-1, -5, -3, np.nan, -2], np.float32), 1), OFFSETS], numbers)
    np.testing.assert_array_equal(y, [-1, -3, np.nan])
    assert PLANE_MAXIMA.steps(numbers) == WINDOW_STEPS * 2 * 3
