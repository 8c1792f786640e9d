"""Native form of transposed convolution, on the views that a kernel builder `k` makes.

It is one convolution of stride 1 for each phase of the result; where only the run knows the lengths, a single one that
has the phases of a feature as features of its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from msgspec import Struct

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Buffer
from whorl.ir.native.view import View, fixed
from whorl.kernels.machine import OVERREAD_BYTES
from whorl.kernels.plane.layout import AXES, pad_channel_stride, tap_table
from whorl.kernels.windows import WindowAxis, WindowGrid
from whorl.ops.native.index_maps import broadcast_scalar, embed_array
from whorl.ops.windows.native_convolution import (
    FARTHEST,
    blocked,
    convolution,
    in_blocks_of,
    is_native,
    windows_together,
)
from whorl.ops.windows.native_results import moved
from whorl.ops.windows.run_time_layout import AnyAxis


class _Phase(Struct, frozen=True):
    """The elements o * stride + first of an axis of Y: `shifts` are the elements of X, from o on, that taps read."""

    first: int
    count: int
    taps: tuple[int, ...]
    shifts: tuple[int, ...]


class _Axis(Struct, frozen=True):
    """An axis of Y as phases, and how X is spread so that each phase is a convolution with stride 1."""

    track: WindowAxis

    @property
    def phases(self) -> list[_Phase]:
        track, phases = self.track, []
        for first in range(min(track.stride, track.length)):
            distances = [first + track.begin - t * track.dilation for t in range(track.kernel)]
            taps = tuple(t for t, d in enumerate(distances) if d % track.stride == 0)
            count = -(-(track.length - first) // track.stride)
            phases.append(_Phase(first, count, taps, tuple(distances[t] // track.stride for t in taps)))
        return phases

    @property
    def lowest(self) -> int:
        return min((s for phase in self.phases for s in phase.shifts), default=0)

    @property
    def spread(self) -> int:
        """Elements of X that are laid out, from the lowest that is read on."""
        highest = max((s for phase in self.phases for s in phase.shifts), default=0)
        return max(phase.count for phase in self.phases) + highest - self.lowest


class PhasedAxis(Struct, frozen=True):
    """`stride` phases of an axis of X of any length; a tap t brings element i to i * stride - begin + t * dilation."""

    length: Dim
    size: Dim
    kernel: int
    stride: int
    dilation: int
    begin: int

    def shift(self, phase: int, tap: int) -> int | None:
        """The element of X, from o on, that a tap brings to element o of a phase; None where it brings none."""
        distance = phase + self.begin - tap * self.dilation
        return None if distance % self.stride else distance // self.stride

    @property
    def shifts(self) -> range:
        """The shifts of all phases, 0 among them."""
        each = [self.shift(phase, tap) for phase in range(self.stride) for tap in range(self.kernel)]
        known = [0, *(n for n in each if n is not None)]
        return range(min(known), max(known) + 1)

    @property
    def windows(self) -> AnyAxis:
        """The windows over X that give all phases."""
        shifts = self.shifts
        return AnyAxis(self.length, len(shifts), 1, 1, -shifts.start, self.count(0))

    def count(self, phase: int) -> Dim:
        """The elements of a phase; the first one has the most."""
        return dims.call("floor", self.size + (self.stride - 1 - phase), self.stride)


class _Part(Struct, frozen=True):
    """The convolution that gives one phase of every axis."""

    phases: tuple[_Phase, ...]
    offsets: tuple[int, ...]
    result: Buffer
    filters: View | None = None
    table: View | None = None


def transposed_convolution(
    k: NativeBuilder, x: View, w: View, bias: View | None, tracks: Sequence[WindowAxis], group: int
) -> View | None:
    """Y [N, M, lengths...] of X [N, C, counts...], W [C, M / group, kernel...] and a bias or None, kept in memory.

    None where no kernel computes it. Y is not empty, nor are X and W.
    """
    if len(tracks) > AXES:
        return None
    axes = [_Axis(WindowAxis(1, 1, 1, 1, 0, 1))] * (AXES - len(tracks)) + [_Axis(track) for track in tracks]
    lengths = [axis.spread for axis in axes]
    plane, depth = pad_channel_stride(math.prod(lengths)), fixed(x.shape[1]) // group
    if depth * plane > FARTHEST:
        return None
    each = fixed(w.shape[1])
    features = each * group
    term = k.materialise(broadcast_scalar(k, k.const(0, x.dtype), (features,)) if bias is None else bias)
    parts = [_part(k, x, w, axes, phases, group) for phases in itertools.product(*(axis.phases for axis in axes))]
    spread = k.temporary(x.dtype, (depth * plane + OVERREAD_BYTES // x.dtype.itemsize,))
    source, bias_address, zero = k.address(x), k.address(term), k.const(0)
    rows = zip(axes, lengths, strict=True)
    spreading = [plane, *(n for axis, length in rows for n in (axis.track.count, -axis.lowest, 1, 1, length))]
    with k.loop(x.shape[0]) as n, k.loop(group) as g:
        channel = k.add(k.mul(n, k.const(x.shape[1])), k.mul(g, k.const(depth)))
        image = moved(k, source, k.mul(channel, k.const(math.prod(x.shape[2:]))))
        k.call("split_phases", [(spread, (zero,)), image], (0, depth, *spreading))
        first = k.mul(g, k.const(each))
        for part in parts:
            if part.filters is None or part.table is None:
                continue
            inner = depth * len(part.offsets)
            filters = moved(k, k.address(part.filters), k.mul(g, k.const(each * inner)))
            term_address = moved(k, bias_address, first)
            addresses = [(part.result, (n, first, zero, zero, zero)), (spread, (zero,)), k.address(part.table), filters]
            counts = [phase.count for phase in part.phases]
            together = windows_together(math.prod(counts), depth * plane * x.dtype.itemsize)
            reach = (depth - 1) * plane + max(part.offsets)
            numbers = (each, inner, 0, together, reach, *counts, *lengths[1:])
            k.call("convolution", [*addresses, term_address, term_address], numbers)
    return _interleave(k, x, parts, axes, features, term, tracks)


def transposed_at_run_time(
    k: NativeBuilder, x: View, w: View, bias: View | None, axes: Sequence[PhasedAxis], group: int
) -> View | None:
    """As `transposed_convolution`, for X of lengths that only the run knows. None where no kernel computes it."""
    tracks, strides = [axis.windows for axis in axes], [axis.stride for axis in axes]
    if not is_native(tracks, fixed(x.shape[1]), x.dtype.itemsize):
        return None
    features, count = fixed(w.shape[1]) * group, math.prod(strides)
    term = None if bias is None else k.materialise(bias)
    spread = (
        None
        if term is None
        else k.view(x.dtype, (features * count,), lambda at: term.at((k.div(at[0], k.const(count)),)), 1)
    )
    each = convolution(k, x, blocked(k, _filters_of_phases(k, w, axes, group), group), spread, tracks, features * count)
    y = k.temporary(x.dtype, (x.shape[0], features, *(axis.size for axis in axes)))
    for number, phases in enumerate(itertools.product(*map(range, strides))):
        counts = [axis.count(phase) for axis, phase in zip(axes, phases, strict=True)]
        with k.nest((x.shape[0], features, *counts)) as (n, m, *index):
            spots = [k.add(k.mul(i, k.const(s)), k.const(p)) for i, s, p in zip(index, strides, phases, strict=True)]
            value = each.at((n, k.add(k.mul(m, k.const(count)), k.const(number)), *index))
            k.store(y, (n, m, *spots), value)
    return k.view_of(y, (x.shape[0], features, *(axis.size for axis in axes)))


def _filters_of_phases(k: NativeBuilder, w: View, axes: Sequence[PhasedAxis], group: int) -> View:
    """W [C, M / group, kernel...] as filters [M * phases, C / group, shifts...], 0 where no tap has a shift."""
    (channels, each), strides = w.fixed_shape[:2], [axis.stride for axis in axes]
    depth, count = channels // group, math.prod(strides)
    filters = k.temporary(w.dtype, (each * group * count, depth, *(len(axis.shifts) for axis in axes)))
    taps = [*itertools.product(*(range(axis.kernel) for axis in axes))]
    with k.nest(tuple(n for n in filters.shape if isinstance(n, int))) as index:
        k.store(filters, index, k.const(0, w.dtype))
    for number, phases in enumerate(itertools.product(*map(range, strides))):
        for tap in taps:
            shifts = [axis.shift(phase, t) for axis, phase, t in zip(axes, phases, tap, strict=True)]
            if None in shifts:
                continue
            spot = [k.const(n - axis.shifts.start) for n, axis in zip(shifts, axes, strict=True) if n is not None]
            with k.nest((group, each, depth)) as (g, m, c):
                feature = k.add(k.mul(k.add(k.mul(g, k.const(each)), m), k.const(count)), k.const(number))
                channel = k.add(k.mul(g, k.const(depth)), c)
                k.store(filters, (feature, c, *spot), w.at((channel, m, *map(k.const, tap))))
    return k.view_of(filters)


def _part(k: NativeBuilder, x: View, w: View, axes: Sequence[_Axis], phases: tuple[_Phase, ...], group: int) -> _Part:
    """The filters and offsets of a phase of every axis, and memory for what it gives."""
    lengths, depth = [axis.spread for axis in axes], fixed(x.shape[1]) // group
    offsets = []
    for shifts in itertools.product(*(phase.shifts for phase in phases)):
        distances = [shift - axis.lowest for shift, axis in zip(shifts, axes, strict=True)]
        offsets.append(WindowGrid(distances[0] + 1, distances[1] + 1, distances[2], lengths[1], lengths[2]).span)
    shape = (x.shape[0], w.shape[1] * group, *(phase.count for phase in phases))
    result = k.temporary(x.dtype, shape)
    if not offsets:
        return _Part(phases, (), result)
    taps = list(itertools.product(*(phase.taps for phase in phases)))
    own = k.temporary(w.dtype, (group, w.shape[1], depth * len(taps)))
    for position, tap in enumerate(taps):
        with k.nest((group, w.shape[1], depth)) as (g, m, c):
            channel = k.add(k.mul(g, k.const(depth)), c)
            coordinates = tap[AXES - (len(w.shape) - 2) :]
            value = w.at((channel, m, *(k.const(t) for t in coordinates)))
            k.store(own, (g, m, k.add(k.mul(c, k.const(len(taps))), k.const(position))), value)
    table = embed_array(k, tap_table(offsets, pad_channel_stride(math.prod(lengths)), depth))
    return _Part(phases, tuple(offsets), result, in_blocks_of(k, k.view_of(own)), table)


def _interleave(
    k: NativeBuilder,
    x: View,
    parts: Sequence[_Part],
    axes: Sequence[_Axis],
    features: int,
    term: View,
    tracks: Sequence[WindowAxis],
) -> View:
    """Y out of the results of all phases."""
    lengths = [axis.track.length for axis in axes]
    y = k.temporary(x.dtype, (x.shape[0], features, *lengths[AXES - len(tracks) :]))
    for part in parts:
        source = k.view_of(part.result)
        with k.nest(source.shape) as index:
            value = source.at(index) if part.filters is not None else term.at(index[1:2])
            spots = [
                k.add(k.mul(i, k.const(axis.track.stride)), k.const(phase.first))
                for i, axis, phase in zip(index[2:], axes, part.phases, strict=True)
            ]
            k.store(y, (*index[:2], *spots[AXES - len(tracks) :]), value)
    return k.view_of(y)
