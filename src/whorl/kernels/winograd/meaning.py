"""What the kernels of Winograd's convolutions mean: x is transformed once, then multiplied at each point.

Operands of `winograd_transform`: the transformed patches, planes to work in, and an image x [channels, rows, columns];
numbers: channels, rows, columns. The patches t [group, point, channel, lane] have lanes behind the last patch and gaps
behind each point (`point_stride`), where numbers are any.

Operands of `winograd_products`: result, t, x, packed filters, bias, limits, and those of `winograd_products_sum` also
what is added; numbers: features, channels, bounded, rows, columns. `winograd_convolution` and its sum do both: their
operands are the result, memory for the patches of each part, planes, x, and so on, the first three of which they write.

Sums over channels are in ascending order from 0, every step fused where the machine can. With the largest element d of
the 4 x 4 that a result is computed with, |error| <= 16 * (channels + 8) * eps * sum of |filters| * |d|: a result that
is far smaller than elements near by has an error of theirs. Bias, added tensor, which may lie where the result
is to be, and limits are as for `convolution`. A
sum that is not finite is computed by its nine taps: elements that are infinite, or as large that a difference is, have
no effect that they do not have in a sum of products.
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


def transform(arrays: Arrays, numbers: Numbers) -> None:
    (t, _, x), (channels, rows, columns) = arrays, numbers
    (down, across), groups = patch_counts(rows, columns), group_count(rows, columns)
    image = np.zeros((channels, 2 * down + 2, 2 * across + 2), x.dtype)
    image[:, 1 : rows + 1, 1 : columns + 1] = x.reshape(channels, rows, columns)
    patches = np.zeros((4, 4, groups * GROUP, channels), x.dtype)
    for n, (i, j) in enumerate(np.ndindex(down, across)):
        patches[:, :, n] = image[:, 2 * i : 2 * i + 4, 2 * j : 2 * j + 4].transpose(1, 2, 0)
    with np.errstate(invalid="ignore", over="ignore"):
        points = _of_both_axes(_differences, patches).reshape(POINTS, groups, GROUP, channels)
    patches_of(t, channels)[...] = points.transpose(1, 0, 3, 2)


def _of_both_axes(change: Callable[..., list[np.ndarray]], patches: np.ndarray) -> np.ndarray:
    """What becomes of the first axis, and then of the second."""
    rows = np.stack(change(*patches)).swapaxes(0, 1)
    return np.stack(change(*rows)).swapaxes(0, 1)


def _differences(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> list[np.ndarray]:
    return [a - c, b + c, c - b, b - d]


def _sums(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> list[np.ndarray]:
    return [a + b + c, b - c - d]


def patches_of(t: np.ndarray, channels: int) -> np.ndarray:
    """The patches [group, point, channel, lane] without gaps."""
    points = t.reshape(-1, POINTS, point_stride(channels))[..., : channels * GROUP]
    return points.reshape(len(points), POINTS, channels, GROUP)


def convolve(arrays: Arrays, numbers: Numbers) -> None:
    (y, _, planes, x, *rest), (_, channels, _, rows, columns) = arrays, numbers
    t = np.empty(transform_extents((channels, rows, columns), x.dtype)[0], x.dtype)
    transform((t, planes, x), (channels, rows, columns))
    multiply((y, t, x, *rest), numbers)


def multiply(arrays: Arrays, numbers: Numbers) -> None:
    (y, t, x, filters, bias, limits, *added), (features, channels, bounded, rows, columns) = arrays, numbers
    down, across = patch_counts(rows, columns)
    points = points_of(filters, features)
    with np.errstate(invalid="ignore", over="ignore"):
        products = points.reshape(features, POINTS, channels).swapaxes(0, 1) @ patches_of(t, channels)
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


def transform_extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    channels, rows, columns = numbers
    return (
        group_count(rows, columns) * POINTS * point_stride(channels),
        PARTS * 4 * plane_size(rows, columns),
        channels * rows * columns,
    )


def products_extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    features, channels, bounded, rows, columns = numbers
    transformed, _, image = transform_extents((channels, rows, columns), dtype)
    return features * rows * columns, transformed, image, features * channels * POINTS, features, 2 * bounded


def products_sum_extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    extents = products_extents(numbers, dtype)
    return *extents, extents[0]


def convolution_extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    _, channels, _, *image = numbers
    result, _, *rest = products_extents(numbers, dtype)
    return result, *parts_extents((channels, *image), dtype), *rest


def parts_extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, int]:
    """Patches of as many groups as stay near for each part, and planes; numbers as for `winograd_transform`."""
    channels, *_ = numbers
    size = POINTS * point_stride(channels)
    together = max(1, NEAR_PATCHES // (size * dtype.itemsize))
    return PARTS * together * size, transform_extents(numbers, dtype)[1]


def sum_extents(numbers: Numbers, dtype: np.dtype) -> tuple[int, ...]:
    extents = convolution_extents(numbers, dtype)
    return *extents, extents[0]


def count_transform_steps(numbers: Numbers) -> int:
    """Elements that are read, moved to planes, added to others twice, and written four times."""
    channels, rows, columns = numbers
    return 8 * channels * rows * columns


def count_steps(numbers: Numbers) -> int:
    features, channels, _, rows, columns = numbers
    return features * channels * POINTS * group_count(rows, columns) * GROUP


FACTORS = (0, 1, 3, 4)
"""Features, channels, rows and columns."""
WINOGRAD_TRANSFORM = Meaning(2, transform_extents, transform, steps=count_transform_steps, factors=(0, 1, 2))
WINOGRAD_PRODUCTS = Meaning(1, products_extents, multiply, steps=count_steps, factors=FACTORS)
WINOGRAD_PRODUCTS_SUM = Meaning(1, products_sum_extents, multiply, steps=count_steps, factors=FACTORS)
WINOGRAD_CONVOLUTION = Meaning(3, convolution_extents, convolve, steps=count_steps, factors=FACTORS)
WINOGRAD_CONVOLUTION_SUM = Meaning(3, sum_extents, convolve, steps=count_steps, factors=FACTORS)
