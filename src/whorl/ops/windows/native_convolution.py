"""Native forms of convolutions, on the views that a kernel builder `k` makes.

Integers are convolved as float32 or float64, whichever holds every partial sum exactly; int32 are words of bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import INT32
from whorl.ir.native.builder import Address, NativeBuilder
from whorl.ir.native.expressions import Buffer, Expr
from whorl.ir.native.view import View, fixed
from whorl.kernels.convolution.layout import filter_blocks
from whorl.kernels.machine import OVERREAD_BYTES
from whorl.kernels.plane.layout import AroundElements, split_phases
from whorl.ops.native.index_maps import broadcast_scalar, broadcast_view, reshape_view
from whorl.ops.windows.native_depthwise import depthwise_convolution, has_channels_as_lanes
from whorl.ops.windows.native_planes import convolve_planes, goes_by_planes
from whorl.ops.windows.native_results import Ending, Result, limits_of, moved, when_windows
from whorl.ops.windows.run_time_layout import (
    FARTHEST,
    Axis,
    Layout,
    fixed_axes,
    is_split,
    layout_of,
    numbers_of,
    span_of,
    split_of,
    table_of,
)

NEAR_BYTES = 1 << 18
"""An image that stays near while the filters go by, one after the other. Of a larger one, the filters go by parts."""
FEW_WINDOWS = 64
"""The windows of such a part."""


_NOTHING = Ending()


def is_native(tracks: Sequence[Axis], channels: int, itemsize: int) -> bool:
    """Whether kernels compute windows like these."""
    if not is_split(tracks) or any(isinstance(t.count, int) and t.count < 1 for t in tracks):
        return False
    fixed = fixed_axes(tracks)
    return fixed is None or split_phases(fixed, itemsize).reach(channels) <= FARTHEST


def convolution(
    k: NativeBuilder,
    x: View,
    filters: View,
    bias: View | None,
    tracks: Sequence[Axis],
    features: int,
    offsets: View | None = None,
    ending: Ending = _NOTHING,
) -> View:
    """Windows over x [N, C, axes...] times filters in blocks [group, features / group * taps], kept in memory.

    `offsets` are those of the taps, if they lie in memory already; `bias` has an element a feature.
    """
    batch, channels, group = x.shape[0], fixed(x.shape[1]), fixed(filters.shape[0])
    if features == channels == group and ending == _NOTHING and has_channels_as_lanes(k, x, tracks):
        return depthwise_convolution(k, x, filters, bias, tracks)
    depth, each, dtype = channels // group, features // group, x.dtype
    if dtype != INT32 and goes_by_planes(tracks, depth, each):
        return convolve_planes(k, x, filters, bias, tracks, ending)
    # Kernels that read the image itself are of floats.
    lay_out = split_of if dtype == INT32 else layout_of
    layout = lay_out(tracks, dtype.itemsize, features=each)
    result = Result.of(k, dtype, (batch, features, *(t.count for t in tracks)), ending)
    run = _Run(k, layout, depth, each, k.address(x), k.address(filters))
    tables = (
        [] if isinstance(layout, AroundElements) else [k.address(offsets) if offsets else table_of(k, layout, depth)]
    )
    term = k.address(broadcast_scalar(k, k.const(0, dtype), (features,)) if bias is None else bias)
    limits = limits_of(k, dtype, ending) or term
    spread = (
        None
        if isinstance(layout, AroundElements) or layout.direct
        else k.temporary(dtype, (layout.channel_stride * depth + OVERREAD_BYTES // dtype.itemsize,))
    )
    with when_windows(k, layout.counts), k.loop(batch) as n, k.loop(group) as g:
        image = run.image(n, g, channels, spread)
        first = k.mul(g, k.const(each))
        addresses = [result.address(n, first), image, *tables, run.filters(g), moved(k, term, first), limits]
        addresses += result.added(n, first)
        kernel, numbers = run.kernel(ending)
        k.call(kernel, addresses, numbers)
    return result.view()


class _Run(Struct, frozen=True):
    """The kernel calls of one convolution."""

    k: NativeBuilder
    layout: Layout
    depth: int
    features: int
    source: Address
    packed: Address

    @property
    def inner(self) -> int:
        return self.depth * self.layout.taps

    def image(self, n: Expr, g: Expr, channels: int, spread: Buffer | None) -> Address:
        """The channels of a group of an image, spread if they are to be."""
        k, size = self.k, dims.product(t.length for t in self.layout.axes)
        channel = k.add(k.mul(n, k.const(channels)), k.mul(g, k.const(self.depth)))
        address = moved(k, self.source, k.mul(channel, k.const(size)))
        if spread is None or isinstance(self.layout, AroundElements):
            return address
        numbers = numbers_of(k, (0, self.depth, *self.layout.split_numbers))
        k.call("split_phases", [(spread, (k.const(0),)), address], numbers)
        return spread, (k.const(0),)

    def filters(self, g: Expr) -> Address:
        return moved(self.k, self.packed, self.k.mul(g, self.k.const(self.features * self.inner)))

    def kernel(self, ending: Ending) -> tuple[str, tuple[int | Expr, ...]]:
        """The kernel for a group and its numbers."""
        layout, bounded = self.layout, int(ending.bounds is not None)
        if isinstance(layout, AroundElements):
            name = "same_convolution" if ending.added is None else "same_convolution_sum"
            return name, (self.features, self.inner, bounded, *layout.numbers)
        rest = numbers_of(self.k, (layout.reach(self.depth), *layout.grid))
        if self.features == self.depth == 1 and ending.added is None and not layout.direct:
            return "plane_sums", (self.inner, bounded, *rest)
        bytes = layout.channel_stride * (self.depth * self.source[0].dtype.itemsize)
        together = self._windows_together(span_of(layout), bytes)
        sums = "convolution_dots" if self.source[0].dtype == INT32 else "convolution"
        name = sums if ending.added is None else "convolution_sum"
        return name, (self.features, self.inner, bounded, together, *rest)

    def _windows_together(self, windows: Dim, image_bytes: Dim) -> int | Expr:
        if isinstance(windows, int) and isinstance(image_bytes, int):
            return windows_together(windows, image_bytes)
        k = self.k
        is_near = k.compare("le", k.length(image_bytes), k.const(NEAR_BYTES))
        return k.let(k.select(is_near, k.length(windows), k.const(FEW_WINDOWS)))


def windows_together(windows: int, image_bytes: int) -> int:
    """How many windows go by a filter before the next filter has its turn."""
    return windows if image_bytes <= NEAR_BYTES else FEW_WINDOWS


def blocked(k: NativeBuilder, filters: View, group: int) -> View:
    """Filters [features, depth, kernel...] copied into blocks."""
    features, taps = filters.shape[0], math.prod(filters.shape[1:])
    flat = reshape_view(k, k.materialise_reread(filters), (group, features // group, taps))
    return in_blocks_of(k, flat)


def in_blocks_of(k: NativeBuilder, filters: View) -> View:
    """Filters [group, features, taps] copied into blocks."""
    group, features, taps = filters.fixed_shape
    packed = k.temporary(filters.dtype, (group, features * taps))
    for height, first, count in filter_blocks(features):
        with k.nest((group, count, taps, height)) as (g, block, tap, row):
            start = k.add(k.mul(block, k.const(height)), k.const(first))
            position = k.add(k.mul(start, k.const(taps)), k.add(k.mul(tap, k.const(height)), row))
            k.store(packed, (g, position), filters.at((g, k.add(start, row), tap)))
    return k.view_of(packed)


def biases_alone(k: NativeBuilder, bias: View | None, dtype: np.dtype, shape: Sequence[Dim]) -> View:
    """What a convolution over no channels gives."""
    if bias is None or not dims.product(shape):
        return broadcast_scalar(k, k.const(0, dtype), shape)
    return broadcast_view(k, reshape_view(k, bias, (shape[1], *(1,) * (len(shape) - 2))), shape)
