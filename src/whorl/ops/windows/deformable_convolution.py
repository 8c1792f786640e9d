"""Convolution whose windows read at positions moved by an input."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from whorl.ir.dims import Dim
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import UNRANKED, Fact, TensorType
from whorl.ops.core.base import (
    COMPUTED_FLOATS,
    accumulator,
    check_types,
    dims_of,
    require_dtype,
    same_dtype,
    unify_lengths,
)
from whorl.ops.image.sampling import spread, weighted, within_reach
from whorl.ops.linear.native_products import multiply_views
from whorl.ops.native.index_maps import cast_view, lengths, reshape_view, widen_view
from whorl.ops.reduce.native_reductions import map_elements
from whorl.ops.windows.convolution import COLUMN_LIMIT, agreed_kernel, check_groups, with_bias
from whorl.ops.windows.geometry import spatial_rank, windows_of
from whorl.ops.windows.native_deformable import DEEPEST, deformed_columns


class DeformConv(Op, frozen=True):
    """Y[n, m, o] = B[m] + sum over c, t of W[m, c, t] * mask[n, t, o] * X[n, c, o * stride - begin + t * dilation + d],
    where d = offset[n, t, :, o].

    Inputs: X [N, C, axes...], W [M, C / group, kernel...], offset [N, offset_group * taps * rank, windows...] with the
    tap before the axis, B [M], mask [N, offset_group * taps, windows...]. X is interpolated linearly and 0 outside,
    where positions of NaN lie too; the channels split into offset_group parts that share offsets. 16-bit floats are
    summed in float32.
    Source: ONNX DeformConv-22.
    """

    dilations: tuple[int, ...] | None = None
    group: int = 1
    kernel_shape: tuple[int, ...] | None = None
    offset_group: int = 1
    pads: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None

    def infer(self, x: Fact, w: Fact, offset: Fact, b: Fact | None = None, mask: Fact | None = None) -> TensorType:
        dtype = same_dtype(x, w, offset, b, mask)
        require_dtype(dtype, COMPUTED_FLOATS)
        rank = spatial_rank(x, w, offset, mask, self.kernel_shape, self.strides, self.dilations)
        if rank is None:
            return TensorType(dtype, UNRANKED)
        batch, channels, *lengths = dims_of(x, rank + 2, "X")
        features, depth, *kernel = dims_of(w, rank + 2, "W")
        shape = agreed_kernel(self.kernel_shape, kernel)
        channels = unify_lengths("the number of channels of X", channels, depth * self.group)
        features = unify_lengths("the number of features of W", features, *dims_of(b, 1, "B"))
        check_groups(self.group, features, "features")
        check_groups(self.offset_group, channels, "channels")
        moved, masked = dims_of(offset, rank + 2, "offset"), dims_of(mask, rank + 2, "mask")
        taps: Dim = self.offset_group
        for length in shape:
            taps = taps * length
        unify_lengths("the number of offsets", moved[1], taps * rank)
        unify_lengths("the number of mask entries", masked[1], taps)
        counts = windows_of(self, shape).counts(lengths)
        axis_counts = zip(counts, moved[2:], masked[2:], strict=True)
        windows = [
            unify_lengths(f"the number of windows along axis {axis}", *each) for axis, each in enumerate(axis_counts)
        ]
        return TensorType(dtype, (unify_lengths("the batch", batch, moved[0], masked[0]), features, *windows))

    def run(
        self,
        x: np.ndarray,
        w: np.ndarray,
        offset: np.ndarray,
        b: np.ndarray | None = None,
        mask: np.ndarray | None = None,
    ) -> np.ndarray:
        check_types(self, x, w, offset, b, mask)
        dtype, groups = accumulator(x.dtype), self.offset_group
        taps, counts, rows = math.prod(w.shape[2:]), offset.shape[2:], math.prod(w.shape[1:])
        windows = math.prod(counts)
        weights = w.astype(dtype, copy=False).reshape(self.group, len(w) // self.group, rows)
        y = np.empty((len(x), len(w), windows), dtype)
        home = self._home(x, w)
        step = max(1, COLUMN_LIMIT // max(1, self.group * rows))
        for n, result in enumerate(y):
            image = x[n].astype(dtype, copy=False).reshape(groups, x.shape[1] // groups, *x.shape[2:])
            moves = offset[n].astype(dtype, copy=False).reshape(groups, taps, home.shape[1], windows)
            shares = np.ones(moves[:, :, 0].shape, dtype)
            if mask is not None:
                shares = mask[n].astype(dtype, copy=False).reshape(shares.shape)
            for start in range(0, windows, step):
                part = np.s_[..., start : start + step]
                columns = self._columns(image, (home[part] + moves[part]).astype(dtype), shares[part])
                sums = weights @ columns.reshape(self.group, rows, columns.shape[-1])
                result[part] = sums.reshape(len(w), columns.shape[-1])
        return with_bias(y.reshape(len(x), len(w), *counts), b).astype(x.dtype, copy=False)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (x, w, offset), b, mask = inputs[:3], inputs.optional(3), inputs.optional(4)
        shape, dtype = lengths(outputs[0]), accumulator(x.dtype)
        if not math.prod(shape) or not w.size or not all(x.shape[2:]) or len(x.shape) > 2 + DEEPEST:
            return None
        image, moves = (k.materialise_reread(widen_view(k, v)) for v in (x, offset))
        shares = None if mask is None else k.materialise_reread(widen_view(k, mask))
        tracks = windows_of(self, w.shape[2:]).tracks(x.fixed_shape[2:])
        columns = deformed_columns(k, image, moves, shares, tracks, self.offset_group)
        rows, windows = math.prod(w.shape[1:]), math.prod(shape[2:])
        right = reshape_view(k, columns, (x.shape[0], self.group, rows, windows))
        left = reshape_view(k, widen_view(k, w), (1, self.group, w.shape[0] // self.group, rows))
        y = reshape_view(k, multiply_views(k, left, right), shape)
        if b is not None:
            y = map_elements(k, k.add, y, reshape_view(k, widen_view(k, b), (1, shape[1], *(1,) * len(tracks))))
        return [cast_view(k, cast_view(k, y, dtype), x.dtype)]

    def _home(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Where the taps read without offsets: [taps, rank, windows]."""
        tracks = windows_of(self, w.shape[2:]).tracks(x.shape[2:])
        taps = np.indices([t.kernel for t in tracks]).reshape(len(tracks), -1)
        windows = np.indices([t.count for t in tracks]).reshape(len(tracks), -1)
        along = (
            np.add.outer(tap * t.dilation - t.begin, window * t.stride)
            for t, tap, window in zip(tracks, taps, windows, strict=True)
        )
        return np.stack(list(along), axis=1)

    def _columns(self, image: np.ndarray, positions: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """[offset_group, C / offset_group, taps, windows]: what the windows read."""
        columns = []
        for g, channels in enumerate(image):
            axes = [
                (*spread(within_reach(positions[g, :, axis].reshape(-1)), "linear"), length)
                for axis, length in enumerate(channels.shape[1:])
            ]
            read = weighted(channels, axes).reshape(len(channels), len(positions[g]), positions.shape[-1])
            columns.append(read * shares[g])
        return np.stack(columns)
