"""What pooling means: y[c, window] = the largest element of a window over x[c], or their sum.

What a window has outside of the image is minus infinity or 0. A maximum is exact; NaN is larger than all, of two zeros
either may win. Sums are of the element type, in ascending order of taps from 0: |error| <= taps * eps * sum |x|.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from whorl.kernels.depthwise.meaning import TAP_STEPS, WINDOWS
from whorl.kernels.kernel import Arrays, Meaning, Numbers
from whorl.kernels.windows import WindowAxis

NUMBERS = ("channels", *WINDOWS)


def take_maxima(arrays: Arrays, numbers: Numbers) -> None:
    """Operands: result, x [channels, rows, columns]. Numbers: channels, and those of `WINDOWS`."""
    _reduce(arrays, numbers, -math.inf, np.maximum)


def take_sums(arrays: Arrays, numbers: Numbers) -> None:
    _reduce(arrays, numbers, 0, np.add)


def _reduce(
    arrays: Arrays, numbers: Numbers, start: float, join: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> None:
    (y, x), (channels, *axes) = arrays, numbers
    rows, columns = (WindowAxis(*axes[n::2]) for n in (0, 1))
    image = x.reshape(channels, rows.length, columns.length)
    result = y.reshape(channels, rows.count, columns.count)
    result[...] = start
    for i, j in np.ndindex(rows.kernel, columns.kernel):
        (below, above), (left, right) = rows.tap(i), columns.tap(j)
        result[:, below, left] = join(result[:, below, left], image[:, above, right])


def extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    channels, rows, columns, *_, row_count, column_count = numbers
    return channels * row_count * column_count, channels * rows * columns


def count_steps(numbers: Numbers) -> int:
    return TAP_STEPS * math.prod(numbers[n] for n in FACTORS)


FACTORS = (0, 3, 4, 11, 12)
"""Channels, the taps and the windows along both axes."""
WINDOW_MAXIMA = Meaning(1, extents, take_maxima, steps=count_steps, factors=FACTORS)
WINDOW_SUMS = Meaning(1, extents, take_sums, steps=count_steps, factors=FACTORS)
