"""Machine code of convolutions, for vectors of every width, against their meaning."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kernels.convolution.operands import check_result_over_added
from kernels.layouts import CHANNELS, LAYOUTS
from kernels.runs import check_kernel, draw, machine, run_kernel
from whorl.ir.dtypes import FLOAT32, FLOAT64, INT32
from whorl.kernels.plane.layout import split_phases
from whorl.kernels.table import KERNELS


@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("features", [1, 2, 3, 5, 8, 25])
def test_convolutions_equal_their_meaning(width: int, name: str, features: int) -> None:
    dtype = FLOAT64 if features == 5 else FLOAT32
    layout = split_phases(LAYOUTS[name], dtype.itemsize)
    inner, added = CHANNELS * layout.taps, features % 2
    kernel = "convolution_sum" if added else "convolution"
    together = (1, 64, 10**6)[features % 3]
    numbers = (features, inner, 1, together, layout.reach(CHANNELS), *layout.grid)
    made = features * math.prod(layout.counts)
    arrays = [np.full(made, np.nan, dtype), draw(dtype, KERNELS[kernel].meaning.extents(numbers, dtype)[1])]
    arrays += [layout.offsets(CHANNELS).astype(INT32), draw(dtype, features * inner), draw(dtype, features)]
    arrays += [np.array([-1, 2], dtype), *[draw(dtype, made)] * added]
    check_kernel(kernel, arrays, numbers, machine(width), 1e-5)
    if added:
        check_result_over_added(kernel, arrays, numbers, machine(width))


@pytest.mark.parametrize("together", [1, 64, 10**6])
@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("features", [1, 25, 400])
def test_parts_of_convolutions_are_the_whole(together: int, name: str, features: int) -> None:
    layout = split_phases(LAYOUTS[name], FLOAT32.itemsize)
    inner = CHANNELS * layout.taps
    numbers = (features, inner, 0, together, layout.reach(CHANNELS), *layout.grid)
    sizes = KERNELS["convolution"].meaning.extents(numbers, FLOAT32)
    whole = [draw(FLOAT32, size) for size in sizes]
    whole[2] = layout.offsets(CHANNELS).astype(INT32)
    divided = [np.full_like(whole[0], np.nan), *whole[1:]]
    run_kernel("convolution", whole, numbers)
    run_kernel("convolution", divided, numbers, parts=[(9, 16), (0, 1), (1, 8), (8, 9)])
    np.testing.assert_array_equal(divided[0], whole[0])


@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("features", [1, 4, 25])
def test_convolutions_of_words_are_exact(width: int, name: str, features: int) -> None:
    layout = split_phases(LAYOUTS[name], INT32.itemsize)
    inner, rng = CHANNELS * layout.taps, np.random.default_rng(features)
    numbers = (features, inner, 0, (1, 64, 10**6)[features % 3], layout.reach(CHANNELS), *layout.grid)
    sizes = KERNELS["convolution_dots"].meaning.extents(numbers, INT32)
    arrays = [rng.integers(-(1 << 31), 1 << 31, size).astype(INT32) for size in sizes]
    arrays[2] = layout.offsets(CHANNELS).astype(INT32)
    check_kernel("convolution_dots", arrays, numbers, machine(width))
