"""Pools in machine code: the same as their meaning, for any width, strides, and part."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.depthwise.test_llvm import AXES, Axes
from kernels.runs import check_kernel, draw, machine, run_kernel
from whorl.ir.dtypes import FLOAT32, FLOAT64
from whorl.kernels.table import KERNELS

POOLS = ("window_maxima", "window_sums")


def operands(name: str, axes: Axes, channels: int, dtype: np.dtype) -> tuple[list[np.ndarray], list[int]]:
    fields = ("length", "kernel", "stride", "dilation", "begin", "count")
    numbers = [channels, *(getattr(axis, field) for field in fields for axis in axes)]
    made, read = KERNELS[name].meaning.extents(numbers, dtype)
    return [np.full(made, np.nan, dtype), draw(dtype, read)], numbers


@pytest.mark.parametrize("name", POOLS)
@pytest.mark.parametrize("axes", AXES.values(), ids=AXES)
@pytest.mark.parametrize("width", [16, 32, 64])
def test_pool(name: str, axes: Axes, width: int) -> None:
    for channels, dtype in ((1, FLOAT32), (4, FLOAT64), (3, FLOAT32)):
        check_kernel(name, *operands(name, axes, channels, dtype), machine(width), 1e-5 * (name == "window_sums"))


@pytest.mark.parametrize("name", POOLS)
@pytest.mark.parametrize("axes", AXES.values(), ids=AXES)
def test_parts_are_the_whole(name: str, axes: Axes) -> None:
    arrays, numbers = operands(name, axes, 5, FLOAT32)
    run_kernel(name, arrays, numbers)
    whole = arrays[0].copy()
    arrays[0][:] = np.nan
    run_kernel(name, arrays, numbers, None, [(9, 16), (0, 1), (1, 8), (8, 9)])
    np.testing.assert_array_equal(arrays[0], whole)


@pytest.mark.parametrize("name", POOLS)
@pytest.mark.parametrize("width", [16, 32, 64])
def test_what_is_no_number_reaches_its_own_windows_alone(name: str, width: int) -> None:
    (y, x), numbers = operands(name, AXES["3 x 3"], 4, FLOAT32)
    x.reshape(4, 7, 9)[1, 3, 4] = np.nan
    x.reshape(4, 7, 9)[2, 0, 0] = np.inf
    run_kernel(name, [y, x], numbers, machine(width))
    none = np.isnan(y.reshape(4, 7, 9))
    assert none[1, 2:5, 3:6].all() and none.sum() == 9
    assert np.isinf(y.reshape(4, 7, 9)[2, :2, :2]).all()


def test_windows_that_have_nothing_inside_give_minus_infinity_or_zero() -> None:
    for name, expected in zip(POOLS, (-np.inf, 0), strict=True):
        (y, x), numbers = operands(name, AXES["windows that have nothing inside"], 1, FLOAT32)
        run_kernel(name, [y, x], numbers)
        assert y[0] == expected
