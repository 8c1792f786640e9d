"""What depthwise convolutions mean: y[c, window] = the sum over taps of w[c, tap] * x[c, element], plus bias[c].

What a window has outside of the image is 0. Sums are of the element type, in ascending order of taps from
0, every step fused where the machine can: |error| <= taps * eps * sum |w| |x|. The bias is added after the sum, then
the tensor of `depthwise_convolution_sum`, which may lie where the result is to be; if bounded, limits[0] and limits[1]
are the least and the largest result. NaN stays.
"""

from __future__ import annotations

import math

import numpy as np

from whorl.kernels.convolution.meaning import clamp
from whorl.kernels.kernel import Arrays, Meaning, Numbers
from whorl.kernels.windows import WindowAxis

WINDOWS = (
    *("rows", "columns", "kernel_rows", "kernel_columns", "row_stride", "column_stride"),
    *("row_dilation", "column_dilation", "row_begin", "column_begin", "row_count", "column_count"),
)
"""Numbers of an image's planes: of both axes what a `WindowAxis` has."""
NUMBERS = ("channels", "bounded", *WINDOWS)
TAP_STEPS = 2
"""Steps that a tap takes, whose element may lie across lines."""


def convolve(arrays: Arrays, numbers: Numbers) -> None:
    """Operands: result, x [channels, rows, columns], filters [channels, taps], bias, limits, what is added, if any."""
    (y, x, filters, bias, limits, *added), (channels, bounded, *axes) = arrays, numbers
    rows, columns = (WindowAxis(*axes[n::2]) for n in (0, 1))
    image, sums = x.reshape(channels, rows.length, columns.length), np.zeros((channels, rows.count, columns.count))
    weights = filters.reshape(channels, rows.kernel, columns.kernel, 1, 1)
    for i, j in np.ndindex(rows.kernel, columns.kernel):
        (below, above), (left, right) = rows.tap(i), columns.tap(j)
        elements = np.zeros_like(sums)
        elements[:, below, left] = image[:, above, right]
        sums += weights[:, i, j] * elements
    sums = sums.astype(y.dtype) + bias[:, None, None]
    if added:
        sums += added[0].reshape(sums.shape)
    y.reshape(sums.shape)[...] = clamp(sums, limits) if bounded else sums


def extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    channels, bounded, rows, columns, kernel_rows, kernel_columns, *_, row_count, column_count = numbers
    taps = kernel_rows * kernel_columns
    return channels * row_count * column_count, channels * rows * columns, channels * taps, channels, 2 * bounded


def sum_extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    operands = extents(numbers, dtype)
    return *operands, operands[0]


def count_steps(numbers: Numbers) -> int:
    return TAP_STEPS * math.prod(numbers[n] for n in FACTORS)


FACTORS = (0, 4, 5, 12, 13)
"""Channels, the taps and the windows along both axes."""
DEPTHWISE_CONVOLUTION = Meaning(1, extents, convolve, steps=count_steps, factors=FACTORS)
DEPTHWISE_CONVOLUTION_SUM = Meaning(1, sum_extents, convolve, steps=count_steps, factors=FACTORS)
