"""Convolution over any number of spatial axes, of floats and of quantized integers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BY_NAME, FLOAT32, FLOAT64, INT32, INT64
from whorl.ir.graph import NodeBuilder, Op, Value
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, Operands, View
from whorl.ir.types import UNRANKED, Fact, Shape, TensorType, lengths_of, tensor
from whorl.kernels.windows import WindowAxis
from whorl.ops.core.base import (
    COMPUTED_FLOATS,
    accumulator,
    check_types,
    dims_of,
    require_dtype,
    same_dtype,
    unify_lengths,
)
from whorl.ops.core.writer import Writer, is_fixed
from whorl.ops.native.index_maps import (
    broadcast_scalar,
    cast_view,
    read_element,
    replace_at,
    require_lengths,
    slice_axis,
    widen_view,
)
from whorl.ops.windows.byte_convolution import write_byte_convolution
from whorl.ops.windows.geometry import blocks, spatial_rank, unfold, windows_of
from whorl.ops.windows.native_convolution import biases_alone, blocked, convolution, is_native
from whorl.ops.windows.run_time_layout import Axis

BYTES = frozenset((BY_NAME["int8"], BY_NAME["uint8"]))
LARGEST_PRODUCT = 255 * 255
"""The largest product of two differences of bytes."""
COLUMN_LIMIT = 1 << 22
"""The most elements that the columns of one block hold."""


class Convolution(Op, frozen=True):
    """The attributes and the type rule that convolutions share: X [N, C, axes...] and W [M, C / group, kernel...]."""

    abstract: ClassVar[bool] = True

    auto_pad: str = "NOTSET"
    dilations: tuple[int, ...] | None = None
    group: int = 1
    kernel_shape: tuple[int, ...] | None = None
    pads: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None

    def shape(self, x: Fact, w: Fact, bias: Fact | None) -> Shape:
        """[N, M, windows...]"""
        rank = spatial_rank(x, w, self.kernel_shape, self.strides, self.dilations)
        if rank is None:
            return UNRANKED
        batch, channels, *lengths = dims_of(x, rank + 2, "X")
        features, depth, *kernel = dims_of(w, rank + 2, "W")
        unify_lengths("the number of channels of X", channels, depth * self.group)
        features = unify_lengths("the number of features of W", features, *dims_of(bias, 1, "B"))
        check_groups(self.group, features, "features")
        windows = windows_of(self, agreed_kernel(self.kernel_shape, kernel), self.auto_pad)
        return (batch, features, *windows.counts(lengths))

    def tracks(self, x: Any, w: Any) -> list[WindowAxis]:
        """The windows over the axes of X."""
        return windows_of(self, w.shape[2:], self.auto_pad).tracks(x.shape[2:])

    def axes(self, x: Sequence[Dim], w: Sequence[Dim]) -> list[Axis]:
        """The windows over the axes of X of a shape, by filters of a shape that is known."""
        return windows_of(self, w[2:], self.auto_pad).axes(x[2:])

    def sums(self, x: np.ndarray, w: np.ndarray, x_zero: np.ndarray | None) -> np.ndarray:
        """The sums of products of X - x_zero and W as int64, of bytes (`exact_sums`)."""
        return exact_sums(self, x, w, x_zero, None)

    def of_channels(self, k: NativeBuilder, x: View, w: Sequence[int]) -> View:
        """X with the channels that filters of a shape take; the program fails where it has others."""
        channels = w[1] * self.group
        if x.shape[1] == channels:
            return x
        require_lengths(k, x.shape[1:2], (channels,))
        return k.view(x.dtype, replace_at(x.shape, 1, channels), x.at, x.cost, k.flat(x))


def agreed_kernel(attribute: tuple[int, ...] | None, kernel: Sequence[Dim]) -> tuple[Dim, ...]:
    """The kernel's shape by the attribute, where it is given, and by the weights."""
    if attribute and len(attribute) != len(kernel):
        raise TypeRuleError(f"kernel_shape has {len(attribute)} entries, expected {len(kernel)}")
    stated = attribute or kernel
    return tuple(
        unify_lengths(f"kernel axis {axis}", *pair) for axis, pair in enumerate(zip(stated, kernel, strict=True))
    )


def check_groups(group: int, length: Dim, what: str) -> None:
    """Refuse a number of groups that is proved not to divide the channels."""
    if group < 1 or (isinstance(length, int) and length % group):
        raise TypeRuleError(f"{length} {what} do not split into {group} groups")


