"""Winograd's convolutions: machine code gives what the kernels mean, and that is a convolution."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.runs import machine
from kernels.winograd.cases import Case
from whorl.ir.dtypes import FLOAT32, FLOAT64
from whorl.kernels.winograd.llvm import tiles_of

IMAGES = {
    "one element": (1, 1),
    "a patch": (2, 2),
    "rows and columns of an odd number": (7, 5),
    "one group and a single patch": (14, 14),
    "rows shorter than a vector": (9, 13),
    "rows longer than a group": (3, 70),
    "several groups": (20, 28),
    "four patches behind the groups": (8, 17),
}


@pytest.mark.parametrize("image", IMAGES.values(), ids=IMAGES)
@pytest.mark.parametrize("width", [16, 32, 64])
def test_result_is_the_convolution(image: tuple[int, int], width: int) -> None:
    for features, channels, dtype in ((13, 3, FLOAT32), (26, 5, FLOAT32), (9, 2, FLOAT64)):
        case = Case(image, features, channels, dtype)
        tolerance = 1e-4 if dtype == FLOAT32 else 1e-12
        np.testing.assert_allclose(case.run(machine(width)), case.expected(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("image", [(1, 1), (7, 5), (14, 14), (40, 30)])
def test_machine_code_gives_what_the_kernels_mean(image: tuple[int, int]) -> None:
    case = Case(image, 27, 4, FLOAT32)
    np.testing.assert_allclose(case.run(), case.meant(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("image", [(14, 14), (30, 50), (66, 62)])
@pytest.mark.parametrize("features", [24, 49])
def test_parts_are_the_whole(image: tuple[int, int], features: int) -> None:
    case = Case(image, features, 17, FLOAT32)
    parts = (9, 15), (15, 16), (0, 1), (1, 8), (8, 9)
    np.testing.assert_array_equal(case.run(None, parts), case.run())


@pytest.mark.parametrize(
    ("patches", "lanes", "expected"),
    [
        (32, 16, [(0, 2, 0)]),
        (17, 16, [(0, 1, 0), (16, 1, 1)]),
        (19, 16, [(0, 1, 0), (16, 1, 4)]),
        (21, 16, [(0, 2, 0)]),
        (4, 16, [(0, 1, 4)]),
        (32, 8, [(0, 2, 0), (16, 2, 0)]),
        (9, 8, [(0, 1, 0), (8, 1, 1)]),
        (29, 8, [(0, 2, 0), (16, 2, 0)]),
    ],
)
def test_patches_go_by_pairs_of_vectors_by_one_and_alone(
    patches: int, lanes: int, expected: list[tuple[int, int, int]]
) -> None:
    assert tiles_of(patches, lanes, 4) == expected
