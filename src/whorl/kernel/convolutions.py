"""Kernels of windows over images: spreading an image, convolution, sums and maxima a plane."""

from __future__ import annotations

import math

import numpy as np

from whorl.kernel.kernel import Kernel
from whorl.ops.windows.packed_filters import WIDEST_BYTES, from_blocks, span_of_places

Numbers = tuple[int, ...]


def _beyond(dtype: np.dtype) -> int:
    return WIDEST_BYTES // dtype.itemsize


# ---- spreading -----------------------------------------------------------------------------------------------


def _spread_image(s: np.ndarray, x: np.ndarray, fill: int, channels: int, plane: int, *axes: int) -> None:
    rows = [axes[k : k + 5] for k in range(0, len(axes), 5)]
    lengths, begins, strides, phases, spread = zip(*rows, strict=True)
    image = x.reshape(channels, *lengths)
    planes = s[: channels * plane].reshape(channels, plane)[:, : math.prod((*phases, *spread))]
    target = planes.reshape(channels, *phases, *spread)
    target[...] = -np.inf if fill else 0
    for phase in np.ndindex(*phases):
        wanted = [np.arange(n) * s + f - b for n, s, f, b in zip(spread, strides, phase, begins, strict=True)]
        inside = [np.flatnonzero((w >= 0) & (w < n)) for w, n in zip(wanted, lengths, strict=True)]
        taken = [w[i] for w, i in zip(wanted, inside, strict=True)]
        every = np.arange(channels)
        target[(slice(None), *phase)][np.ix_(every, *inside)] = image[np.ix_(every, *taken)]  # type: ignore


def _spread_extents(fill: int, channels: int, plane: int, *rest: int) -> Numbers:
    *axes, dtype = rest
    return channels * plane + _beyond(dtype), channels * math.prod(axes[::5])  # type: ignore


# ---- windows -------------------------------------------------------------------------------------------------


def _places(depth: int, rows: int, width: int, row_pitch: int, pitch: int) -> np.ndarray:
    """The place of every window."""
    d, r, w = np.ogrid[:depth, :rows, :width]
    return ((d * row_pitch + r) * pitch + w).reshape(-1)


def _bounded(sums: np.ndarray, limits: np.ndarray, bounded: int) -> np.ndarray:
    return np.minimum(np.maximum(sums, limits[0]), limits[1]) if bounded else sums


def _convolution(y: np.ndarray, *rest: np.ndarray | int) -> None:
    arrays, numbers = _split(rest)
    image, offsets, filters, bias, limits, *added = arrays
    features, _, bounded, _, _, *windows = numbers
    columns = image[offsets[:, None] + _places(*windows)]
    sums = from_blocks(filters, features) @ columns + bias[:, None]
    if added:
        sums += added[0].reshape(sums.shape)
    y.reshape(sums.shape)[...] = _bounded(sums, limits, bounded)


def _plane_sums(y: np.ndarray, *rest: np.ndarray | int) -> None:
    (image, offsets, weights, bias, limits), (_, bounded, _, *windows) = _split(rest)
    y[...] = _bounded(weights @ image[offsets[:, None] + _places(*windows)] + bias, limits, bounded)


def _plane_maxima(y: np.ndarray, *rest: np.ndarray | int) -> None:
    (image, offsets), (_, _, *windows) = _split(rest)
    y[...] = image[offsets[:, None] + _places(*windows)].max(axis=0)


def _split(rest: tuple[np.ndarray | int, ...]) -> tuple[list[np.ndarray], list[int]]:
    arrays = [x for x in rest if isinstance(x, np.ndarray)]
    return arrays, [int(x) for x in rest if not isinstance(x, np.ndarray)]


def _image_extent(reach: int, windows: Numbers, dtype: np.dtype) -> int:
    return reach + max(span_of_places(*windows), _beyond(dtype))


def _convolution_extents(features: int, inner: int, bounded: int, together: int, reach: int, *rest: int) -> Numbers:
    *windows, dtype = rest
    image = _image_extent(reach, tuple(windows), dtype)  # type: ignore[arg-type]
    made = features * math.prod(windows[:3])
    return made, image, inner, features * inner, features, 2 * bounded


def _convolution_sum_extents(*numbers: int) -> Numbers:
    extents = _convolution_extents(*numbers)
    return *extents, extents[0]


def _sums_extents(taps: int, bounded: int, reach: int, *rest: int) -> Numbers:
    *windows, dtype = rest
    image = reach + span_of_places(*windows) + _beyond(dtype)  # type: ignore[arg-type]
    return math.prod(windows[:3]), image, taps, taps, 1, 2 * bounded


def _maxima_extents(taps: int, reach: int, *rest: int) -> Numbers:
    *windows, dtype = rest
    return math.prod(windows[:3]), reach + span_of_places(*windows) + _beyond(dtype), taps  # type: ignore


def _spread_steps(fill: int, channels: int, plane: int, *axes: int) -> int:
    return channels * plane


def _convolution_steps(features: int, inner: int, bounded: int, together: int, reach: int, *windows: int) -> int:
    return features * inner * span_of_places(*windows)


def _plane_steps(taps: int, *rest: int) -> int:
    return taps * math.prod(rest[-5:-2])


CONVOLUTIONS = (
    Kernel("spread_image", 1, _spread_extents, _spread_image, steps=_spread_steps),
    Kernel("convolution", 1, _convolution_extents, _convolution, (2,), steps=_convolution_steps),
    Kernel("convolution_sum", 1, _convolution_sum_extents, _convolution, (2,), steps=_convolution_steps),
    Kernel("plane_sums", 1, _sums_extents, _plane_sums, (2,), steps=_plane_steps),
    Kernel("plane_maxima", 1, _maxima_extents, _plane_maxima, (2,), steps=_plane_steps),
)
"""`windows` are five numbers: windows along three axes, rows of a slice, elements of a row. The window (d, r, w) has
the place (d * rows + r) * elements + w, and tap k reads the image at its place + offsets[k].

`spread_image`: s = the image x [channels, axes] spread (`ops.filters.Spread`), with 0 or, for fill 1, minus infinity
outside; numbers fill, channels, elements of a plane, and five an axis. `convolution`: y[m, window] = sum over k of
filters[m, k] * image + bias[m], kept inside limits[0] and limits[1] if bounded; numbers features, taps, bounded,
together (how many windows go by a filter before the next one has its turn), reach (the largest offset), windows.
`convolution_sum` adds a tensor like y, the last place, before it is bounded. `plane_sums`: the same for one feature,
filters by tap; numbers taps, bounded, reach, windows. `plane_maxima`: the largest element, NaN above all; numbers taps,
reach, windows.

Sums are float32 or float64, in ascending order of k from 0, every step fused where the machine can."""
