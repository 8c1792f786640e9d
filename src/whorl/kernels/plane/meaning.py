"""What kernels over planes mean: splitting an image by phases, and sums and maxima of windows over one plane.

Sums are of the element type, in ascending order of taps from 0, every step fused where the machine can:
|error| <= taps * eps * sum |weights| |image|. A maximum is exact; NaN is larger than all, of two zeros either may win.
"""

from __future__ import annotations

import math

import numpy as np

from whorl.kernels.convolution.meaning import clamp
from whorl.kernels.kernel import Arrays, Meaning, Numbers
from whorl.kernels.machine import OVERREAD_BYTES
from whorl.kernels.windows import WindowGrid

COPY_STEPS, WINDOW_STEPS = 32, 4
"""Steps that copying an element of a short row takes, and a tap of a window of a plane, which lies across lines."""


def split_phases(arrays: Arrays, numbers: Numbers) -> None:
    """s = the image x [channels, axes] phase-split (`PhaseSplit`), with 0 or, for fill 1, minus infinity outside.

    What windows beside the last one read behind and between channels has that value, too.

    Numbers: fill, channels, the channel stride; and length, begin, stride, phases and split length of each axis.
    """
    (s, x), (fill, channels, channel_stride, *axes) = arrays, numbers
    lengths, begins, strides, phases, split = (axes[k::5] for k in range(5))
    image = x.reshape(channels, *lengths)
    s[: channels * channel_stride + _overread(s.dtype)] = -np.inf if fill else 0
    planes = s[: channels * channel_stride].reshape(channels, channel_stride)[:, : math.prod((*phases, *split))]
    target = planes.reshape(channels, *phases, *split)
    for phase in np.ndindex(*phases):
        sources = [np.arange(n) * s + f - b for n, s, f, b in zip(split, strides, phase, begins, strict=True)]
        inside = [np.flatnonzero((i >= 0) & (i < n)) for i, n in zip(sources, lengths, strict=True)]
        read = [i[chosen] for i, chosen in zip(sources, inside, strict=True)]
        every = np.arange(channels)
        target[(slice(None), *phase)][np.ix_(every, *inside)] = image[np.ix_(every, *read)]


def split_extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    _, channels, channel_stride, *axes = numbers
    return channels * channel_stride + _overread(dtype), channels * math.prod(axes[::5])


def count_split_steps(numbers: Numbers) -> int:
    return COPY_STEPS * numbers[1] * numbers[2]


def sum_windows(arrays: Arrays, numbers: Numbers) -> None:
    """A convolution of one feature; numbers taps, bounded, reach, `WindowGrid`.

    Operands: result, phase-split input, offsets, weights of the taps, bias, limits.
    """
    (y, image, offsets, weights, bias, limits), (_, bounded, _, *grid) = arrays, numbers
    sums = weights @ image[offsets[:, None] + WindowGrid(*grid).addresses()] + bias
    y[...] = clamp(sums, limits) if bounded else sums


def sum_extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    taps, bounded, reach, *rest = numbers
    grid = WindowGrid(*rest)
    return grid.windows, reach + grid.span + _overread(dtype), taps, taps, 1, 2 * bounded


def find_maxima(arrays: Arrays, numbers: Numbers) -> None:
    """The largest element of every window; numbers taps, reach, `WindowGrid`.

    Operands: result, phase-split input, offsets.
    """
    (y, image, offsets), (_, _, *grid) = arrays, numbers
    y[...] = image[offsets[:, None] + WindowGrid(*grid).addresses()].max(axis=0)


def maximum_extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    taps, reach, *rest = numbers
    grid = WindowGrid(*rest)
    return grid.windows, reach + grid.span + _overread(dtype), taps


def count_window_steps(numbers: Numbers) -> int:
    return WINDOW_STEPS * numbers[0] * WindowGrid(*numbers[-5:]).windows


def _overread(dtype: np.dtype) -> int:
    return OVERREAD_BYTES // dtype.itemsize


SPLIT_PHASES = Meaning(1, split_extents, split_phases, steps=count_split_steps, factors=(1, 2))
PLANE_SUMS = Meaning(1, sum_extents, sum_windows, tables=(2,), steps=count_window_steps)
PLANE_MAXIMA = Meaning(1, maximum_extents, find_maxima, tables=(2,), steps=count_window_steps)
