"""Winograd's F(2 x 2, 3 x 3): where its transformed images and filters lie, and where it pays.

Results are taken in patches of 2 x 2, each of which a patch of 4 x 4 elements has a part in. With the matrices B, G and
A of the algorithm (Lavin and Gray, https://arxiv.org/abs/1509.09308) a patch of results is A'[sum of (G g G') * (B' d
B)]A over the channels, for filters g and elements d: at each of 16 points the transformed filters are multiplied by the
transformed patches, as matrices are.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from whorl.ir.elements.mapping import note_read
from whorl.kernels.convolution.layout import pack_filters, unpack_filters
from whorl.kernels.machine import CHANNEL_STEP
from whorl.kernels.plane.layout import AroundElements
from whorl.llvm.value import Index

Number = TypeVar("Number", int, Index)
POINTS = 16
GROUP = 32
"""Patches that lie side by side, for every width of vectors."""
LEAST_PATCHES, LEAST_CHANNELS = 32, 16
"""Patches from which reading the filters, which are 16/9 times as large, takes less time than is spared, and channels
from which products take far longer than transforms."""
ADDITIONS = 96
"""Products that take about as long as it takes to transform a patch of a channel, or of a feature."""

_TAP_POINTS = [0, 1, 3]
"""The point along an axis at which a tap is, or has the point 2 added."""


def patch_counts(rows: Number, columns: Number) -> tuple[Number, Number]:
    """Patches along both axes of an image."""
    return (rows + 1) // 2, (columns + 1) // 2


def group_count(rows: Number, columns: Number) -> Number:
    down, across = patch_counts(rows, columns)
    return (down * across + (GROUP - 1)) // GROUP


def point_stride(channels: Number) -> Number:
    """Elements from one point of a group of patches to the next: not a power of two, so that no set of a cache has all
    points of a channel."""
    return channels * GROUP + CHANNEL_STEP


def plane_size(rows: Number, columns: Number) -> Number:
    """Elements of one of the four planes of even and odd rows and columns: whole vectors.

    Patches have some elements before the first row, and some behind the last one.
    """
    _, across = patch_counts(rows, columns)
    return ((across + (GROUP - 1)) // GROUP + group_count(rows, columns) + 2) * GROUP


def pays(layout: object, channels: int, features: int) -> bool:
    """Whether a convolution with such a layout takes less time so, of so many channels and features of a group."""
    if not isinstance(layout, AroundElements) or channels < LEAST_CHANNELS:
        return False
    if any((a.kernel, a.dilation, a.begin) != (3, 1, 1) for a in layout.axes):
        return False
    rows, columns = layout.counts
    down, across = patch_counts(rows, columns)
    if down * across < LEAST_PATCHES:
        return False
    products = POINTS * features * channels * group_count(rows, columns) * GROUP
    return products + ADDITIONS * down * across * (features + channels) < 9 * features * channels * rows * columns


def transform_filters(filters: np.ndarray) -> np.ndarray:
    """Filters [group, features, channels * 9] as [group, features * 16 * channels]: packed, point by point.

    Of nine taps whose sums are not all finite the points are the taps themselves, and NaN along the point 2 of both
    axes: all results are NaN at first, and computed by taps that are known exactly.
    """
    group, features, taps = filters.shape
    along = np.ascontiguousarray(filters.reshape(group, features, taps // 9, 9).transpose(3, 0, 1, 2))
    points = np.empty((group, features, POINTS, taps // 9), filters.dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        columns = [_transform_axis(*along[j::3]) for j in range(3)]
        for i in range(4):
            for j, point in enumerate(_transform_axis(*(column[i] for column in columns))):
                points[:, :, 4 * i + j] = point
    if not np.isfinite(points).all():
        _keep_taps(points, along)
    note_read(filters)
    return pack_filters(points.reshape(group, features, -1))


def _keep_taps(points: np.ndarray, along: np.ndarray) -> None:
    for position in zip(*np.nonzero(~np.isfinite(points).all(axis=2)), strict=True):
        block = np.full((4, 4), np.nan)
        block[np.ix_(_TAP_POINTS, _TAP_POINTS)] = along[(slice(None), *position)].reshape(3, 3)
        points[position[0], position[1], :, position[2]] = block.reshape(-1)


def _transform_axis(first: np.ndarray, middle: np.ndarray, last: np.ndarray) -> list[np.ndarray]:
    """G g along an axis."""
    ends, half = (first + last) / 2, middle / 2
    return [first, ends + half, ends - half, last]


def points_of(packed: np.ndarray, features: int) -> np.ndarray:
    """The transformed filters [features, 4, 4, channels] of one group."""
    return unpack_filters(packed, features).reshape(features, 4, 4, -1)


def untransform_filters(packed: np.ndarray, features: int) -> np.ndarray:
    """The filters [features, channels * 9] of one group, but for rounding."""
    return filters_of(points_of(packed, features)).reshape(features, -1)


def filters_of(points: np.ndarray) -> np.ndarray:
    """The filters [features, channels, 3, 3] that were transformed to points [features, 4, 4, channels]."""
    return _taps(_taps(points, 1), 2).transpose(0, 3, 1, 2)


def _taps(points: np.ndarray, axis: int) -> np.ndarray:
    taps = points.take(_TAP_POINTS, axis)
    middle, added = taps.swapaxes(0, axis)[1], points.swapaxes(0, axis)[2]
    middle -= np.where(np.isnan(added), 0, added)
    return taps
