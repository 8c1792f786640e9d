"""Pooling: the mean, the maximum or the norm of the elements in each window."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, ClassVar

import ml_dtypes
import numpy as np
from msgspec.structs import replace

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ir.dtypes import BY_NAME, INT64, is_integer
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import UNRANKED, Fact, Shape, TensorType, tensor
from whorl.kernels.windows import WindowAxis
from whorl.ops.core.base import COMPUTED_FLOATS, check_types, dims_of, require_dtype, widen
from whorl.ops.native.index_maps import cast_view, widen_view
from whorl.ops.windows import native_pooling
from whorl.ops.windows.geometry import windows_of
from whorl.ops.windows.run_time_layout import Axis, is_split

COMPARED = COMPUTED_FLOATS | {BY_NAME["int8"], BY_NAME["uint8"]}


class Pool(Op, frozen=True):
    """The attributes and the type rule of pooling: X [N, C, axes...] -> [N, C, windows...].

    With `ceil_mode` a last window may hang over the end, but none starts in the padding there.
    """

    abstract: ClassVar[bool] = True

    any_length = True
    never_fails = True

    kernel_shape: tuple[int, ...]
    auto_pad: str = "NOTSET"
    ceil_mode: int = 0
    dilations: tuple[int, ...] | None = None
    pads: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None

    def shape(self, x: Fact) -> Shape:
        rank = len(self.kernel_shape)
        if not rank:
            raise TypeRuleError("kernel_shape is empty", fix="give one entry for each spatial axis")
        batch, channels, *lengths = dims_of(x, rank + 2, "X")
        windows = windows_of(self, self.kernel_shape, self.auto_pad, bool(self.ceil_mode))
        return (batch, channels, *windows.counts(lengths))

    def infer(self, x: Fact) -> TensorType | tuple[TensorType, ...]:
        dtype = tensor(x).dtype
        require_dtype(dtype, COMPUTED_FLOATS)
        return TensorType(dtype, self.shape(x))

    def tracks(self, x: Any) -> list[WindowAxis]:
        """The windows over the axes of X."""
        windows = windows_of(self, self.kernel_shape, self.auto_pad, bool(self.ceil_mode))
        return windows.tracks(x.shape[2:])

    def axes(self, x: View) -> list[Axis]:
        """The windows over the axes of X, of lengths that only the run may know."""
        windows = windows_of(self, self.kernel_shape, self.auto_pad, bool(self.ceil_mode))
        return windows.axes(x.shape[2:])


class AveragePool(Pool, frozen=True):
    """The mean of each window, of its elements inside X or, with `count_include_pad`, inside the padded X.

    16-bit floats are summed in float32; the mean of no elements is NaN. Source: ONNX AveragePool-22.
    """

    count_include_pad: int = 0

    def run(self, x: np.ndarray) -> np.ndarray:
        check_types(self, x)
        tracks = self.tracks(x)
        sums = combined(widen(x), tracks, np.add, 0)
        counted = self._padded(tracks) if self.count_include_pad else tracks
        counts = [_elements(track) for track in counted]
        return (sums / functools.reduce(np.multiply.outer, counts).astype(sums.dtype)).astype(x.dtype, copy=False)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (x,), tracks = inputs, self.axes(inputs[0])
        if not is_split(tracks):
            return None
        counted = self._padded_axes(tracks) if self.count_include_pad else tracks
        counts = [_elements(track) if isinstance(track, WindowAxis) else track for track in counted]
        return [cast_view(k, native_pooling.means(k, widen_view(k, x), tracks, counts), x.dtype)]

    def _padded(self, tracks: Sequence[WindowAxis]) -> list[WindowAxis]:
        """The same windows over the axes with their padding, as if it were elements."""
        windows = windows_of(self, self.kernel_shape, self.auto_pad, bool(self.ceil_mode))
        widths = [windows.around(track, axis) for axis, track in enumerate(tracks)]
        return [
            replace(track, length=begin + track.length + end, begin=0)
            for track, (begin, end) in zip(tracks, widths, strict=True)
        ]

    def _padded_axes(self, tracks: Sequence[Axis]) -> list[Axis]:
        """As `_padded`, for axes of lengths that only the run may know."""
        windows = windows_of(self, self.kernel_shape, self.auto_pad, bool(self.ceil_mode))
        padded: list[Axis] = []
        for axis, track in enumerate(tracks):
            begin, end = windows.around_any(track, axis)
            padded.append(replace(track, length=track.length + begin + end, begin=0))
        return padded


class MaxPool(Pool, frozen=True):
    """The largest element of each window and, as a second output, its position in the flattened X.

    Padding is not looked at; a window of nothing gives the least value and position -1. The first of equal elements is
    taken, NaN is larger than all. `storage_order` 1 counts positions with the first spatial axis fastest.
    Source: ONNX MaxPool-22.
    """

    storage_order: int = 0
    output_count: int = 1

    def infer(self, x: Fact) -> tuple[TensorType, ...]:
        dtype = tensor(x).dtype
        require_dtype(dtype, COMPARED)
        shape = self.shape(x)
        return TensorType(dtype, shape), TensorType(INT64, shape)

    def run(self, x: np.ndarray) -> np.ndarray | tuple[np.ndarray, ...]:
        check_types(self, x)
        tracks = self.tracks(x)
        if self.output_count < 2:
            return combined(x, tracks, np.maximum, least(x.dtype))
        size = math.prod(x.shape[2:])
        positions = np.arange(size, dtype=np.int64).reshape(x.shape[2:], order="F" if self.storage_order else "C")
        values, positions = _largest(x, np.broadcast_to(positions, x.shape), tracks)
        planes = np.arange(math.prod(x.shape[:2]), dtype=np.int64).reshape(*x.shape[:2], *(1,) * len(tracks))
        return values, np.where(positions < 0, -1, positions + planes * size)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (x,), tracks = inputs, self.axes(inputs[0])
        if not is_split(tracks) or (len(outputs) > 1 and not x.is_fixed):
            return None
        best = native_pooling.maxima(k, x, tracks)
        if len(outputs) < 2:
            return [best]
        tracks = self.tracks(x)
        order = np.empty(x.fixed_shape[2:], np.bool_, order="F" if self.storage_order else "C").strides
        return [best, native_pooling.locate_maxima(k, x, best, tracks, order)]


class LpPool(Pool, frozen=True):
    """(sum over the window of |x|^p)^(1/p), in float32 for 16-bit floats. Source: ONNX LpPool-22."""

    p: int = 2

    def infer(self, x: Fact) -> TensorType | tuple[TensorType, ...]:
        check_power(self.p)
        return super().infer(x)

    def run(self, x: np.ndarray) -> np.ndarray:
        check_types(self, x)
        sums = combined(np.abs(widen(x)) ** self.p, self.tracks(x), np.add, 0)
        return root(sums, self.p).astype(x.dtype, copy=False)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (x,), tracks = inputs, self.axes(inputs[0])
        if not is_split(tracks):
            return None
        powers = native_pooling.powered(k, widen_view(k, x), self.p)
        sums = native_pooling.window_totals(k, powers, tracks, False)
        return [cast_view(k, native_pooling.root(k, sums, self.p), x.dtype)]


class GlobalPool(Op, frozen=True):
    """One number a plane: X [N, C, axes...] -> [N, C, 1...]."""

    abstract: ClassVar[bool] = True

    any_length = True
    never_fails = True

    def infer(self, x: Fact) -> TensorType:
        dtype, rank = tensor(x).dtype, tensor(x).rank
        require_dtype(dtype, COMPUTED_FLOATS)
        if rank is None:
            return TensorType(dtype, UNRANKED)
        if rank < 2:
            raise TypeRuleError(f"a tensor of rank {rank} has no batch and channel axes")
        return TensorType(dtype, dims_of(x, rank, "X")[:2] + (1,) * (rank - 2))

    def run(self, x: np.ndarray) -> np.ndarray:
        check_types(self, x)
        return self.reduce(widen(x), tuple(range(2, x.ndim))).astype(x.dtype, copy=False)

    def reduce(self, x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        """The number of each plane, the axes kept with length 1."""
        raise NotImplementedError

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (x,) = inputs
        return [cast_view(k, self.native(k, widen_view(k, x)), x.dtype)]

    def native(self, k: NativeBuilder, x: View) -> View:
        """The native form of `reduce`."""
        raise NotImplementedError


class GlobalAveragePool(GlobalPool, frozen=True):
    """The mean of each plane; 16-bit floats are summed in float32. Source: ONNX GlobalAveragePool-22."""

    def reduce(self, x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        count = math.prod(x.shape[axis] for axis in axes)
        return x.sum(axis=axes, keepdims=True) / x.dtype.type(count)

    def native(self, k: NativeBuilder, x: View) -> View:
        count = k.cast(k.length(dims.product(x.shape[2:])), x.dtype)
        return native_pooling.plane_totals(k, x, "sum", lambda total: k.div(total, count))


class GlobalMaxPool(GlobalPool, frozen=True):
    """The largest element of each plane. Source: ONNX GlobalMaxPool-22."""

    def reduce(self, x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        return x.max(axis=axes, keepdims=True, initial=-np.inf)

    def native(self, k: NativeBuilder, x: View) -> View:
        return native_pooling.plane_totals(k, x, "max")


class GlobalLpPool(GlobalPool, frozen=True):
    """(sum over the plane of |x|^p)^(1/p), in float32 for 16-bit floats. Source: ONNX GlobalLpPool-22."""

    p: int = 2

    def infer(self, x: Fact) -> TensorType:
        check_power(self.p)
        return super().infer(x)

    def reduce(self, x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        return root((np.abs(x) ** self.p).sum(axis=axes, keepdims=True), self.p)

    def native(self, k: NativeBuilder, x: View) -> View:
        sums = native_pooling.plane_totals(k, native_pooling.powered(k, x, self.p), "sum")
        return native_pooling.root(k, sums, self.p)


def check_power(p: int) -> None:
    """Refuse a norm that is not one."""
    if p < 1:
        raise TypeRuleError(f"p is {p}, expected a positive integer")


def root(sums: np.ndarray, p: int) -> np.ndarray:
    """The p-th root."""
    return np.sqrt(sums) if p == 2 else sums ** sums.dtype.type(1 / p)


def least(dtype: np.dtype) -> float | int:
    """The value below all others: minus infinity, or the smallest integer."""
    return ml_dtypes.iinfo(dtype).min if is_integer(dtype) else -np.inf


def combined(x: np.ndarray, tracks: Sequence[WindowAxis], combine: np.ufunc, start: float | int) -> np.ndarray:
    """Every window's elements combined, one axis after the other; `start` where a window has none."""
    for axis, track in zip(range(x.ndim - 1, -1, -1), reversed(tracks), strict=False):
        before = (slice(None),) * axis
        result = np.full((*x.shape[:axis], track.count, *x.shape[axis + 1 :]), start, x.dtype)
        for t in track.near:
            windows, elements = track.tap(t)
            part = result[(*before, windows)]
            combine(part, x[(*before, elements)], out=part)
        x = result
    return x


