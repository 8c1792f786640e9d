"""Operands of convolutions for tests."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kernels.layouts import CHANNELS
from kernels.runs import draw, run_kernel
from whorl.ir.dtypes import INT32
from whorl.kernels.plane.layout import split_phases
from whorl.kernels.table import KERNELS
from whorl.kernels.windows import WindowAxis
from whorl.llvm.module import Machine


def arrays_of(
    layout: Sequence[WindowAxis], features: int, dtype: np.dtype, channels: int = CHANNELS, is_dense: bool = False
) -> tuple[str, list[np.ndarray], list[int]]:
    """A kernel, its operands, and its numbers; where it `is_dense`, rows of windows lie without a gap between."""
    split = split_phases(layout, dtype.itemsize, features=is_dense << 20)
    assert split.is_dense == is_dense
    name, inner = ("convolution", "convolution_sum")[features % 2], channels * split.taps
    numbers = [features, inner, features % 3 and 1, 64, split.reach(channels), *split.grid]
    made = features * math.prod(split.counts)
    image = draw(dtype, KERNELS[name].meaning.extents(tuple(numbers), dtype)[1])
    arrays = [np.full(made, np.nan, dtype), image, split.offsets(channels).astype(INT32)]
    arrays += [draw(dtype, features * inner), draw(dtype, features), np.array([-1, 2], dtype)[: 2 * numbers[2]]]
    return name, arrays + [draw(dtype, made)] * (features % 2), numbers


def check_result_over_added(
    name: str,
    arrays: Sequence[np.ndarray],
    numbers: Sequence[int],
    target: Machine | None = None,
    parts: Sequence[tuple[int, int]] = (),
) -> None:
    """A result that lies where the tensor does that is added, the last operand, has the bits of one that does not."""
    run_kernel(name, arrays, numbers, target, parts)
    y, *others, added = arrays
    over = added.copy()
    run_kernel(name, [over, *others, over], numbers, target, parts)
    np.testing.assert_array_equal(over.view(np.uint8), y.view(np.uint8))
