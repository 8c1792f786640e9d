"""Machine code of kernels over planes, for vectors of every width, against their meaning."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kernels.layouts import CHANNELS, LAYOUTS
from kernels.runs import check_kernel, draw, machine, run_kernel
from whorl.ir.dtypes import FLOAT32, INT32
from whorl.kernels.plane.layout import split_phases
from whorl.kernels.table import KERNELS
from whorl.kernels.windows import WindowAxis


@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("fill", [0, 1])
def test_images_are_split_by_phases(width: int, name: str, fill: int) -> None:
    layout = split_phases(LAYOUTS[name], 4, may_be_direct=False)
    numbers = (fill, CHANNELS, *layout.split_numbers)
    split_size, size = KERNELS["split_phases"].meaning.extents(numbers, FLOAT32)
    split = np.full(split_size, 7, np.float32)
    check_kernel("split_phases", [split, draw(FLOAT32, size)], numbers, machine(width))


DENSE = {
    "rows shorter than a vector": [WindowAxis(9, 3, 1, 1, 1, 9), WindowAxis(3, 3, 1, 1, 1, 3)],
    "rows of 7": [WindowAxis(7, 3, 1, 1, 1, 7), WindowAxis(7, 3, 1, 1, 1, 7)],
    "rows of a vector": [WindowAxis(5, 3, 1, 1, 1, 5), WindowAxis(8, 3, 1, 1, 1, 8)],
    "rows of 14, far taps": [WindowAxis(14, 5, 1, 2, 4, 14), WindowAxis(14, 5, 1, 2, 4, 14)],
    "fewer rows above than below": [WindowAxis(40, 4, 1, 1, 1, 40), WindowAxis(21, 4, 1, 1, 2, 21)],
    "rows without padding above": [WindowAxis(11, 3, 1, 1, 0, 9), WindowAxis(30, 3, 1, 1, 1, 30)],
    "slices beside the image": [
        WindowAxis(1, 3, 1, 1, 1, 1),
        WindowAxis(6, 3, 1, 1, 1, 6),
        WindowAxis(7, 3, 1, 1, 1, 7),
    ],
    "every second window": [WindowAxis(9, 3, 2, 1, 1, 5), WindowAxis(14, 3, 2, 1, 1, 7)],
    "every second window, far taps": [WindowAxis(9, 2, 1, 1, 0, 8), WindowAxis(30, 4, 2, 3, 2, 13)],
    "every third window": [WindowAxis(9, 2, 3, 1, 0, 3), WindowAxis(40, 5, 3, 1, 2, 13)],
    "a plane smaller than a vector": [WindowAxis(2, 3, 1, 1, 1, 2), WindowAxis(2, 3, 1, 1, 1, 2)],
}


@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("name", DENSE)
@pytest.mark.parametrize("fill", [0, 1])
@pytest.mark.parametrize("parts", [[], [(9, 16), (0, 1), (1, 8), (8, 9)]])
def test_images_are_split_so_that_rows_follow_without_a_gap(
    width: int, name: str, fill: int, parts: list[tuple[int, int]]
) -> None:
    layout = split_phases(DENSE[name], 4, may_be_direct=False, features=1 << 20)
    assert layout.is_dense
    numbers = (fill, CHANNELS, *layout.split_numbers)
    split_size, size = KERNELS["split_phases"].meaning.extents(numbers, FLOAT32)
    split, expected = (np.full(split_size, n, np.float32) for n in (7, 8))
    image = draw(FLOAT32, size)
    KERNELS["split_phases"].meaning.run([expected, image], numbers)
    run_kernel("split_phases", [split, image], numbers, machine(width), parts)
    np.testing.assert_array_equal(split, expected)


@pytest.mark.parametrize("rows", [9, 40])
@pytest.mark.parametrize("stride", [1, 2])
def test_parts_of_split_images_are_the_whole(rows: int, stride: int) -> None:
    axes = [WindowAxis(rows, 3, stride, 1, 1, rows // stride), WindowAxis(21, 3, stride, 1, 1, 21 // stride)]
    numbers = (0, 20, *split_phases(axes, 4, may_be_direct=False).split_numbers)
    split_size, size = KERNELS["split_phases"].meaning.extents(numbers, FLOAT32)
    whole, divided = (np.full(split_size, n, np.float32) for n in (7, 8))
    run_kernel("split_phases", [whole, draw(FLOAT32, size)], numbers)
    run_kernel("split_phases", [divided, draw(FLOAT32, size)], numbers, parts=[(9, 16), (0, 1), (1, 8), (8, 9)])
    np.testing.assert_array_equal(divided, whole)


@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("name", LAYOUTS)
def test_sums_and_maxima_of_planes_equal_their_meaning(width: int, name: str) -> None:
    layout = split_phases(LAYOUTS[name], 4, may_be_direct=False)
    size, offsets = math.prod(layout.counts), layout.offsets(1).astype(INT32)
    numbers = (layout.taps, 1, layout.reach(1), *layout.grid)
    image = draw(FLOAT32, KERNELS["plane_sums"].meaning.extents(numbers, FLOAT32)[1])
    more = [draw(FLOAT32, layout.taps), draw(FLOAT32, 1), np.array([-1, 2], np.float32)]
    check_kernel("plane_sums", [np.zeros(size, np.float32), image, offsets, *more], numbers, machine(width), 1e-5)
    image[:: max(2, image.size // 5)] = np.nan
    check_kernel(
        "plane_maxima", [np.zeros(size, np.float32), image, offsets], (layout.taps, *numbers[2:]), machine(width)
    )