def _largest(x: np.ndarray, positions: np.ndarray, tracks: Sequence[WindowAxis]) -> tuple[np.ndarray, np.ndarray]:
    """Like `combined` with maximum, and the positions of the elements taken; the last axis first keeps the order."""
    for axis, track in zip(range(x.ndim - 1, -1, -1), reversed(tracks), strict=False):
        before = (slice(None),) * axis
        shape = (*x.shape[:axis], track.count, *x.shape[axis + 1 :])
        best, where = np.full(shape, least(x.dtype), x.dtype), np.full(shape, -1, np.int64)
        for t in track.near:
            windows, elements = ((*before, part) for part in track.tap(t))
            current, candidate = best[windows], x[elements]
            larger = (~(candidate <= current) & ~np.isnan(current)) | (where[windows] < 0)
            np.copyto(current, candidate, where=larger)
            np.copyto(where[windows], positions[elements], where=larger)
        x, positions = best, where
    return x, positions


def _elements(track: WindowAxis) -> np.ndarray:
    """How many of its elements each window has on the axis."""
    starts = np.arange(track.count, dtype=np.int64) * track.stride - track.begin
    first = np.maximum(0, -(starts // track.dilation))
    stop = np.minimum(track.kernel, (track.length - 1 - starts) // track.dilation + 1)
    return np.maximum(0, stop - first)
