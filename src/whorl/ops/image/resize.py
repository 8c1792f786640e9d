"""Resize: a tensor stretched or shrunk along some of its axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import COMPLEX, FLOAT32, FLOAT64, FLOATS, INT64, STRING, is_float, is_integer
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import AnyShape, Fact, TensorType, tensor
from whorl.ops.core.base import (
    check_types,
    dims_of,
    known_dims,
    known_length,
    normal_axis,
    require_dtype,
    unknown_shape,
    widen,
)
from whorl.ops.image.native_resampling import (
    EXACT_BITS,
    LONGEST,
    extrapolated,
    numbers,
    picked,
    resampled,
    rounded_view,
)
from whorl.ops.image.resampling import COORDINATES, ROUNDINGS, AxisResize, Filter, pick, resample, rounded
from whorl.ops.native.index_maps import cast_view, fixed_lengths, widen_view

POLICIES = ("stretch", "not_larger", "not_smaller")


@dataclass(frozen=True)
class Resize(Op):
    """Every output element is a weighted sum of the input elements around its position, or the nearest one.

    Inputs: X, roi, scales, sizes; the last two exclude each other and an empty one is as good as omitted, roi matters
    to tf_crop_and_resize only. Their entries belong to `axes`, all axes where it is None. An axis gets as many elements
    as sizes says, or floor(length * scale) in float32, whatever roi is. The formulas' length_resized is scale * length,
    a fraction maybe. 16-bit floats are computed in float32, integers in float64 and then rounded.
    Source: ONNX Resize-19 and its backend tests.
    """

    antialias: int = 0
    axes: tuple[int, ...] | None = None
    coordinate_transformation_mode: str = "half_pixel"
    cubic_coeff_a: float = -0.75
    exclude_outside: int = 0
    extrapolation_value: float = 0.0
    keep_aspect_ratio_policy: str = "stretch"
    mode: str = "nearest"
    nearest_mode: str = "round_prefer_floor"

    def infer(
        self, x: Fact, roi: Fact | None = None, scales: Fact | None = None, sizes: Fact | None = None
    ) -> TensorType:
        self._check_attributes(tensor(x).dtype)
        for what, fact, dtype in (("scales", scales, FLOAT32), ("sizes", sizes, INT64)):
            if fact is not None:
                require_dtype(tensor(fact).dtype, frozenset((dtype,)))
                dims_of(fact, 1, what)
        scales, sizes = (None if f is None or known_length(f) == 0 else f for f in (scales, sizes))
        if scales is None and sizes is None:
            raise TypeRuleError("has neither scales nor sizes", fix="give one of them")
        if scales is not None and sizes is not None and known_length(scales) and known_length(sizes):
            raise TypeRuleError("has both scales and sizes", fix="give one of them")
        operands = [fact for fact in (scales, sizes) if fact is not None]
        entries = known_length(operands[0]) if len(operands) == 1 else None
        shape = tensor(x).shape
        if isinstance(shape, AnyShape):
            return tensor(x).with_shape(unknown_shape(None if self.axes is not None else entries))
        axes = self._axes(len(shape))
        if entries is not None and entries != len(axes):
            raise TypeRuleError(f"{'sizes' if scales is None else 'scales'} has {entries} entries for {len(axes)} axes")
        lengths = [shape[axis] for axis in axes]
        if scales is None:
            resized = self._sized(lengths, known_dims(sizes))
        else:
            resized = _scaled(lengths, None if sizes is not None else known_dims(scales))
        return tensor(x).with_shape(_replaced(shape, axes, resized))

    def _check_attributes(self, dtype: np.dtype) -> None:
        allowed = {
            "coordinate_transformation_mode": COORDINATES,
            "keep_aspect_ratio_policy": POLICIES,
            "mode": ("nearest", "linear", "cubic"),
            "nearest_mode": tuple(ROUNDINGS),
        }
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise TypeRuleError(f"{name} is {getattr(self, name)!r}", fix=f"one of {', '.join(values)}")
        if dtype == STRING and self.mode != "nearest":
            raise TypeRuleError(f"cannot interpolate strings with mode {self.mode}", fix="mode nearest")

    def _axes(self, rank: int) -> list[int]:
        axes = range(rank) if self.axes is None else self.axes
        return [normal_axis(axis, rank, "axes has") for axis in axes]

    def _sized(self, lengths: Sequence[Dim], sizes: Sequence[Dim] | None) -> Sequence[Dim]:
        """The lengths that sizes and the policy give."""
        if sizes is None:
            return [UNKNOWN] * len(lengths)
        if self.keep_aspect_ratio_policy == "stretch":
            return sizes
        factor = self._common_factor(lengths, sizes)
        if factor is None:
            return [UNKNOWN] * len(lengths)
        return [math.floor(factor * length + 0.5) for length in lengths]  # type: ignore[operator]

    def _common_factor(self, lengths: Sequence[Dim], sizes: Sequence[Dim]) -> float | None:
        """The one scale of a policy that keeps the aspect ratio; None where a length is not known."""
        if not all(isinstance(n, int) for n in (*lengths, *sizes)):
            return None
        ratios = [size / length for size, length in zip(sizes, lengths, strict=True) if length]  # type: ignore[operator]
        return (min if self.keep_aspect_ratio_policy == "not_larger" else max)(ratios, default=1.0)

    def run(
        self,
        x: np.ndarray,
        roi: np.ndarray | None = None,
        scales: np.ndarray | None = None,
        sizes: np.ndarray | None = None,
    ) -> np.ndarray:
        (type,) = check_types(self, x, roi, scales, sizes)
        if 0 in type.shape:  # type: ignore[union-attr]
            return np.zeros(type.shape, x.dtype)  # type: ignore[union-attr]
        axis_resizes = self.axis_resizes(x.shape, type.shape, roi, scales, sizes)  # type: ignore[union-attr]
        coordinates = self.coordinate_transformation_mode
        changing = {i: s for i, s in axis_resizes.items() if not s.is_identity(coordinates)}
        result = x if self.mode == "nearest" or not changing else _computed(x)
        kernel = Filter(self.mode == "cubic", self.cubic_coeff_a, bool(self.antialias), bool(self.exclude_outside))
        for index, resize in changing.items():
            if self.mode == "nearest":
                result = pick(result, index, resize, coordinates, self.nearest_mode)
            else:
                result = resample(result, index, resize, kernel, coordinates)
        result = result if result.dtype == x.dtype else rounded(result, x.dtype)
        return self._extrapolated(result, changing)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, roi, scales, sizes = inputs[0], *(inputs.optional(n) for n in (1, 2, 3))
        target, axes = fixed_lengths(outputs[0]), self._axes(len(inputs[0].shape))
        factors = None if scales is None or not scales.size else numbers(scales)
        known_sizes = numbers(sizes, INT64) if sizes is not None and sizes.size else None
        is_sized = scales is None or not scales.size
        if known_sizes is None and is_sized and self.keep_aspect_ratio_policy == "stretch":
            known_sizes = np.array([target[axis] for axis in axes], np.int64)
        part = numbers(roi)
        is_cropped = self.coordinate_transformation_mode == "tf_crop_and_resize"
        if (known_sizes is None and factors is None) or (
            is_cropped and (part is None or part.shape != (2 * len(axes),))
        ):
            return None
        return self._lower(k, x, self.axis_resizes(x.fixed_shape, target, part, factors, known_sizes))

    def _lower(self, k: NativeBuilder, x: View, axis_resizes: dict[int, AxisResize]) -> Sequence[View] | None:
        mode, coordinates = self.mode, self.coordinate_transformation_mode
        changing = {i: s for i, s in axis_resizes.items() if not s.is_identity(coordinates)}
        if any((s.count and not s.length) or not 0 <= s.count <= LONGEST for s in changing.values()):
            return None
        result, dtype = x, x.dtype
        if mode == "nearest":
            for index, resize in changing.items():
                result = picked(k, result, index, resize, coordinates, self.nearest_mode)
        elif changing:
            if is_integer(dtype) and 8 * dtype.itemsize > EXACT_BITS:
                return None
            result = widen_view(k, x) if is_float(dtype) else cast_view(k, x, FLOAT64)
            kernel = Filter(mode == "cubic", self.cubic_coeff_a, bool(self.antialias), bool(self.exclude_outside))
            if any(s.count * len(kernel.taps(s, coordinates)[0]) > LONGEST for s in changing.values()):
                return None
            for index, resize in changing.items():
                result = resampled(k, result, index, resize, kernel, coordinates)
            result = rounded_view(k, result, dtype)
        outside = {index: resize.outside(coordinates) for index, resize in changing.items()}
        return [extrapolated(k, result, outside, self.extrapolation_value)]

    def axis_resizes(
        self, shape: Sequence[int], target: Any, roi: Any, scales: Any, sizes: Any
    ) -> dict[int, AxisResize]:
        """How each of the axes is resized."""
        axes = self._axes(len(shape))
        factors: list[float | None] = [None] * len(axes)
        if scales is not None and scales.size:
            factors = [float(scale) for scale in scales]
        elif self.keep_aspect_ratio_policy != "stretch":
            factors = [self._common_factor([shape[axis] for axis in axes], sizes.tolist())] * len(axes)
        parts = [(0.0, 1.0)] * len(axes)
        if self.coordinate_transformation_mode == "tf_crop_and_resize":
            if roi is None or roi.shape != (2 * len(axes),):
                raise RunError(f"tf_crop_and_resize needs a roi of {2 * len(axes)} entries")
            parts = [(float(start), float(end)) for start, end in zip(roi[: len(axes)], roi[len(axes) :], strict=True)]
        rows = zip(axes, factors, parts, strict=True)
        return {axis: AxisResize(shape[axis], target[axis], factor, part) for axis, factor, part in rows}

    def _extrapolated(self, value: np.ndarray, axis_resizes: dict[int, AxisResize]) -> np.ndarray:
        """The value with the elements that lie outside the input replaced."""
        outside = np.zeros((1,) * value.ndim, np.bool_)
        for index, resize in axis_resizes.items():
            column = (-1, *(1,) * (value.ndim - index - 1))
            outside = outside | resize.outside(self.coordinate_transformation_mode).reshape(column)
        if not outside.any():
            return value
        return np.where(outside, np.array(self.extrapolation_value).astype(value.dtype), value)


def _scaled(lengths: Sequence[Dim], scales: Sequence[Any] | None) -> Sequence[Dim]:
    if scales is None:
        return [UNKNOWN] * len(lengths)
    return [_scaled_length(length, scale) for length, scale in zip(lengths, scales, strict=True)]


def _scaled_length(length: Dim, scale: Any) -> Dim:
    """floor(length * scale), the product rounded to float32 unless it is whole."""
    if not isinstance(scale, float):
        return UNKNOWN
    if not scale > 0 or math.isinf(scale):
        raise TypeRuleError(f"a scale is {scale}, expected a positive number")
    if scale.is_integer():
        return length * int(scale)
    if isinstance(length, int):
        return int(np.floor(np.float32(length) * np.float32(scale)))
    mantissa, exponent = math.frexp(scale)
    return dims.call("floor", length, 2 ** (1 - exponent)) if mantissa == 0.5 else UNKNOWN


def _replaced(shape: Sequence[Dim], axes: Sequence[int], lengths: Sequence[Dim]) -> tuple[Dim, ...]:
    changed = dict(zip(axes, lengths, strict=True))
    return tuple(changed.get(axis, length) for axis, length in enumerate(shape))


def _computed(x: np.ndarray) -> np.ndarray:
    """The numbers in the element type that interpolation is computed in."""
    return widen(x) if x.dtype in FLOATS | COMPLEX else x.astype(FLOAT64)
