"""What convolutions mean: y[m, window] = the sum over k of filters[m, k] * image[window + offsets[k]], plus bias[m].

Numbers: features, taps, bounded, together (how many windows go by a filter before the next filter has its turn), reach
(the largest offset), and those of a `WindowGrid`. Sums are of the element type, in ascending order of k from 0, every
step fused where the machine can: |error| <= taps * eps * sum |filters| |image|. The bias is added after the sum, then
the tensor of `convolution_sum`, which may lie where the result is to be; if bounded, limits[0] and limits[1] are the
least and the largest result. NaN stays.
"""

from __future__ import annotations

import numpy as np

from whorl.kernels.convolution.layout import unpack_filters
from whorl.kernels.kernel import Arrays, Meaning, Numbers
from whorl.kernels.machine import OVERREAD_BYTES
from whorl.kernels.product.meaning import dot_words
from whorl.kernels.windows import WindowAxis, WindowGrid


def convolve(arrays: Arrays, numbers: Numbers) -> None:
    """Operands: result, phase-split input, offsets, packed filters, bias, limits, and what is added, if anything."""
    (y, image, offsets, filters, bias, limits, *added), (features, _, bounded, _, _, *grid) = arrays, numbers
    columns = image[offsets[:, None] + WindowGrid(*grid).addresses()]
    sums = unpack_filters(filters, features) @ columns + bias[:, None]
    if added:
        sums += added[0].reshape(sums.shape)
    y.reshape(sums.shape)[...] = clamp(sums, limits) if bounded else sums


def convolve_same(arrays: Arrays, numbers: Numbers) -> None:
    """A window around each element of the image x [channels, rows, columns], zeros around it.

    Operands: result, x, packed filters, bias, limits, and what is added, if anything. Numbers: features, taps, bounded,
    rows, columns, and of both axes the taps, the dilations, and the padding before the first element.
    """
    (y, x, filters, bias, limits, *added), (features, inner, bounded, *lengths) = arrays, numbers
    (rows, columns), kernel, steps, begins = (lengths[n : n + 2] for n in (0, 2, 4, 6))
    axes = [
        WindowAxis(n, k, 1, step, begin, n)
        for n, k, step, begin in zip((rows, columns), kernel, steps, begins, strict=True)
    ]
    image = x.reshape(-1, rows, columns)
    windows = np.zeros((len(image), *kernel, rows, columns), x.dtype)
    for i, j in np.ndindex(*kernel):
        (below, above), (left, right) = axes[0].tap(i), axes[1].tap(j)
        windows[:, i, j, below, left] = image[:, above, right]
    sums = unpack_filters(filters, features) @ windows.reshape(inner, rows * columns) + bias[:, None]
    if added:
        sums += added[0].reshape(sums.shape)
    y.reshape(sums.shape)[...] = clamp(sums, limits) if bounded else sums


def convolve_normalized(arrays: Arrays, numbers: Numbers) -> None:
    """Windows of one element of channels that are normalized: (x - centre) * factor + term, at least 0 if rectified.

    Operands: result, x [channels, windows], (centre, factor, term) of each channel, packed filters, bias, limits, and
    what is added, if anything. Numbers: features, channels, bounded, rectified, windows. NaN stays.
    """
    (y, x, terms, filters, bias, limits, *added), (features, channels, bounded, rectified, windows) = arrays, numbers
    centre, factor, term = terms.reshape(channels, 3, 1).swapaxes(0, 1)
    columns = (x.reshape(channels, windows) - centre) * factor + term
    sums = unpack_filters(filters, features) @ (np.maximum(columns, 0) if rectified else columns) + bias[:, None]
    if added:
        sums += added[0].reshape(sums.shape)
    y.reshape(sums.shape)[...] = clamp(sums, limits) if bounded else sums


def normalized_extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    features, channels, bounded, _, windows = numbers
    return features * windows, channels * windows, 3 * channels, features * channels, features, 2 * bounded


def normalized_sum_extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    extents = normalized_extents(numbers, dtype)
    return *extents, extents[0]


def same_extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    features, inner, bounded, rows, columns, kernel_rows, kernel_columns, *_ = numbers
    channels, windows = inner // (kernel_rows * kernel_columns), rows * columns
    return features * windows, channels * windows, features * inner, features, 2 * bounded


def same_sum_extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    extents = same_extents(numbers, dtype)
    return *extents, extents[0]


def convolve_words(arrays: Arrays, numbers: Numbers) -> None:
    """The same for bytes, four channels in a word of int32: without sign in the image, with one in the filters.

    Sums are exact modulo 2^32, and never bounded.
    """
    (y, image, offsets, filters, bias, _), (features, _, _, _, _, *grid) = arrays, numbers
    columns = image[offsets[:, None] + WindowGrid(*grid).addresses()]
    sums = dot_words(columns.T, unpack_filters(filters, features).T).T
    y.reshape(sums.shape)[...] = sums + bias[:, None]


def clamp(sums: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Numbers between limits[0] and limits[1]; NaN stays."""
    return np.minimum(np.maximum(sums, limits[0]), limits[1])


def convolution_extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    features, inner, bounded, _, reach, *rest = numbers
    grid = WindowGrid(*rest)
    image = reach + max(grid.span, OVERREAD_BYTES // dtype.itemsize)
    return features * grid.windows, image, inner, features * inner, features, 2 * bounded


def convolution_sum_extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    extents = convolution_extents(numbers, dtype)
    return *extents, extents[0]


def count_steps(numbers: Numbers) -> int:
    features, inner, _, _, _, *grid = numbers
    return features * inner * WindowGrid(*grid).span


def count_same_steps(numbers: Numbers) -> int:
    features, inner, _, rows, columns, *_ = numbers
    return features * inner * rows * columns


def count_normalized_steps(numbers: Numbers) -> int:
    features, channels, _, _, windows = numbers
    return features * channels * windows


NORMALIZED_CONVOLUTION = Meaning(
    1, normalized_extents, convolve_normalized, steps=count_normalized_steps, factors=(0, 1, 4)
)
NORMALIZED_CONVOLUTION_SUM = Meaning(
    1, normalized_sum_extents, convolve_normalized, steps=count_normalized_steps, factors=(0, 1, 4)
)
SAME_FACTORS = (0, 1, 3, 4)
"""Features, taps, rows and columns."""
SAME_CONVOLUTION = Meaning(1, same_extents, convolve_same, steps=count_same_steps, factors=SAME_FACTORS)
SAME_CONVOLUTION_SUM = Meaning(1, same_sum_extents, convolve_same, steps=count_same_steps, factors=SAME_FACTORS)
FACTORS = (0, 1, 5, 6, 9)
"""Features, taps, and about the windows: depth, rows and pitch."""
CONVOLUTION = Meaning(1, convolution_extents, convolve, tables=(2,), steps=count_steps, factors=FACTORS)
CONVOLUTION_SUM = Meaning(1, convolution_sum_extents, convolve, tables=(2,), steps=count_steps, factors=FACTORS)
CONVOLUTION_DOTS = Meaning(1, convolution_extents, convolve_words, tables=(2,), steps=count_steps, factors=FACTORS)
