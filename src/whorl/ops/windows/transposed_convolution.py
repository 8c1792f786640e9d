"""Windows written instead of read: transposed convolution, and columns back into an image."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import BOOL, STRING
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import UNRANKED, Fact, TensorType, tensor
from whorl.kernels.windows import WindowAxis
from whorl.ops.core.base import (
    COMPUTED_FLOATS,
    accumulator,
    check_types,
    dims_of,
    known_dims,
    known_length,
    require_dtype,
    same_dtype,
    unify_lengths,
    widen,
)
from whorl.ops.native.index_maps import (
    all_numbers,
    broadcast_scalar,
    cast_view,
    fixed_lengths,
    require_lengths,
    reshape_view,
    widen_view,
)
from whorl.ops.windows.convolution import COLUMN_LIMIT, Convolution, agreed_kernel, check_groups, with_bias
from whorl.ops.windows.geometry import blocks, fold, per_axis, spatial_rank, split_padding, windows_of
from whorl.ops.windows.native_convolution import biases_alone
from whorl.ops.windows.native_transposed import PhasedAxis, transposed_at_run_time, transposed_convolution


class ConvTranspose(Convolution, frozen=True):
    """Y[n, m, i * stride - begin + t * dilation] += X[n, c, i] * W[c, m, t], plus B[m].

    X [N, C, axes...], W [C, M / group, kernel...]. Y's axes have stride * (length - 1) + output_padding + span - pads
    elements, or as many as output_shape says; padding is then what is over, none where Y is longer than the sums.
    SAME means length * stride. 16-bit floats are summed in float32 and rounded once. Source: ONNX ConvTranspose-22.
    """

    any_length = True

    output_padding: tuple[int, ...] | None = None
    output_shape: tuple[int, ...] | None = None

    def infer(self, x: Fact, w: Fact, b: Fact | None = None) -> TensorType:
        dtype = same_dtype(x, w, b)
        require_dtype(dtype, COMPUTED_FLOATS)
        rank = spatial_rank(x, w, self.kernel_shape, self.strides, self.dilations)
        if rank is None:
            return TensorType(dtype, UNRANKED)
        batch, channels, *lengths = dims_of(x, rank + 2, "X")
        depth, features, *kernel = dims_of(w, rank + 2, "W")
        check_groups(self.group, unify_lengths("the number of channels", channels, depth), "channels")
        features = unify_lengths("the number of features of W", features * self.group, *dims_of(b, 1, "B"))
        sizes = self.sizes(lengths, agreed_kernel(self.kernel_shape, kernel))
        if any(isinstance(size, int) and size < 0 for size in sizes):
            raise TypeRuleError(f"the padding leaves {list(sizes)} elements of the spatial axes")
        return TensorType(dtype, (batch, features, *sizes))

    def sizes(self, lengths: Sequence[Dim], kernel: Sequence[Dim]) -> tuple[Dim, ...]:
        """The lengths of Y's spatial axes."""
        rank = len(lengths)
        if self.output_shape:
            return per_axis(self.output_shape[-rank:], rank, "output_shape", 0)
        windows = windows_of(self, kernel, self.auto_pad)
        if self.auto_pad.startswith("SAME"):
            return tuple(length * stride for length, stride in zip(lengths, windows.strides, strict=True))
        reached = self.reached(lengths, kernel)
        return tuple(length - sum(windows.padding(axis)) for axis, length in enumerate(reached))

    def reached(self, lengths: Sequence[Dim], kernel: Sequence[Dim]) -> tuple[Dim, ...]:
        """How far the windows reach over each axis without padding."""
        windows = windows_of(self, kernel, self.auto_pad)
        extra = per_axis(self.output_padding, len(lengths), "output_padding", 0)
        steps = zip(lengths, windows.strides, extra, strict=True)
        return tuple((n - 1) * stride + more + windows.span(axis) for axis, (n, stride, more) in enumerate(steps))

    def tracks(self, x: Any, w: Any) -> list[WindowAxis]:
        """The windows over the axes of Y, one for each element of X."""
        lengths, kernel = x.shape[2:], w.shape[2:]
        windows = windows_of(self, kernel, self.auto_pad)
        steps = zip(lengths, self.sizes(lengths, kernel), self.reached(lengths, kernel), strict=True)
        tracks = []
        for axis, (count, size, reached) in enumerate(steps):
            begin, length = windows.padding(axis)[0], cast(int, size)
            if self.output_shape or self.auto_pad.startswith("SAME"):
                begin = split_padding(cast(int, reached) - length, self.auto_pad)[0]
            tracks.append(
                WindowAxis(length, kernel[axis], windows.strides[axis], windows.dilations[axis], begin, count)
            )
        return tracks

    def run(self, x: np.ndarray, w: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
        check_types(self, x, w, b)
        tracks, dtype = self.tracks(x, w), accumulator(x.dtype)
        features, taps, depth = w.shape[1] * self.group, math.prod(w.shape[2:]), len(w) // self.group
        weights = w.astype(dtype, copy=False).reshape(self.group, depth, w.shape[1] * taps).swapaxes(1, 2)
        y = np.zeros((len(x), features, *(track.length for track in tracks)), dtype)
        for image, result in zip(x, y, strict=True):
            for block in blocks(x.shape[2:], COLUMN_LIMIT // max(1, features * taps)):
                parts = [track.part(windows) for track, windows in zip(tracks, block, strict=True)]
                sizes = [part.count for part in parts]
                part = image[(slice(None), *block)].astype(dtype, copy=False)
                columns = weights @ part.reshape(self.group, depth, math.prod(sizes))
                fold(columns.reshape(features, taps, *sizes), parts, result)
        return with_bias(y, b).astype(x.dtype, copy=False)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, w, b = inputs[0], inputs[1], inputs.optional(2)
        if not w.is_fixed:
            return None
        wide, bias = widen_view(k, x), None if b is None else widen_view(k, b)
        if not x.is_fixed:
            y = self._lower_at_run_time(k, wide, widen_view(k, w), bias)
            return None if y is None else [cast_view(k, y, x.dtype)]
        shape = fixed_lengths(outputs[0])
        if not math.prod(shape) or not x.size or not w.size:
            return [cast_view(k, biases_alone(k, bias, wide.dtype, shape), x.dtype)]
        tracks = self.tracks(x, w)
        if math.prod(min(t.stride, t.length) * t.kernel for t in tracks) > MOST_PHASES:
            return None
        y = transposed_convolution(k, wide, k.materialise_reread(widen_view(k, w)), bias, tracks, self.group)
        return None if y is None else [cast_view(k, y, x.dtype)]

    def _lower_at_run_time(self, k: NativeBuilder, x: View, w: View, bias: View | None) -> View | None:
        if not w.size or self.output_shape or len(w.shape) > 5:
            return None
        require_lengths(k, x.shape[1:2], w.shape[:1])
        if bias is not None:
            require_lengths(k, bias.shape, (w.fixed_shape[1] * self.group,))
        windows = windows_of(self, w.fixed_shape[2:], self.auto_pad)
        sizes = self.sizes(x.shape[2:], w.fixed_shape[2:])
        axes: list[PhasedAxis] = []
        rows = zip(x.shape[2:], sizes, self.reached(x.shape[2:], w.fixed_shape[2:]), strict=True)
        for axis, (length, size, reached) in enumerate(rows):
            begin, over = windows.padding(axis)[0], reached - size
            if self.auto_pad.startswith("SAME"):
                if not isinstance(over, int):
                    return None
                begin = split_padding(over, self.auto_pad)[0]
            kernel, stride = w.fixed_shape[2 + axis], windows.strides[axis]
            axes.append(PhasedAxis(length, size, kernel, stride, windows.dilations[axis], begin))
        if math.prod(axis.stride * axis.kernel * len(axis.shifts) for axis in axes) > MOST_PHASES:
            return None
        channels = x.shape[:1] + w.shape[:1] + x.shape[2:]
        x = k.view(x.dtype, channels, x.at, x.cost, k.flat(x))
        return transposed_at_run_time(k, x, w, bias, axes, self.group)


MOST_NESTS, MOST_PHASES = 1 << 10, 1 << 12
"""Nests that columns are added up by, and convolutions that a transposed one is made of, in native code."""


class Col2Im(Op, frozen=True):
    """Adds the columns of X [N, C * taps, blocks] to the positions of an image [N, C, axes...] that the blocks cover.

    Inputs: X, image_shape, block_shape. The sums of 16-bit floats are kept in float32. Source: ONNX Col2Im-18.
    """

    dilations: tuple[int, ...] | None = None
    pads: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None

    def infer(self, x: Fact, image_shape: Fact, block_shape: Fact) -> TensorType:
        dtype = tensor(x).dtype
        if dtype == STRING:
            raise TypeRuleError("does not accept strings")
        rank = known_length(image_shape) or known_length(block_shape)
        image, block = known_dims(image_shape), known_dims(block_shape)
        if rank is None:
            return TensorType(dtype, UNRANKED)
        batch, rows, columns = dims_of(x, 3, "X")
        channels: Dim = UNKNOWN
        if block is not None:
            taps = dims.product(block)
            if isinstance(taps, int) and taps < 1:
                raise TypeRuleError(f"block_shape is {list(block)}, expected positive lengths")
            channels = rows // taps
            if isinstance(rows, int) and isinstance(taps, int) and rows % max(1, taps):
                raise TypeRuleError(f"{rows} rows of X do not split into blocks of {taps}")
            if image is not None and len(image) != len(block):
                raise TypeRuleError(f"image_shape has {len(image)} entries and block_shape {len(block)}")
            if image is not None:
                counts = dims.product(windows_of(self, block).counts(image))
                unify_lengths("the number of blocks", columns, counts)
        return TensorType(dtype, (batch, channels, *(image or (UNKNOWN,) * rank)))

    def run(self, x: np.ndarray, image_shape: np.ndarray, block_shape: np.ndarray) -> np.ndarray:
        check_types(self, x, image_shape, block_shape)
        lengths, block = tuple(image_shape.tolist()), tuple(block_shape.tolist())
        tracks, taps = windows_of(self, block).tracks(lengths), math.prod(block)
        counts = [track.count for track in tracks]
        y = np.zeros((len(x), x.shape[1] // max(1, taps), *lengths), accumulator(x.dtype))
        fold(widen(x).reshape(*y.shape[:2], taps, *counts), tracks, y)
        return y.astype(x.dtype, copy=False)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, _, block = inputs
        shape, kernel = fixed_lengths(outputs[0]), all_numbers(block)
        if kernel is None or x.dtype == BOOL or math.prod(kernel) > MOST_NESTS:
            return None
        wide, tracks = widen_view(k, x), windows_of(self, kernel).tracks(shape[2:])
        y = k.temporary(wide.dtype, shape)
        k.fill(y, broadcast_scalar(k, k.const(0, wide.dtype), shape))
        columns = reshape_view(k, wide, (*shape[:2], *kernel, *(t.count for t in tracks)))
        for tap in np.ndindex(*kernel):
            spans = [track.tap(t) for track, t in zip(tracks, tap, strict=True)]
            counts = [windows.stop - windows.start for windows, _ in spans]
            with k.nest((*shape[:2], *counts)) as index:
                pairs = list(zip(index[2:], tracks, spans, strict=True))
                windows = [k.add(i, k.const(windows.start)) for i, _, (windows, _) in pairs]
                spots = [k.add(k.mul(i, k.const(t.stride)), k.const(e.start)) for i, t, (_, e) in pairs]
                target = (*index[:2], *spots)
                value = columns.at((*index[:2], *(k.const(t) for t in tap), *windows))
                k.store(y, target, k.add(k.load(y, target), value))
        return [cast_view(k, k.view_of(y), x.dtype)]
