"""Depthwise convolutions in machine code: the same as their meaning, for any width, strides, and part."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.convolution.operands import check_result_over_added
from kernels.runs import check_kernel, draw, machine, run_kernel
from whorl.ir.dtypes import FLOAT32, FLOAT64
from whorl.kernels.table import KERNELS
from whorl.kernels.windows import WindowAxis

Axes = tuple[WindowAxis, WindowAxis]


def around(length: int, kernel: int, stride: int = 1, dilation: int = 1, begin: int | None = None) -> WindowAxis:
    """Windows with as much padding before as is usual, and as many of them as there are with as much behind."""
    reach = (kernel - 1) * dilation
    begin = reach // 2 if begin is None else begin
    return WindowAxis(length, kernel, stride, dilation, begin, (length + 2 * begin - reach - 1) // stride + 1)


AXES: dict[str, Axes] = {
    "3 x 3": (around(7, 3), around(9, 3)),
    "rows longer than a vector": (around(5, 3), around(37, 3)),
    "one element": (around(1, 3), around(1, 3)),
    "a row": (around(1, 1), around(40, 4, begin=3)),
    "5 x 5 by steps of two": (around(15, 5, 2), around(37, 5, 2)),
    "3 x 3 by steps of two": (around(14, 3, 2), around(14, 3, 2)),
    "steps of two and even padding": (around(14, 3, 2, begin=0), around(39, 3, 2, begin=0)),
    "far apart": (around(12, 3, 1, 3), around(21, 3, 1, 2)),
    "far apart by steps of two": (around(12, 3, 2, 3), around(41, 3, 2, 3)),
    "rows by steps of three": (around(13, 2, 3), around(18, 3)),
    "no padding": (around(9, 3, begin=0), around(20, 3, begin=0)),
    "windows that have nothing inside": (around(2, 2, 1, 1, begin=5), around(3, 2, 1, 1, begin=6)),
    "7 x 7": (around(8, 7), around(19, 7)),
}


def operands(axes: Axes, channels: int, dtype: np.dtype) -> tuple[str, list[np.ndarray], list[int]]:
    name = ("depthwise_convolution", "depthwise_convolution_sum")[channels % 2]
    fields = ("length", "kernel", "stride", "dilation", "begin", "count")
    numbers = [channels, channels % 3 and 1, *(getattr(axis, field) for field in fields for axis in axes)]
    made, *others = KERNELS[name].meaning.extents(numbers, dtype)
    arrays = [np.full(made, np.nan, dtype), *(draw(dtype, size) for size in others)]
    if numbers[1]:
        arrays[4][:] = -1, 2
    return name, arrays, numbers


@pytest.mark.parametrize("axes", AXES.values(), ids=AXES)
@pytest.mark.parametrize("width", [16, 32, 64])
def test_depthwise_convolution(axes: Axes, width: int) -> None:
    for channels, dtype in ((1, FLOAT32), (4, FLOAT64), (3, FLOAT32)):
        check_kernel(*operands(axes, channels, dtype), machine(width), 1e-4)


@pytest.mark.parametrize("axes", AXES.values(), ids=AXES)
def test_parts_are_the_whole(axes: Axes) -> None:
    name, arrays, numbers = operands(axes, 5, FLOAT32)
    run_kernel(name, arrays, numbers)
    whole = arrays[0].copy()
    arrays[0][:] = np.nan
    run_kernel(name, arrays, numbers, None, [(9, 16), (0, 1), (1, 8), (8, 9)])
    np.testing.assert_array_equal(arrays[0], whole)


@pytest.mark.parametrize("axes", AXES.values(), ids=AXES)
@pytest.mark.parametrize("width", [16, 32, 64])
def test_result_may_lie_over_what_is_added(axes: Axes, width: int) -> None:
    name, arrays, numbers = operands(axes, 5, FLOAT32)
    check_result_over_added(name, arrays, numbers, machine(width), [(9, 16), (0, 9)])


@pytest.mark.parametrize("axes", AXES.values(), ids=AXES)
def test_bits_are_the_same_for_all_widths(axes: Axes) -> None:
    results = []
    for width in (16, 32, 64):
        name, arrays, numbers = operands(axes, 2, FLOAT32)
        run_kernel(name, arrays, numbers, machine(width))
        results.append(arrays[0].view(np.uint8))
    np.testing.assert_array_equal(results[0], results[2])
    np.testing.assert_array_equal(results[1], results[2])


def test_what_is_no_number_reaches_its_own_windows_alone() -> None:
    name, arrays, numbers = operands(AXES["3 x 3"], 4, FLOAT32)
    numbers[1] = 0
    arrays[4] = arrays[4][:0]
    arrays[1].reshape(4, 7, 9)[1, 3, 4] = np.nan
    run_kernel(name, arrays, numbers)
    none = np.isnan(arrays[0].reshape(4, 7, 9))
    assert none[1, 2:5, 3:6].all() and none.sum() == 9