class Conv(Convolution, frozen=True):
    """Y[n, m, o] = B[m] + sum over c, t of W[m, c, t] * X[n, c, o * stride - begin + t * dilation], 0 outside X.

    16-bit floats are summed in float32 and rounded once. Source: ONNX Conv-22.
    """

    any_length = True
    never_fails = True

    def infer(self, x: Fact, w: Fact, b: Fact | None = None) -> TensorType:
        dtype = same_dtype(x, w, b)
        require_dtype(dtype, COMPUTED_FLOATS)
        return TensorType(dtype, self.shape(x, w, b))

    def run(self, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
        check_types(self, x, w, b)
        y = convolve(x, w, self.group, self.tracks(x, w), accumulator(x.dtype))
        return with_bias(y, b).astype(x.dtype, copy=False)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, w, b = inputs[0], inputs[1], inputs.optional(2)
        if not w.is_fixed:
            return None
        x = self.of_channels(k, x, w.fixed_shape)
        wide, filters = widen_view(k, x), widen_view(k, w)
        bias = None if b is None else widen_view(k, b)
        if b is not None:
            require_lengths(k, b.shape, w.shape[:1])
        tracks = self.axes(x.shape, w.shape)
        shape = x.shape[0], w.shape[0], *(t.count for t in tracks)
        if not dims.product(shape) or not w.size:
            return [cast_view(k, biases_alone(k, bias, wide.dtype, shape), x.dtype)]
        if not is_native(tracks, w.fixed_shape[1] * self.group, wide.dtype.itemsize):
            return None
        y = convolution(k, wide, blocked(k, filters, self.group), bias, tracks, w.fixed_shape[0])
        return [cast_view(k, y, x.dtype)]


class ConvInteger(Convolution, frozen=True):
    """Conv of X - x_zero_point and W - w_zero_point, exact modulo 2^32. Source: ONNX ConvInteger-10."""

    any_length = True

    def infer(self, x: Fact, w: Fact, x_zero: Fact | None = None, w_zero: Fact | None = None) -> TensorType:
        for value, zero in ((x, x_zero), (w, w_zero)):
            require_dtype(same_dtype(value, zero), BYTES)
        return TensorType(INT32, self.shape(x, w, None))

    def run(
        self, x: np.ndarray, w: np.ndarray, x_zero: np.ndarray | None = None, w_zero: np.ndarray | None = None
    ) -> np.ndarray:
        check_types(self, x, w, x_zero, w_zero)
        return exact_sums(self, x, w, x_zero, w_zero).astype(np.int32)

    def decompose(self, inputs: Sequence[Value | None], build: NodeBuilder) -> list[Value] | None:
        x, w, x_zero, w_zero = (*inputs, None, None)[:4]
        if x is None or w is None:
            return None
        sums = write_byte_convolution(Writer(build), self, x, w, x_zero, w_zero)
        return None if sums is None else [sums]

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, w, x_zero, w_zero = inputs[0], inputs[1], inputs.optional(2), inputs.optional(3)
        sums = native_sums(self, k, x, w, x_zero, w_zero)
        return None if sums is None else [cast_view(k, cast_view(k, sums, INT64), INT32)]


class QLinearConv(Convolution, frozen=True):
    """saturate(round((ConvInteger(x, w) + B) * x_scale * w_scale / y_scale) + y_zero_point), halves to even.

    The scale and zero point of w are scalars or have an entry a feature. Source: ONNX QLinearConv-10.
    """

    any_length = True

    def infer(
        self,
        x: Fact,
        x_scale: Fact,
        x_zero: Fact,
        w: Fact,
        w_scale: Fact,
        w_zero: Fact,
        y_scale: Fact,
        y_zero: Fact,
        b: Fact | None = None,
    ) -> TensorType:
        for dtype in (same_dtype(x, x_zero), same_dtype(w, w_zero), tensor(y_zero).dtype):
            require_dtype(dtype, BYTES)
        require_dtype(same_dtype(x_scale, w_scale, y_scale), frozenset((FLOAT32,)))
        return TensorType(tensor(y_zero).dtype, self.shape(x, w, b))

    def run(
        self,
        x: np.ndarray,
        x_scale: np.ndarray,
        x_zero: np.ndarray,
        w: np.ndarray,
        w_scale: np.ndarray,
        w_zero: np.ndarray,
        y_scale: np.ndarray,
        y_zero: np.ndarray,
        b: np.ndarray | None = None,
    ) -> np.ndarray:
        check_types(self, x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, b)
        return _SCALED.run(exact_sums(self, x, w, x_zero, w_zero), x_scale, w_scale, y_scale, y_zero, b)

    def decompose(self, inputs: Sequence[Value | None], build: NodeBuilder) -> list[Value] | None:
        x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, b = (*inputs, None)[:9]
        if (
            x is None
            or w is None
            or not is_fixed(*(v for v in (x_scale, w_scale, y_scale, y_zero, b) if v is not None))
        ):
            return None
        if any(dims.product(lengths_of(tensor(v))) != 1 for v in (x_scale, y_scale, y_zero) if v is not None):
            return None
        sums = write_byte_convolution(Writer(build), self, x, w, x_zero, w_zero)
        if sums is None:
            return None
        return build.add_many(_SCALED, [sums, x_scale, w_scale, y_scale, y_zero, b], ["y"])

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero), b = inputs[:8], inputs.optional(8)
        if any(view.size != 1 for view in (x_scale, y_scale, y_zero)) or not w_scale.is_fixed:
            return None
        sums = native_sums(self, k, x, w, x_zero, w_zero)
        if sums is None:
            return None
        return _SCALED.lower(k, Operands([sums, x_scale, w_scale, y_scale, y_zero, b]), outputs)


