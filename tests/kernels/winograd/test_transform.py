"""Patches of images, transformed: the same bits as differences of a padded image's elements."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.runs import machine
from kernels.winograd.cases import Case
from whorl.ir.dtypes import FLOAT32, FLOAT64
from whorl.kernels.winograd.layout import GROUP, POINTS, group_count, point_stride
from whorl.kernels.winograd.meaning import transform


def made_by(case: Case, groups: int) -> np.ndarray:
    """The patches [group, point, channel, lane] that a whole run leaves in memory."""
    _, channels, *_ = case.numbers
    points = case.t[: groups * POINTS * point_stride(channels)].reshape(groups, POINTS, -1)
    return points[..., : channels * GROUP].reshape(groups, POINTS, channels, GROUP)


def test_points_of_a_patch_are_differences_of_its_elements() -> None:
    """The image is a patch of 2 x 2, around which all is zero: with [1 2; 3 4] in the middle of d, B' d B by hand."""
    case = Case((2, 2), 4, 1, FLOAT32)
    case.x[:] = 1, 2, 3, 4
    case.run()
    points = made_by(case, 1)[0, :, 0, 0].reshape(4, 4)
    np.testing.assert_array_equal(points, [[4, -7, -1, -3], [-6, 10, 2, 4], [-2, 4, 0, 2], [-2, 3, 1, 1]])


@pytest.mark.parametrize("image", [(1, 1), (2, 2), (7, 5), (14, 14), (9, 13), (3, 70), (41, 28)])
@pytest.mark.parametrize("width", [16, 32, 64])
def test_transform(image: tuple[int, int], width: int) -> None:
    for channels, dtype in ((13, FLOAT32), (3, FLOAT64)):
        case, groups = Case(image, 4, channels, dtype), group_count(*image)
        case.run(machine(width))
        count = (image[0] + 1) // 2 * ((image[1] + 1) // 2)
        made, expected = (
            patches.transpose(0, 3, 1, 2).reshape(-1, POINTS, channels)[:count]
            for patches in (made_by(case, groups), transform(case.x, *image))
        )
        np.testing.assert_array_equal(made, expected)
