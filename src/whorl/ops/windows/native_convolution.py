"""Native forms of convolutions, on the views that a kernel builder `k` makes.

Integers are convolved as float32 or float64, whichever holds every partial sum exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whorl.ir.native.builder import Address, NativeBuilder
from whorl.ir.native.expressions import Buffer, Expr
from whorl.ir.native.view import View, fixed
from whorl.kernels.convolution.layout import filter_blocks
from whorl.kernels.machine import OVERREAD_BYTES
from whorl.kernels.plane.layout import AXES, PhaseSplit, is_addressable, split_phases
from whorl.kernels.windows import WindowAxis
from whorl.ops.native.index_maps import broadcast_scalar, broadcast_view, embed_array, reshape_view

FARTHEST = (1 << 31) - 1
"""The largest offset that a table holds."""


NEAR_BYTES = 1 << 18
"""An image that stays near while the filters go by, one after the other. Of a larger one, the filters go by parts."""
FEW_WINDOWS = 64
"""The windows of such a part."""


@dataclass(frozen=True)
class Ending:
    """What follows a convolution at once: a tensor of the same shape is added, and the sum is kept within bounds.

    `into` is a buffer [N, features, axes...] of more features, and the first one there that is to be written.
    """

    added: View | None = None
    bounds: tuple[float, float] | None = None
    into: tuple[Buffer, int] | None = None


def is_native(tracks: Sequence[WindowAxis], channels: int, itemsize: int) -> bool:
    """Whether kernels compute windows like these."""
    if len(tracks) > AXES or any(t.kernel < 1 or t.count < 1 for t in tracks) or not is_addressable(tracks):
        return False
    return split_phases(tracks, itemsize).reach(channels) <= FARTHEST


def convolution(
    k: NativeBuilder,
    x: View,
    filters: View,
    bias: View | None,
    tracks: Sequence[WindowAxis],
    features: int,
    offsets: View | None = None,
    ending: Ending = Ending(),
) -> View:
    """Windows over x [N, C, axes...] times filters in blocks [group, features / group * taps], kept in memory.

    `offsets` are those of the taps, if they lie in memory already; `bias` has an element a feature.
    """
    layout, dtype = split_phases(tracks, x.dtype.itemsize), x.dtype
    batch, channels = x.shape[0], fixed(x.shape[1])
    group = fixed(filters.shape[0])
    depth, each = channels // group, features // group
    result, start = ending.into or (k.temporary(dtype, (batch, features, *(t.count for t in tracks))), 0)
    run = _Run(k, layout, depth, each, k.address(x), k.address(filters))
    table = k.address(embed_array(k, layout.offsets(depth)) if offsets is None else offsets)
    term = k.address(broadcast_scalar(k, k.const(0, dtype), (features,)) if bias is None else bias)
    limits = _limits(k, dtype, ending) or term
    added = None if ending.added is None else k.address(ending.added)
    spread = (
        None
        if layout.direct
        else k.temporary(dtype, (depth * layout.channel_stride + OVERREAD_BYTES // dtype.itemsize,))
    )
    with k.loop(batch) as n, k.loop(group) as g:
        image = run.image(n, g, channels, spread)
        first = k.mul(g, k.const(each))
        at = (n, k.add(first, k.const(start)), *(k.const(0) for _ in tracks))
        addresses = [(result, at), image, table, run.filters(g), moved(k, term, first), limits]
        if added is not None:
            plane = k.add(k.mul(n, k.const(features)), first)
            addresses.append(moved(k, added, k.mul(plane, k.const(math.prod(layout.counts)))))
        kernel, numbers = run.kernel(ending)
        k.call(kernel, addresses, numbers)
    return k.view_of(result)


@dataclass(frozen=True)
class _Run:
    """The kernel calls of one convolution."""

    k: NativeBuilder
    layout: PhaseSplit
    depth: int
    features: int
    source: Address
    packed: Address

    @property
    def inner(self) -> int:
        return self.depth * self.layout.taps

    def image(self, n: Expr, g: Expr, channels: int, spread: Buffer | None) -> Address:
        """The channels of a group of an image, spread if they are to be."""
        k, size = self.k, math.prod(t.length for t in self.layout.axes)
        channel = k.add(k.mul(n, k.const(channels)), k.mul(g, k.const(self.depth)))
        address = moved(k, self.source, k.mul(channel, k.const(size)))
        if spread is None:
            return address
        k.call("split_phases", [(spread, (k.const(0),)), address], (0, self.depth, *self.layout.split_numbers))
        return spread, (k.const(0),)

    def filters(self, g: Expr) -> Address:
        return moved(self.k, self.packed, self.k.mul(g, self.k.const(self.features * self.inner)))

    def kernel(self, ending: Ending) -> tuple[str, tuple[int, ...]]:
        """The kernel for a group and its numbers."""
        layout, bounded = self.layout, int(ending.bounds is not None)
        rest = (layout.reach(self.depth), *layout.grid)
        if self.features == self.depth == 1 and ending.added is None and not layout.direct:
            return "plane_sums", (self.inner, bounded, *rest)
        together = windows_together(
            layout.grid.span, self.depth * layout.channel_stride * self.source[0].dtype.itemsize
        )
        name = "convolution" if ending.added is None else "convolution_sum"
        return name, (self.features, self.inner, bounded, together, *rest)


def windows_together(windows: int, image_bytes: int) -> int:
    """How many windows go by a filter before the next filter has its turn."""
    return windows if image_bytes <= NEAR_BYTES else FEW_WINDOWS


def moved(k: NativeBuilder, address: Address, distance: Expr) -> Address:
    """An address so many elements further."""
    buffer, index = address
    return buffer, (*index[:-1], k.add(index[-1], distance))


def _limits(k: NativeBuilder, dtype: np.dtype, ending: Ending) -> Address | None:
    if ending.bounds is None:
        return None
    return k.address(embed_array(k, np.array(ending.bounds, dtype)))


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


def biases_alone(k: NativeBuilder, bias: View | None, dtype: np.dtype, shape: Sequence[int]) -> View:
    """What a convolution over no channels gives."""
    if bias is None or not math.prod(shape):
        return broadcast_scalar(k, k.const(0, dtype), shape)
    return broadcast_view(k, reshape_view(k, bias, (shape[1], *(1,) * (len(shape) - 2))), shape)