class ScaledSums(Op, frozen=True):
    """What QLinearConv makes of its sums: inputs are these, x_scale, w_scale, y_scale, y_zero_point, B or None."""

    abstract: ClassVar[bool] = True
    any_length = True

    def infer(
        self, sums: Fact, x_scale: Fact, w_scale: Fact, y_scale: Fact, y_zero: Fact, b: Fact | None = None
    ) -> TensorType:
        return TensorType(tensor(y_zero).dtype, tensor(sums).shape)

    def run(
        self,
        sums: np.ndarray,
        x_scale: np.ndarray,
        w_scale: np.ndarray,
        y_scale: np.ndarray,
        y_zero: np.ndarray,
        b: np.ndarray | None = None,
    ) -> np.ndarray:
        total = with_bias(sums.astype(np.int64), b)
        scale = feature_column(x_scale.reshape(()) * w_scale / y_scale.reshape(()), total.ndim - 1)
        levels = np.rint(total.astype(np.float32) * scale) + y_zero.reshape(()).astype(np.float32)
        limits = np.iinfo(y_zero.dtype)
        return np.clip(levels, limits.min, limits.max).astype(y_zero.dtype)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (sums, x_scale, w_scale, y_scale, y_zero), b = inputs[:5], inputs.optional(5)
        if b is not None:
            require_lengths(k, b.shape, sums.shape[1:2])
        first, last, zero = read_element(k, x_scale), read_element(k, y_scale), k.cast(read_element(k, y_zero), FLOAT32)
        limits = np.iinfo(y_zero.dtype)
        low, high = k.const(limits.min, FLOAT32), k.const(limits.max, FLOAT32)

        def at(index: Index) -> Expr:
            total, m = sums.at(index), index[1:2]
            if b is not None:
                total = k.add(k.cast(total, INT64), k.cast(b.at(m), INT64))
            own = read_element(k, w_scale) if w_scale.size == 1 else w_scale.at(m)
            scale = k.div(k.mul(first, own), last)
            level = k.add(k.apply("rint", k.mul(k.cast(total, FLOAT32), scale)), zero)
            return k.cast(k.apply("min", k.apply("max", level, low), high), y_zero.dtype)

        return [k.view(y_zero.dtype, sums.shape, at, 12)]


_SCALED = ScaledSums()


