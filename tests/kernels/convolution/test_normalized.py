"""Convolutions of channels that are normalized while windows are gathered: as if they had been normalized before."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from kernels.convolution.operands import check_result_over_added
from kernels.runs import check_kernel, draw, machine, run_kernel
from whorl.ir.dtypes import FLOAT32, FLOAT64
from whorl.kernels.convolution.gathered import room_of
from whorl.kernels.table import KERNELS

WINDOWS = (32, 33, 47, 49, 64, 65, 196)
"""A tile; one window, several, a vector and one behind it; tiles alone; one more; several rounds."""


def operands(
    windows: int, features: int, channels: int, dtype: np.dtype, rectified: int = 1
) -> tuple[str, list[np.ndarray], list[int]]:
    name = ("normalized_convolution", "normalized_convolution_sum")[features % 2]
    numbers = [features, channels, features % 3 and 1, rectified, windows]
    made, *others = KERNELS[name].meaning.extents(numbers, dtype)
    arrays = [np.full(made, np.nan, dtype), *(draw(dtype, size) for size in others)]
    if numbers[2]:
        arrays[5][:] = -1, 2
    return name, arrays, numbers


@pytest.mark.parametrize("windows", WINDOWS)
@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("rectified", [0, 1])
def test_normalized_convolution(windows: int, width: int, rectified: int) -> None:
    for features, channels, dtype in ((25, 3, FLOAT32), (26, 2, FLOAT64), (48, 1, FLOAT32)):
        check_kernel(*operands(windows, features, channels, dtype, rectified), machine(width), 1e-4)


@pytest.mark.parametrize("features", [24, 49, 400])
@pytest.mark.parametrize("more", [0, 1, 200])
def test_channels_are_normalized_part_by_part(features: int, more: int) -> None:
    target = machine(64)
    check_kernel(*operands(81, features, room_of(target).taps + more, FLOAT32), target, 1e-3)


@pytest.mark.parametrize("windows", [49, 196])
@pytest.mark.parametrize("features", [24, 49])
def test_result_equals_the_convolution_of_a_normalized_image(windows: int, features: int) -> None:
    """By centres of 0, factors of 1 and terms of 0 the image is only rectified, so that all bits are known."""
    name, arrays, numbers = operands(windows, features, 40, FLOAT32)
    arrays[2].reshape(-1, 3)[:] = 0, 1, 0
    run_kernel(name, arrays, numbers)
    y, x, _, *others = arrays
    same, around = name.replace("normalized", "same"), (1, windows, 1, 1, 1, 1, 0, 0)
    known = [np.full_like(y, np.nan), np.maximum(x, 0), *others]
    run_kernel(same, known, [*numbers[:3], *around])
    np.testing.assert_array_equal(y.view(np.uint8), known[0].view(np.uint8))


@pytest.mark.parametrize("windows", [33, 196])
@pytest.mark.parametrize("features", [24, 49, 400])
def test_parts_are_the_whole(windows: int, features: int) -> None:
    name, arrays, numbers = operands(windows, features, 3, FLOAT32)
    run_kernel(name, arrays, numbers)
    whole = arrays[0].copy()
    arrays[0][:] = np.nan
    run_kernel(name, arrays, numbers, None, [(9, 16), (0, 1), (1, 8), (8, 9)])
    np.testing.assert_array_equal(arrays[0], whole)


@pytest.mark.parametrize("width", [16, 32, 64])
def test_a_small_frame_of_the_stack_has_room_for_some_channels(width: int) -> None:
    check_kernel(*operands(49, 29, 40, FLOAT32), replace(machine(width), has_large_frames=False), 1e-3)


@pytest.mark.parametrize("windows", WINDOWS)
def test_result_may_lie_over_what_is_added(windows: int) -> None:
    for features, dtype, parts in ((25, FLOAT32, []), (49, FLOAT64, [(9, 16), (0, 9)])):
        name, arrays, numbers = operands(windows, features, 3, dtype)
        check_result_over_added(name, arrays, numbers, machine(), parts)


@pytest.mark.parametrize("rectified", [0, 1])
def test_what_is_no_number_reaches_its_own_window_alone(rectified: int) -> None:
    """Infinity times 0, and NaN, reach all features of their window, and no other window."""
    name, arrays, numbers = operands(49, 24, 3, FLOAT32, rectified)
    arrays[1].reshape(3, 49)[1, [5, 40]] = np.nan, np.inf
    arrays[2].reshape(3, 3)[1] = 0, 0, 1
    run_kernel(name, arrays, numbers)
    none = np.isnan(arrays[0].reshape(24, 49))
    assert none[:, [5, 40]].all() and none.sum() == 48


def test_no_channels_leave_the_bias() -> None:
    check_kernel(*operands(49, 24, 0, FLOAT32), machine())
