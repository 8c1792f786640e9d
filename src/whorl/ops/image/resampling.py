"""Resampling along one axis: where each output element lies on the input, and which input elements it weighs."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
from msgspec import Struct

from whorl.errors import RunError
from whorl.ir.dtypes import BOOL, COMPLEX, is_integer

COORDINATES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_crop_and_resize",
)
ROUNDINGS = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


class AxisResize(Struct, frozen=True):
    """One axis of `length` elements resized to `count`. `scale` is the factor asked for, None where a size was.

    `resized` is scale * length, which may be a fraction; `roi` is the part of the axis that is shown.
    """

    length: int
    count: int
    scale: float | None = None
    roi: tuple[float, float] = (0.0, 1.0)

    @property
    def resized(self) -> float:
        return self.count if self.scale is None else self.scale * self.length

    @property
    def factor(self) -> float:
        """The scale, also where a size was asked for."""
        return self.count / self.length if self.scale is None else self.scale

    def positions(self, mode: str, precision: type[np.floating] = np.float64) -> np.ndarray:
        """The position of every output element, counted in input elements; by the formulas of ONNX Resize-19.

        Quotients by a scale are rounded to `precision`.
        """
        x = np.arange(self.count, dtype=np.float64)
        last = self.length - 1
        match mode:
            case "asymmetric":
                return self._divided(x, precision)
            case "align_corners":
                return x * last / (self.resized - 1) if self.resized != 1 else x * 0
            case "tf_crop_and_resize":
                start, end = self.roi
                if self.resized <= 1:
                    return np.full(self.count, 0.5 * (start + end) * last)
                return start * last + x * (end - start) * last / (self.resized - 1)
            case "pytorch_half_pixel" if self.resized <= 1:
                return x * 0
            case "half_pixel_symmetric":
                shift = self.length / 2 * (1 - self.count / self.resized)
                return shift + self._divided(x + 0.5, precision) - 0.5
            case _:
                pass
        return self._divided(x + 0.5, precision) - 0.5

    def _divided(self, x: np.ndarray, precision: type[np.floating]) -> np.ndarray:
        """`x / scale`; a quotient of whole lengths where a size was asked for."""
        if self.scale is None:
            return x * self.length / self.count
        return (x / self.scale).astype(precision).astype(np.float64)

    def is_identity(self, mode: str) -> bool:
        """Whether the axis stays what it is."""
        shown = mode != "tf_crop_and_resize" or self.roi == (0.0, 1.0)
        return shown and self.count == self.length and self.scale in (None, 1)

    def outside(self, mode: str) -> np.ndarray:
        """The output elements that lie outside the input and get the extrapolation value."""
        if mode != "tf_crop_and_resize":
            return np.zeros(self.count, np.bool_)
        positions = self.positions(mode)
        return (positions < 0) | (positions > self.length - 1)


class Filter(Struct, frozen=True):
    """A kernel of interpolation: `linear`, or `cubic` with the coefficient `a`.

    With `antialias` it widens by 1 / scale where an axis shrinks. Places outside the input repeat its edge, or with
    `exclude_outside` do not count.
    """

    cubic: bool
    a: float = -0.75
    antialias: bool = False
    exclude_outside: bool = False

    def weigh(self, distance: np.ndarray) -> np.ndarray:
        """The weight of an element at a distance."""
        d, a = np.abs(distance), self.a
        if not self.cubic:
            return np.maximum(0, 1 - d)
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
        return np.where(d <= 1, near, np.where(d < 2, far, 0))

    def taps(self, axis: AxisResize, mode: str) -> tuple[np.ndarray, np.ndarray]:
        """Input elements and their weights, both [taps, output elements]."""
        positions = axis.positions(mode)
        filter_scale = min(1.0, axis.factor) if self.antialias else 1.0
        reach = (2 if self.cubic else 1) / filter_scale
        first = np.floor(positions - reach) + 1
        elements = first + np.arange(math.ceil(2 * reach))[:, None]
        weights = self.weigh((elements - positions) * filter_scale)
        if self.exclude_outside:
            weights = np.where((elements < 0) | (elements >= axis.length), 0, weights)
        if self.antialias or self.exclude_outside:
            totals = weights.sum(axis=0)
            weights = weights / np.where(totals == 0, 1, totals)
        return np.clip(elements, 0, axis.length - 1).astype(np.intp), weights


def resample(x: np.ndarray, index: int, axis: AxisResize, kernel: Filter, mode: str) -> np.ndarray:
    """One axis of x interpolated, in x's element type."""
    elements, weights = kernel.taps(check_axis(axis), mode)
    column = (-1, *(1,) * (x.ndim - index - 1))
    result = np.zeros((*x.shape[:index], axis.count, *x.shape[index + 1 :]), x.dtype)
    for chosen, weight in zip(elements, weights, strict=True):
        result += x.take(chosen, axis=index) * weight.astype(real_dtype(x.dtype)).reshape(column)
    return result


def real_dtype(dtype: np.dtype) -> np.dtype:
    """The element type of weights for numbers of an element type."""
    return np.finfo(dtype).dtype if dtype in COMPLEX else dtype


def pick(x: np.ndarray, index: int, axis: AxisResize, mode: str, rounding: str) -> np.ndarray:
    """The nearest elements along one axis of x; a scale is a float32, so a position is no more precise than that."""
    positions = check_axis(axis).positions(mode, np.float32)
    nearest = ROUNDINGS[rounding](positions if axis.scale is None else positions.astype(np.float32))
    return x.take(np.clip(nearest, 0, axis.length - 1).astype(np.intp), axis=index)


def check_axis(axis: AxisResize) -> AxisResize:
    """Refuse to make elements out of none."""
    if axis.count and not axis.length:
        raise RunError(f"an axis of length 0 cannot be resized to {axis.count}")
    return axis


def rounded(value: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Interpolated numbers in the element type of the input: integers to the nearest, halves to even, and saturated."""
    if dtype == BOOL:
        return np.rint(value).astype(np.bool_)
    if not is_integer(dtype):
        return value.astype(dtype, copy=False)
    limits = ml_dtypes.iinfo(dtype)
    result = np.clip(np.rint(value), limits.min, limits.max).astype(dtype)
    return np.where(value >= float(limits.max), np.array(limits.max, dtype), result)
