"""What Winograd's convolution means: patches of x are transformed, multiplied at each point, and transformed back.

Operands: result, memory for the patches of each part, planes to work in, an image x [channels, rows, columns], packed
filters, bias, limits, and of `winograd_convolution_sum` what is added; numbers: features, channels, bounded, rows,
columns. The first three are written.

Sums over channels are in ascending order from 0, every step fused where the machine can. With the largest element d of
the 4 x 4 that a result is computed with, |error| <= 16 * (channels + 8) * eps * sum of |filters| * |d|: a result that
is far smaller than elements near by has an error of theirs. Bias, added tensor, which may lie where the result is to
be, and limits are as for `convolution`. A sum that is not finite is computed by its nine taps: elements that are
infinite, or as large that a difference is, have no effect that they do not have in a sum of products.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from whorl.kernels.convolution.meaning import clamp
from whorl.kernels.kernel import Arrays, Meaning, Numbers
from whorl.kernels.machine import NEAR_PATCHES
from whorl.kernels.winograd.layout import (
    GROUP,
    POINTS,
    filters_of,
    group_count,
    patch_counts,
    plane_size,
    point_stride,
    points_of,
)
from whorl.llvm.routine import PARTS


def transform(x: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The patches [group, point, channel, lane] of an image [channels, rows, columns], zeros behind the last one."""
    (down, across), groups = patch_counts(rows, columns), group_count(rows, columns)
    channels = x.size // (rows * columns)
    image = np.zeros((channels, 2 * down + 2, 2 * across + 2), x.dtype)
    image[:, 1 : rows + 1, 1 : columns + 1] = x.reshape(channels, rows, columns)
    patches = np.zeros((4, 4, groups * GROUP, channels), x.dtype)
    for n, (i, j) in enumerate(np.ndindex(down, across)):
        patches[:, :, n] = image[:, 2 * i : 2 * i + 4, 2 * j : 2 * j + 4].transpose(1, 2, 0)
    with np.errstate(invalid="ignore", over="ignore"):
        points = _of_both_axes(_differences, patches).reshape(POINTS, groups, GROUP, channels)
    return points.transpose(1, 0, 3, 2)


def _of_both_axes(change: Callable[..., list[np.ndarray]], patches: np.ndarray) -> np.ndarray:
    """What becomes of the first axis, and then of the second."""
    rows = np.stack(change(*patches)).swapaxes(0, 1)
    return np.stack(change(*rows)).swapaxes(0, 1)


def _differences(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> list[np.ndarray]:
    return [a - c, b + c, c - b, b - d]


def _sums(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> list[np.ndarray]:
    return [a + b + c, b - c - d]


def convolve(arrays: Arrays, numbers: Numbers) -> None:
    (y, _, _, x, filters, bias, limits, *added), (features, channels, bounded, rows, columns) = arrays, numbers
    down, across = patch_counts(rows, columns)
    points = points_of(filters, features)
    with np.errstate(invalid="ignore", over="ignore"):
        products = points.reshape(features, POINTS, channels).swapaxes(0, 1) @ transform(x, rows, columns)
        patches = products.transpose(1, 2, 0, 3).reshape(4, 4, features, -1)[..., : down * across]
        sums = _of_both_axes(_sums, patches).reshape(2, 2, features, down, across).transpose(2, 3, 0, 4, 1)
        sums = sums.reshape(features, 2 * down, 2 * across)[:, :rows, :columns]
        image = x.reshape(channels, rows, columns)
        sums = np.where(np.isfinite(sums), sums, _by_taps(image, filters_of(points)))
    sums = sums.reshape(features, -1) + bias[:, None]
    if added:
        sums += added[0].reshape(sums.shape)
    y.reshape(sums.shape)[...] = clamp(sums, limits) if bounded else sums


def _by_taps(image: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """The sum of nine products for each result; what lies outside the image takes no part."""
    _, rows, columns = image.shape
    sums = np.zeros((len(filters), rows, columns), image.dtype)
    for i, j in np.ndindex(3, 3):
        below, right = slice(max(0, 1 - i), rows - max(0, i - 1)), slice(max(0, 1 - j), columns - max(0, j - 1))
        above, left = slice(max(0, i - 1), rows - max(0, 1 - i)), slice(max(0, j - 1), columns - max(0, 1 - j))
        sums[:, below, right] += np.einsum("fc,crw->frw", filters[:, :, i, j], image[:, above, left])
    return sums


def convolution_extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    features, channels, bounded, rows, columns = numbers
    used, image = working_extents(channels, rows, columns, dtype), channels * rows * columns
    return features * rows * columns, *used, image, features * channels * POINTS, features, 2 * bounded


def working_extents(channels: int, rows: int, columns: int, dtype: np.dtype) -> tuple[int, int]:
    """Patches of as many groups as stay near, and planes, for each part."""
    size = POINTS * point_stride(channels)
    together = max(1, NEAR_PATCHES // (size * dtype.itemsize))
    return PARTS * together * size, PARTS * 4 * plane_size(rows, columns)


def sum_extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    extents = convolution_extents(numbers, dtype)
    return *extents, extents[0]


def count_steps(numbers: Numbers) -> int:
    features, channels, _, rows, columns = numbers
    return features * channels * POINTS * group_count(rows, columns) * GROUP


FACTORS = (0, 1, 3, 4)
"""Features, channels, rows and columns."""
WINOGRAD_CONVOLUTION = Meaning(3, convolution_extents, convolve, steps=count_steps, factors=FACTORS)
WINOGRAD_CONVOLUTION_SUM = Meaning(3, sum_extents, convolve, steps=count_steps, factors=FACTORS)