def convolve(x: np.ndarray, w: np.ndarray, group: int, tracks: Sequence[WindowAxis], dtype: np.dtype) -> np.ndarray:
    """Convolution without bias, computed in `dtype`: for each image and block of windows, W [group, M / group,
    C / group * taps] times columns [group, C / group * taps, windows].
    """
    counts, rows = [track.count for track in tracks], math.prod(w.shape[1:])
    weights = w.astype(dtype, copy=False).reshape(group, len(w) // group, rows)
    y = np.empty((len(x), len(w), *counts), dtype)
    limit = COLUMN_LIMIT // max(1, group * rows)
    for image, result in zip(x, y, strict=True):
        image = image.astype(dtype, copy=False)
        for block in blocks(counts, limit):
            parts = [track.part(windows) for track, windows in zip(tracks, block, strict=True)]
            sizes = [part.count for part in parts]
            columns = unfold(image, parts).reshape(group, rows, math.prod(sizes))
            result[(slice(None), *block)] = (weights @ columns).reshape(len(w), *sizes)
    return y


def exact_sums(
    op: Convolution, x: np.ndarray, w: np.ndarray, x_zero: np.ndarray | None, w_zero: np.ndarray | None
) -> np.ndarray:
    """The sums of products as int64, computed in float64: every partial sum is below 2^53 and so exact."""
    numbers = x.astype(np.float64)
    weights = w.astype(np.float64)
    if x_zero is not None:
        numbers -= x_zero.reshape(()).astype(np.float64)
    if w_zero is not None:
        weights -= feature_column(w_zero.astype(np.float64), w.ndim)
    return convolve(numbers, weights, op.group, op.tracks(x, w), np.dtype(np.float64)).astype(np.int64)


def native_sums(
    op: Convolution, k: NativeBuilder, x: View, w: View, x_zero: View | None, w_zero: View | None
) -> View | None:
    """Native form of `exact_sums`: whole numbers, of a type that holds every partial sum. None where no kernel has it.

    As float32 where these are below 2^24, or as int32, the sum of such sums over parts of the channels; else float64.
    """
    if not w.is_fixed or not all(zero is None or zero.is_fixed for zero in (x_zero, w_zero)):
        return None
    x = op.of_channels(k, x, w.fixed_shape)
    tracks, each = op.axes(x.shape, w.shape), math.prod(w.fixed_shape[2:]) * LARGEST_PRODUCT
    shape = x.shape[0], w.shape[0], *(t.count for t in tracks)
    depth = max(1, ((1 << 24) - 1) // max(1, each))
    dtype = FLOAT32 if w.fixed_shape[1] <= depth or (op.group == 1 and each < 1 << 24) else FLOAT64
    if not dims.product(shape) or not w.size:
        return broadcast_scalar(k, k.const(0, dtype), shape)
    if not is_native(tracks, w.fixed_shape[1] * op.group, dtype.itemsize) or (x_zero is not None and x_zero.size != 1):
        return None
    numbers, weights = _differences(k, x, w, x_zero, w_zero, dtype)
    if dtype == FLOAT64 or w.fixed_shape[1] <= depth:
        return convolution(k, numbers, blocked(k, weights, op.group), None, tracks, w.fixed_shape[0])
    total = k.temporary(INT32, shape)
    for first in range(0, w.fixed_shape[1], depth):
        count = min(depth, w.fixed_shape[1] - first)
        part = slice_axis(k, numbers, 1, first, count), blocked(k, slice_axis(k, weights, 1, first, count), 1)
        sums = convolution(k, *part, None, tracks, w.fixed_shape[0])
        with k.nest(shape) as index:
            value = k.cast(sums.at(index), INT32)
            k.store(total, index, k.add(k.load(total, index), value) if first else value)
    return k.view_of(total, shape)


def _differences(
    k: NativeBuilder, x: View, w: View, x_zero: View | None, w_zero: View | None, dtype: np.dtype
) -> tuple[View, View]:
    """x - x_zero and w - w_zero as floats."""
    numbers, weights = cast_view(k, x, dtype), cast_view(k, w, dtype)
    if x_zero is not None:
        zero = k.let(k.cast(read_element(k, x_zero), dtype))
        numbers = k.view(dtype, x.shape, lambda index: k.sub(k.cast(x.at(index), dtype), zero), x.cost + 2)
    if w_zero is not None:
        column = w_zero if w_zero.fixed_size > 1 else broadcast_scalar(k, read_element(k, w_zero), (1,))

        def shifted(index: Index) -> Expr:
            return k.sub(k.cast(w.at(index), dtype), k.cast(k.broadcast_element(column, index[:1]), dtype))

        weights = k.view(dtype, w.shape, shifted, w.cost + 3)
    return numbers, weights


def feature_column(values: np.ndarray, rank: int) -> np.ndarray:
    """A scalar, or one value a feature, as an array that broadcasts along the first of `rank` axes."""
    return values.reshape(()) if values.size == 1 else values.reshape(-1, *(1,) * (rank - 1))


def with_bias(y: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    """y [N, M, ...] + bias [M] in y's element type; y is overwritten."""
    if bias is not None:
        y += bias.astype(y.dtype, copy=False).reshape(-1, *(1,) * (y.ndim - 2))
    return y
