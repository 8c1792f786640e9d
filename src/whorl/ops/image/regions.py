"""Pooling over regions of interest: each box of an image becomes a small image of fixed size."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import Fact, TensorType
from whorl.ops.core.base import COMPUTED_FLOATS, check_types, dims_of, require_dtype, same_dtype, unify_lengths, widen
from whorl.ops.image.native_regions import Cells, regions_aligned
from whorl.ops.native.index_maps import cast_view, widen_view

MOST_SAMPLES = 1 << 22
"""Points of all cells of a region along one axis."""
Samples = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Two neighbours along an axis and their weights, all [bins, samples of a bin]."""


class MaxRoiPool(Op, frozen=True):
    """The largest element in each cell of a grid laid over each region, 0 in an empty cell.

    Inputs: X [N, C, H, W], rois [R, 5] as (image, x1, y1, x2, y2); output [R, C, *pooled_shape]. Corners times
    spatial_scale are rounded, halves away from zero, and belong to the region. Source: ONNX MaxRoiPool-22.
    """

    pooled_shape: tuple[int, ...]
    spatial_scale: float = 1.0

    def infer(self, x: Fact, rois: Fact) -> TensorType:
        dtype = same_dtype(x, rois)
        require_dtype(dtype, COMPUTED_FLOATS)
        if len(self.pooled_shape) != 2:
            raise TypeRuleError(f"pooled_shape has {len(self.pooled_shape)} entries, expected 2")
        count, columns = dims_of(rois, 2, "rois")
        unify_lengths("the number of columns of rois", columns, 5)
        return TensorType(dtype, (count, dims_of(x, 4, "X")[1], *self.pooled_shape))

    def run(self, x: np.ndarray, rois: np.ndarray) -> np.ndarray:
        check_types(self, x, rois)
        y = np.zeros((len(rois), x.shape[1], *self.pooled_shape), x.dtype)
        for roi, result in zip(widen(rois), y, strict=True):
            image = x[image_index(int(roi[0]), len(x))]
            scaled = roi[1:] * roi.dtype.type(self.spatial_scale)
            left, top, right, bottom = (np.sign(scaled) * np.floor(np.abs(scaled) + 0.5)).astype(np.int64).tolist()
            rows = _cells(top, bottom, self.pooled_shape[0], image.shape[1])
            columns = _cells(left, right, self.pooled_shape[1], image.shape[2])
            for i, row in enumerate(rows):
                for j, column in enumerate(columns):
                    cell = image[:, row, column]
                    if cell.size:
                        result[:, i, j] = cell.max(axis=(1, 2))
        return y


def _cells(first: int, last: int, bins: int, length: int) -> list[slice]:
    """A region's extent along an axis cut into bins that may overlap by one element, clipped to the axis."""
    size = np.float32(max(last - first + 1, 1)) / np.float32(bins)
    edges = [(math.floor(i * size), math.ceil((i + 1) * size)) for i in range(bins)]
    return [slice(*(min(max(first + edge, 0), length) for edge in pair)) for pair in edges]


