"""Patches of images, transformed: the same bits as differences of a padded image's elements."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.runs import draw, machine, run_kernel
from whorl.ir.dtypes import FLOAT32, FLOAT64
from whorl.kernels.table import KERNELS
from whorl.kernels.winograd.meaning import patches_of

KERNEL = "winograd_transform"


def test_points_of_a_patch_are_differences_of_its_elements() -> None:
    """The image is a patch of 2 x 2, around which all is zero: with [1 2; 3 4] in the middle of d, B' d B by hand."""
    t, planes, _ = (np.zeros(n, np.float32) for n in KERNELS[KERNEL].meaning.extents([1, 2, 2], FLOAT32))
    run_kernel(KERNEL, [t, planes, np.array([1, 2, 3, 4], np.float32)], [1, 2, 2])
    points = patches_of(t, 1)[0, :, 0, 0].reshape(4, 4)
    np.testing.assert_array_equal(points, [[4, -7, -1, -3], [-6, 10, 2, 4], [-2, 4, 0, 2], [-2, 3, 1, 1]])


@pytest.mark.parametrize("image", [(1, 1), (2, 2), (7, 5), (14, 14), (9, 13), (3, 70), (41, 28)])
@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("parts", [(), ((9, 15), (15, 16), (0, 1), (1, 8), (8, 9))], ids=["whole", "parts"])
def test_transform(image: tuple[int, int], width: int, parts: tuple[tuple[int, int], ...]) -> None:
    for channels, dtype in ((17, FLOAT32), (3, FLOAT64)):
        numbers, count = [channels, *image], (image[0] + 1) // 2 * ((image[1] + 1) // 2)
        sizes = KERNELS[KERNEL].meaning.extents(numbers, dtype)
        made, expected = (
            [np.full(sizes[0], np.nan, dtype), np.full(sizes[1], np.nan, dtype), draw(dtype, sizes[2])]
            for _ in range(2)
        )
        run_kernel(KERNEL, made, numbers, machine(width), parts)
        KERNELS[KERNEL].meaning.run(expected, numbers)
        lanes = [patches_of(arrays[0], channels).transpose(0, 3, 1, 2) for arrays in (made, expected)]
        first, second = (each.reshape(-1, 16, channels)[:count] for each in lanes)
        np.testing.assert_array_equal(first, second)
