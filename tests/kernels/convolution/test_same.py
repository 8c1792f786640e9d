"""Convolutions around every element of an image: what is gathered from the image is what its padded copy holds."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from kernels.convolution.operands import check_result_over_added
from kernels.runs import check_kernel, draw, machine, run_kernel
from whorl.ir.dtypes import FLOAT32, FLOAT64, INT32
from whorl.kernels.convolution.gathered import room_of
from whorl.kernels.machine import SMALL_FRAME_BYTES
from whorl.kernels.plane.layout import PhaseSplit, split_phases
from whorl.kernels.plane.meaning import SPLIT_PHASES
from whorl.kernels.table import KERNELS
from whorl.kernels.windows import WindowAxis

IMAGES = {
    "one element": (1, 1),
    "fewer than a vector": (2, 3),
    "a row shorter than a vector": (9, 5),
    "a tile and a single one": (3, 11),
    "tiles, vectors and a single one": (7, 7),
    "rows of a vector": (6, 16),
    "rows longer than a tile": (3, 70),
    "several rounds": (14, 14),
}
KERNELS_AROUND = {
    "3 x 3": (3, 3, 1, 1, 1, 1),
    "5 x 3, far apart": (5, 3, 2, 3, 4, 3),
    "a row of 4, begun early": (1, 4, 1, 1, 0, 2),
    "larger than some images": (7, 7, 1, 1, 3, 3),
}


def operands(
    image: tuple[int, int], around: tuple[int, ...], features: int, channels: int, dtype: np.dtype
) -> tuple[str, list[np.ndarray], list[int]]:
    name = ("same_convolution", "same_convolution_sum")[features % 2]
    numbers = [features, channels * around[0] * around[1], features % 3 and 1, *image, *around]
    made, *others = KERNELS[name].meaning.extents(numbers, dtype)
    arrays = [np.full(made, np.nan, dtype), *(draw(dtype, size) for size in others)]
    if numbers[2]:
        arrays[4][:] = -1, 2
    return name, arrays, numbers


@pytest.mark.parametrize("image", IMAGES.values(), ids=IMAGES)
@pytest.mark.parametrize("around", KERNELS_AROUND.values(), ids=KERNELS_AROUND)
@pytest.mark.parametrize("width", [16, 32, 64])
def test_same_convolution(image: tuple[int, int], around: tuple[int, ...], width: int) -> None:
    for features, channels, dtype in ((13, 3, FLOAT32), (26, 2, FLOAT64)):
        check_kernel(*operands(image, around, features, channels, dtype), machine(width), 1e-4)


@pytest.mark.parametrize("features", [24, 49])
@pytest.mark.parametrize("image", [(2, 3), (7, 7), (14, 14)])
@pytest.mark.parametrize("more", [0, 1, 30])
def test_result_equals_the_convolution_of_a_padded_image(features: int, image: tuple[int, int], more: int) -> None:
    around, turn = KERNELS_AROUND["3 x 3"], room_of(machine(64)).taps // 9
    name, arrays, numbers = operands(image, around, features, turn + more, FLOAT32)
    run_kernel(name, arrays, numbers, machine(64))
    y, x, *others = arrays
    split = split_phases([WindowAxis(n, 3, 1, 1, 1, n) for n in image], 4)
    kernel, grid = name.removeprefix("same_"), [*numbers[:3], 64, split.reach(turn + more), *split.grid]
    copied = [np.empty(n, x.dtype) for n in SPLIT_PHASES.extents(split_of(split, turn + more), x.dtype)]
    copied[1][:] = x
    run_kernel("split_phases", copied, split_of(split, turn + more))
    read = KERNELS[kernel].meaning.extents(grid, x.dtype)[1]
    padded = [np.full_like(y, np.nan), copied[0][:read], split.offsets(turn + more).astype(INT32), *others]
    run_kernel(kernel, padded, grid, machine(64))
    np.testing.assert_array_equal(y.view(np.uint8), padded[0].view(np.uint8))


def split_of(split: PhaseSplit, channels: int) -> list[int]:
    return [0, channels, *split.split_numbers]


@pytest.mark.parametrize("image", [(5, 7), (14, 14), (20, 30)])
@pytest.mark.parametrize("features", [24, 49, 400])
def test_parts_are_the_whole(image: tuple[int, int], features: int) -> None:
    name, arrays, numbers = operands(image, KERNELS_AROUND["3 x 3"], features, 3, FLOAT32)
    run_kernel(name, arrays, numbers)
    whole = arrays[0].copy()
    arrays[0][:] = np.nan
    run_kernel(name, arrays, numbers, None, [(9, 16), (0, 1), (1, 8), (8, 9)])
    np.testing.assert_array_equal(arrays[0], whole)


@pytest.mark.parametrize("width", [16, 32, 64])
def test_a_small_frame_of_the_stack_has_room_for_one_channel(width: int) -> None:
    small = replace(machine(width), has_large_frames=False)
    taps, step = room_of(small).taps, 2 * min(width, SMALL_FRAME_BYTES) // 4
    assert 2 * step * (taps + 12) * 4 < 4096
    for around in (KERNELS_AROUND["3 x 3"], (4, 4, 1, 1, 1, 2)):
        check_kernel(*operands((7, 7), around, 29, 40, FLOAT32), small, 1e-3)


@pytest.mark.parametrize("image", IMAGES.values(), ids=IMAGES)
@pytest.mark.parametrize("width", [16, 32, 64])
def test_result_may_lie_over_what_is_added(image: tuple[int, int], width: int) -> None:
    for features, dtype, parts in ((13, FLOAT32, []), (49, FLOAT64, [(9, 16), (0, 9)])):
        name, arrays, numbers = operands(image, KERNELS_AROUND["3 x 3"], features, 3, dtype)
        check_result_over_added(name, arrays, numbers, machine(width), parts)


def test_no_taps_leave_the_bias() -> None:
    name, arrays, numbers = operands((7, 7), KERNELS_AROUND["3 x 3"], 24, 0, FLOAT32)
    check_kernel(name, arrays, numbers, machine())
