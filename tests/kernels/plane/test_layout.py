"""Padded, phase-split inputs: each tap reads the element that its window has there."""

import numpy as np
import pytest

from whorl.ir.dtypes import FLOAT32
from whorl.kernels.machine import CHANNEL_STEP, MAX_ELEMENTS
from whorl.kernels.plane.layout import around_elements, is_addressable, pad_channel_stride, split_phases
from whorl.kernels.plane.meaning import SPLIT_PHASES
from whorl.kernels.windows import WindowAxis

CASES = [
    [WindowAxis(9, 3, 1, 1, 1, 9), WindowAxis(21, 3, 1, 1, 1, 21)],
    [WindowAxis(9, 3, 2, 1, 1, 5), WindowAxis(40, 2, 2, 1, 0, 20)],
    [WindowAxis(9, 2, 3, 2, 2, 4), WindowAxis(11, 3, 3, 3, 1, 2)],
    [WindowAxis(4, 2, 1, 1, 1, 5), WindowAxis(5, 3, 1, 1, 1, 5), WindowAxis(6, 2, 2, 1, 0, 3)],
]


@pytest.mark.parametrize("features", [0, 1 << 20])
@pytest.mark.parametrize("axes", CASES)
def test_tap_of_a_window_is_at_a_fixed_offset_from_its_address(axes, features):
    layout = split_phases(axes, 4, may_be_direct=False, features=features)
    assert not features or layout.counts[0] > 1 or layout.grid.span == layout.grid.windows
    numbers = (0, 2, *layout.split_numbers)
    split_size, size = SPLIT_PHASES.extents(numbers, FLOAT32)
    image = np.arange(1, size + 1, dtype=np.float32)
    split = np.zeros(split_size, np.float32)
    SPLIT_PHASES.run([split, image], numbers)
    columns = split[layout.offsets(2)[:, None] + layout.grid.addresses()].reshape(2, layout.taps, *layout.counts)
    shaped = image.reshape(2, *(axis.length for axis in layout.axes))
    for tap, index in enumerate(np.ndindex(*(axis.kernel for axis in layout.axes))):
        expected = np.zeros((2, *layout.counts), np.float32)
        pairs = [axis.tap(t) for axis, t in zip(layout.axes, index, strict=True)]
        expected[(slice(None), *(p[0] for p in pairs))] = shaped[(slice(None), *(p[1] for p in pairs))]
        np.testing.assert_array_equal(columns[:, tap], expected)


@pytest.mark.parametrize(("features", "side", "is_dense"), [(256, 14, True), (8, 14, False), (64, 56, False)])
def test_rows_without_gaps_are_for_many_features_of_short_rows(features, side, is_dense):
    layout = split_phases([WindowAxis(side, 3, 1, 1, 1, side)] * 2, 4, features=features)
    assert layout.is_dense == is_dense and (layout.grid.span == layout.grid.windows) == is_dense


SIDE = WindowAxis(14, 3, 1, 1, 1, 14)


@pytest.mark.parametrize(
    ("axes", "features", "numbers"),
    [
        ([SIDE, WindowAxis(20, 5, 1, 2, 4, 20)], 24, (14, 20, 3, 5, 1, 2, 1, 4)),
        ([SIDE], 24, (1, 14, 1, 3, 1, 1, 0, 1)),
        ([SIDE, SIDE], 23, None),
        ([SIDE, WindowAxis(14, 3, 1, 1, 0, 12)], 24, None),
        ([SIDE, WindowAxis(14, 3, 2, 1, 1, 7)], 24, None),
        ([WindowAxis(14, 1, 1, 1, 0, 14)] * 2, 24, None),
        ([WindowAxis(7, 1, 1, 1, 0, 7)] * 2, 24, (7, 7, 1, 1, 1, 1, 0, 0)),
        ([WindowAxis(5, 1, 1, 1, 0, 5)] * 2, 24, None),
        ([WindowAxis(14, 5, 1, 1, 2, 14)] * 2, 24, None),
        ([SIDE, SIDE, SIDE], 24, None),
    ],
    ids=[
        "image",
        "row",
        "few features",
        "fewer windows",
        "a stride",
        "1 x 1",
        "of a small image",
        "of few windows",
        "many taps",
        "three axes",
    ],
)
def test_windows_around_every_element_are_read_from_the_image_itself(axes, features, numbers):
    layout = around_elements(axes, features, 4)
    assert (layout and layout.numbers) == numbers


def test_image_of_1_by_1_filters_is_read_where_it_lies():
    layout = split_phases([WindowAxis(20, 1, 1, 1, 0, 20), WindowAxis(30, 1, 1, 1, 0, 30)], 4)
    assert layout.direct and layout.lengths == (1, 1, 600) and layout.channel_stride == 600


def test_small_image_is_copied_since_tiles_read_beyond_it():
    assert not split_phases([WindowAxis(3, 1, 1, 1, 0, 3)], 4).direct


@pytest.mark.parametrize("size", [0, 1, 16, 17, 32, 1000])
def test_channel_stride_is_an_odd_multiple_that_has_the_channel(size):
    stride = pad_channel_stride(size)
    assert size <= stride and stride % (2 * CHANNEL_STEP) == CHANNEL_STEP


def test_window_over_more_than_int32_counts_is_not_addressable():
    assert is_addressable([WindowAxis(9, 3, 1, 1, 1, 9)])
    assert not is_addressable([WindowAxis(MAX_ELEMENTS, 1, 1, 1, 0, MAX_ELEMENTS)])
