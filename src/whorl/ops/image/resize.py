"""Resize: a tensor stretched or shrunk along some of its axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import COMPLEX, FLOAT32, FLOAT64, FLOATS, INT64, STRING, is_float, is_integer
from whorl.ir.graph import Op
from whorl.ir.intervals import Intervals
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View, fixed
from whorl.ir.types import AnyShape, Fact, TensorType, tensor
from whorl.ops.core.base import (
    check_types,
    dims_of,
    known_dims,
    known_ints,
    known_length,
    normal_axis,
    require_dtype,
    shape_of,
    unknown_shape,
    widen,
)
from whorl.ops.image.native_axes import RunAxis
from whorl.ops.image.native_resampling import (
    EXACT_BITS,
    LONGEST,
    AnyAxis,
    extrapolated,
    numbers,
    outside_of,
    picked,
    resampled,
    rounded_view,
)
from whorl.ops.image.resampling import COORDINATES, ROUNDINGS, AxisResize, Filter, pick, resample, rounded
from whorl.ops.movement.native_padding import require_nonnegative
from whorl.ops.native.index_maps import (
    all_fixed,
    as_length,
    broadcast_scalar,
    cast_view,
    lengths,
    read_int64,
    widen_view,
)

POLICIES = ("stretch", "not_larger", "not_smaller")


class Resize(Op, frozen=True):
    """Every output element is a weighted sum of the input elements around its position, or the nearest one.

    Inputs: X, roi, scales, sizes; the last two exclude each other and an empty one is as good as omitted, roi matters
    to tf_crop_and_resize only. Their entries belong to `axes`, all axes where it is None. An axis gets as many elements
    as sizes says, or floor(length * scale) in float32, whatever roi is. The formulas' length_resized is scale * length,
    a fraction maybe. 16-bit floats are computed in float32, integers in float64 and then rounded.
    Source: ONNX Resize-19 and its backend tests.
    """

    any_length = True

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

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        shape, scales = shape_of(operands[0]), operands[2] if len(operands) > 2 else None
        sizes = operands[3] if len(operands) > 3 else None
        is_fixed = (scales is None or (inputs[2] is not None and inputs[2].low > 0)) and (
            sizes is None or known_ints(sizes) is not None
        )
        return is_fixed and not isinstance(shape, AnyShape) and all(isinstance(n, int) and n > 0 for n in shape)

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
        scales, sizes = (None if view is None or view.size == 0 else view for view in (scales, sizes))
        axes, part = self._axes(len(x.shape)), numbers(roi)
        is_cropped = self.coordinate_transformation_mode == "tf_crop_and_resize"
        if is_cropped and (part is None or part.shape != (2 * len(axes),)):
            return None
        factors = None if scales is None else numbers(scales)
        target = self._target(k, x, lengths(outputs[0]), factors, sizes)
        if target is None:
            return None
        if 0 in target:
            return [broadcast_scalar(k, k.const(0, x.dtype), target)]
        if all_fixed((*x.shape, *target)):
            return self._lower_fixed(k, x, target, part, factors, sizes)
        if factors is None and self.keep_aspect_ratio_policy != "stretch":
            return None
        scale = [None] * len(axes) if factors is None else [float(factor) for factor in factors]
        parts = [(0.0, 1.0)] * len(axes)
        if is_cropped and part is not None:
            parts = [(float(a), float(b)) for a, b in zip(part[: len(axes)], part[len(axes) :], strict=True)]
        rows = zip(axes, scale, parts, strict=True)
        return self._lower(k, x, {n: self._axis(k, x.shape[n], target[n], s, p) for n, s, p in rows})

    def _lower_fixed(
        self,
        k: NativeBuilder,
        x: View,
        target: Sequence[Dim],
        part: np.ndarray | None,
        factors: np.ndarray | None,
        sizes: View | None,
    ) -> Sequence[View] | None:
        """The native form where all lengths are numbers."""
        requested = np.array([target[axis] for axis in self._axes(len(target))], np.int64)
        if self.keep_aspect_ratio_policy != "stretch":
            requested = numbers(sizes, INT64)
        if factors is None and requested is None:
            return None
        axes: dict[int, AnyAxis] = {}
        axes.update(self.axis_resizes([fixed(n) for n in x.shape], target, part, factors, requested))
        return self._lower(k, x, axes)

    def _axis(
        self, k: NativeBuilder, length: Dim, count: Dim, scale: float | None, part: tuple[float, float]
    ) -> AnyAxis:
        """How an axis is resized; the program fails where elements would be made out of none."""
        if isinstance(length, int) and isinstance(count, int):
            return AxisResize(length, count, scale, part)
        if not k.is_positive(length):
            is_empty = k.compare("eq", k.length(count), k.const(0))
            k.fail_unless(k.apply("or", is_empty, k.compare("gt", k.length(length), k.const(0))))
        return RunAxis(k, length, count, scale, part, self.coordinate_transformation_mode)

    def _target(
        self, k: NativeBuilder, x: View, full: Sequence[Dim], factors: np.ndarray | None, sizes: View | None
    ) -> list[Dim] | None:
        """The lengths of the result; None where they cannot be told."""
        axes, result = self._axes(len(x.shape)), list(full)
        if factors is not None and (len(factors) != len(axes) or not np.all(np.isfinite(factors) & (factors > 0))):
            return None
        for n, axis in enumerate(axes):
            if k.is_available(full[axis]):
                require_nonnegative(k, full[axis])
            elif factors is not None:
                product = k.mul(k.cast(k.length(x.shape[axis]), FLOAT32), k.const(float(factors[n]), FLOAT32))
                result[axis] = as_length(k, k.cast(k.apply("floor", product), INT64))
            elif sizes is not None and sizes.size == len(axes) and self.keep_aspect_ratio_policy == "stretch":
                size = k.let(read_int64(k, sizes, n))
                k.fail_unless(k.compare("ge", size, k.const(0)))
                result[axis] = as_length(k, size)
            else:
                return None
        return result

    def _lower(self, k: NativeBuilder, x: View, axes: dict[int, AnyAxis]) -> Sequence[View] | None:
        mode, coordinates = self.mode, self.coordinate_transformation_mode
        changing = {i: axis for i, axis in axes.items() if not self._is_identity(axis)}
        fixed_axes = [axis for axis in changing.values() if isinstance(axis, AxisResize)]
        if any((s.count and not s.length) or not 0 <= s.count <= LONGEST for s in fixed_axes):
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
            for index, resize in changing.items():
                view = resampled(k, result, index, resize, kernel, coordinates)
                if view is None:
                    return None
                result = view
            result = rounded_view(k, result, dtype)
        return [extrapolated(k, result, outside_of(k, changing, coordinates), self.extrapolation_value)]

    def _is_identity(self, axis: AnyAxis) -> bool:
        """Whether an axis surely stays what it is."""
        if isinstance(axis, AxisResize):
            return axis.is_identity(self.coordinate_transformation_mode)
        is_shown = self.coordinate_transformation_mode != "tf_crop_and_resize" or axis.roi == (0.0, 1.0)
        return is_shown and axis.count == axis.length and axis.scale in (None, 1)

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