class RoiAlign(Op, frozen=True):
    """The mean, or the maximum, of points sampled bilinearly in each cell of a grid laid over each region.

    Inputs: X [N, C, H, W], rois [R, 4] as (x1, y1, x2, y2), batch_indices [R]; output [R, C, height, width]. A cell
    has sampling_ratio points along each axis, or ceil(region / cells) where that is 0. Points more than one
    element outside X are 0. The maximum is over the weighted neighbours of the points, not over their sums.
    16-bit floats are computed in float32. Source: ONNX RoiAlign-22 and its backend tests.
    """

    any_length = True

    coordinate_transformation_mode: str = "half_pixel"
    mode: str = "avg"
    output_height: int = 1
    output_width: int = 1
    sampling_ratio: int = 0
    spatial_scale: float = 1.0

    def infer(self, x: Fact, rois: Fact, images: Fact) -> TensorType:
        dtype = same_dtype(x, rois)
        require_dtype(dtype, COMPUTED_FLOATS)
        require_dtype(same_dtype(images), frozenset((INT64,)))
        allowed = {"coordinate_transformation_mode": ("half_pixel", "output_half_pixel"), "mode": ("avg", "max")}
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise TypeRuleError(f"{name} is {getattr(self, name)!r}", fix=f"one of {', '.join(values)}")
        count, columns = dims_of(rois, 2, "rois")
        unify_lengths("the number of columns of rois", columns, 4)
        count = unify_lengths("the number of regions", count, *dims_of(images, 1, "batch_indices"))
        return TensorType(dtype, (count, dims_of(x, 4, "X")[1], self.output_height, self.output_width))

    def run(self, x: np.ndarray, rois: np.ndarray, images: np.ndarray) -> np.ndarray:
        check_types(self, x, rois, images)
        y = np.zeros((len(rois), x.shape[1], self.output_height, self.output_width), x.dtype)
        shift = 0.5 if self.coordinate_transformation_mode == "half_pixel" else 0.0
        for roi, index, result in zip(widen(rois), images.tolist(), y, strict=True):
            image = widen(x[image_index(index, len(x))])
            left, top, right, bottom = roi * roi.dtype.type(self.spatial_scale) - roi.dtype.type(shift)
            rows = self._samples(top, bottom, self.output_height, image.shape[1])
            columns = self._samples(left, right, self.output_width, image.shape[2])
            if rows[0].size and columns[0].size and image.size:
                result[...] = _means(image, rows, columns) if self.mode == "avg" else _maxima(image, rows, columns)
        return y

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, rois, images = inputs
        shift = 0.5 if self.coordinate_transformation_mode == "half_pixel" else 0.0
        cells = Cells(self.spatial_scale, shift, not shift, self.sampling_ratio, self.mode == "max")
        wide = k.materialise(widen_view(k, x)), widen_view(k, rois)
        shape = (rois.shape[0], x.shape[1], self.output_height, self.output_width)
        y = regions_aligned(k, *wide, images, shape, cells)
        return None if y is None else [cast_view(k, y, x.dtype)]

    def _samples(self, start: np.floating, end: np.floating, bins: int, length: int) -> Samples:
        """The points along one axis."""
        extent = end - start
        if self.coordinate_transformation_mode == "output_half_pixel":
            extent = np.maximum(extent, extent.dtype.type(1))
        size = extent / extent.dtype.type(bins)
        count = self.sampling_ratio if self.sampling_ratio > 0 else max(0, math.ceil(size))
        if count * bins > MOST_SAMPLES:
            raise RunError(f"a region has {count} points a cell along an axis", fix="set sampling_ratio")
        offsets = (np.arange(count, dtype=size.dtype) + size.dtype.type(0.5)) * size / size.dtype.type(max(1, count))
        points = start + np.arange(bins, dtype=size.dtype)[:, None] * size + offsets
        inside = (points >= -1) & (points <= length)
        points = np.clip(points, 0, max(0, length - 1))
        low = np.floor(points).astype(np.intp)
        part = points - low.astype(points.dtype)
        return low, np.minimum(low + 1, max(0, length - 1)), (1 - part) * inside, part * inside


def image_index(index: int, count: int) -> int:
    """The index of an image in a batch, or a RunError."""
    if not 0 <= index < count:
        raise RunError(f"a region lies on image {index} of a batch of {count}")
    return index


def _means(image: np.ndarray, rows: Samples, columns: Samples) -> np.ndarray:
    """The mean over the points of each cell; both axes apart, since a point's weight is a product."""
    return _averaged(_averaged(image, rows).swapaxes(1, 2), columns).swapaxes(1, 2)


def _averaged(image: np.ndarray, samples: Samples) -> np.ndarray:
    """[C, bins, ...] of [C, length, ...]: the mean of each bin's points, of which the neighbours alone are read."""
    low, high, before, after = samples
    points = image[:, low] * before[:, :, None] + image[:, high] * after[:, :, None]
    return points.sum(axis=2) / image.dtype.type(low.shape[1])


def _maxima(image: np.ndarray, rows: Samples, columns: Samples) -> np.ndarray:
    """The largest weighted neighbour of the points of each cell."""
    best = np.full((len(image), len(rows[0]), len(columns[0])), -np.inf, image.dtype)
    for row, row_weight in (rows[::2], rows[1::2]):
        for column, column_weight in (columns[::2], columns[1::2]):
            values = image[:, row[:, :, None, None], column] * (row_weight[:, :, None, None] * column_weight)
            best = np.maximum(best, values.max(axis=(2, 4)))
    return best
