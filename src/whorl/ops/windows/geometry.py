"""Windows that slide over spatial axes: how many there are, where they lie, and which elements they read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Protocol, cast

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import Dim, Linear
from whorl.ir.types import Fact, tensor
from whorl.kernels.windows import WindowAxis
from whorl.ops.windows.run_time_layout import AnyAxis, Axis

Slices = tuple[slice, ...]
AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
FARTHEST = (1 << 31) - 1
"""Lengths, steps and paddings of windows, at most."""


class Windows(Struct, frozen=True):
    """The shape and the steps of windows, one entry a spatial axis. `pads` are all begins, then all ends."""

    kernel: tuple[Dim, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[int, ...]
    auto_pad: str = "NOTSET"
    ceil: bool = False

    def counts(self, lengths: Sequence[Dim]) -> tuple[Dim, ...]:
        """The number of windows along each axis."""
        return tuple(self._count(axis, length) for axis, length in enumerate(lengths))

    def tracks(self, lengths: Sequence[int]) -> list[WindowAxis]:
        """The windows along each axis of known length."""
        return [self._track(axis, length) for axis, length in enumerate(lengths)]

    def axes(self, lengths: Sequence[Dim]) -> list[Axis]:
        """The windows along each axis, of lengths that may be dims; the kernel is known."""
        return [
            self._track(axis, n) if isinstance(n, int) else self._any_track(axis, n) for axis, n in enumerate(lengths)
        ]

    def span(self, axis: int) -> Dim:
        """The distance from a window's first element to its last one, both counted."""
        return (self.kernel[axis] - 1) * self.dilations[axis] + 1

    def padding(self, axis: int) -> tuple[int, int]:
        """The explicit padding before and after an axis."""
        if self.auto_pad != "NOTSET":
            return 0, 0
        return self.pads[axis], self.pads[axis + len(self.kernel)]

    def around(self, track: WindowAxis, axis: int) -> tuple[int, int]:
        """The padding before and after an axis, explicit or automatic."""
        if not self.auto_pad.startswith("SAME"):
            return self.padding(axis)
        reached = (track.count - 1) * track.stride + (track.kernel - 1) * track.dilation + 1
        return split_padding(reached - track.length, self.auto_pad)

    def around_any(self, track: Axis, axis: int) -> tuple[Dim, Dim]:
        """`around` of an axis of a length that may be a dim."""
        if isinstance(track, WindowAxis):
            return self.around(track, axis)
        if not self.auto_pad.startswith("SAME"):
            return self.padding(axis)
        reached = (track.count - 1) * track.stride + ((track.kernel - 1) * track.dilation + 1)
        total = dims.call("max", reached - track.length, 0)
        small = dims.call("floor", total, 2)
        return (small, total - small) if self.auto_pad == "SAME_UPPER" else (total - small, small)

    def _count(self, axis: int, length: Dim) -> Dim:
        stride, span, (begin, end) = self.strides[axis], self.span(axis), self.padding(axis)
        if self.auto_pad.startswith("SAME"):
            return floor_divide(length - 1, stride) + 1
        free = length + (begin + end) - span
        if not self.ceil or self.auto_pad == "VALID":
            count = floor_divide(free, stride) + 1
        else:
            count = floor_divide(free + (stride - 1), stride) + 1
            if not isinstance(span, int) or end + stride > span:
                count = dims.call("min", count, floor_divide(length + (begin - 1), stride) + 1)
        if isinstance(count, int) and count < 0:
            padded = length + (begin + end)
            raise TypeRuleError(
                f"a window over {span} elements does not fit spatial axis {axis} of padded length {padded}"
            )
        return count

    def _track(self, axis: int, length: int) -> WindowAxis:
        kernel, count = cast(int, self.kernel[axis]), cast(int, self._count(axis, length))
        track = WindowAxis(length, kernel, self.strides[axis], self.dilations[axis], 0, count)
        return replace(track, begin=self.around(track, axis)[0])

    def _any_track(self, axis: int, length: Dim) -> AnyAxis:
        kernel, count = cast(int, self.kernel[axis]), self._count(axis, length)
        track = AnyAxis(length, kernel, self.strides[axis], self.dilations[axis], 0, count)
        return replace(track, begin=self.around_any(track, axis)[0])


def split_padding(total: int, auto_pad: str) -> tuple[int, int]:
    """Padding before and after, the odd element after for SAME_UPPER and before otherwise; negative padding is none."""
    small = max(0, total) // 2
    large = max(0, total) - small
    return (small, large) if auto_pad == "SAME_UPPER" else (large, small)


class Sliding(Protocol):
    """The attributes that ops with windows share; None stands for the default of every axis."""

    @property
    def strides(self) -> tuple[int, ...] | None: ...
    @property
    def dilations(self) -> tuple[int, ...] | None: ...
    @property
    def pads(self) -> tuple[int, ...] | None: ...


def windows_of(op: Sliding, kernel: Sequence[Dim], auto_pad: str = "NOTSET", ceil: bool = False) -> Windows:
    """The windows that the attributes of an op describe, after they are seen to fit the number of axes."""
    rank = len(kernel)
    if auto_pad not in AUTO_PADS:
        raise TypeRuleError(f"auto_pad is {auto_pad!r}", fix=f"one of {', '.join(AUTO_PADS)}")
    strides, dilations = per_axis(op.strides, rank, "strides", 1), per_axis(op.dilations, rank, "dilations", 1)
    for what, steps in (("strides", strides), ("dilations", dilations)):
        if any(step < 1 for step in steps):
            raise TypeRuleError(f"{what} is {list(steps)}, expected positive numbers")
    pads = per_axis(op.pads, 2 * rank, "pads", 0)
    entries = ("kernel_shape", kernel), ("strides", strides), ("dilations", dilations), ("pads", pads)
    for what, numbers in entries:
        if any(isinstance(n, int) and abs(n) > FARTHEST for n in numbers):
            raise TypeRuleError(f"{what} is {list(numbers)}, expected numbers of at most {FARTHEST}")
    return Windows(tuple(kernel), strides, dilations, pads, auto_pad, ceil)


def per_axis(values: tuple[int, ...] | None, count: int, what: str, default: int) -> tuple[int, ...]:
    """An attribute with an entry for each axis, the default where it is omitted or empty."""
    if values and len(values) != count:
        raise TypeRuleError(f"{what} has {len(values)} entries, expected {count}")
    return values or (default,) * count


def spatial_rank(*candidates: Fact | tuple[int, ...] | None) -> int | None:
    """The number of spatial axes, by the first tensor [N, C, axes...] or attribute that tells it."""
    for candidate in candidates:
        if isinstance(candidate, tuple):
            if candidate:
                return len(candidate)
        elif candidate is not None and (rank := tensor(candidate).rank) is not None:
            if rank < 2:
                raise TypeRuleError(f"a tensor of rank {rank} has no batch and channel axes")
            return rank - 2
    return None


def floor_divide(a: Dim, b: int) -> Dim:
    """`a // b` for b > 0 with whole multiples of b taken out of the constant, so that equal quotients look equal."""
    if not isinstance(a, Linear):
        return a // b
    whole, rest = divmod(a.constant, b)
    return dims.call("floor", a + (rest - a.constant), b) + whole


def unfold(x: np.ndarray, tracks: Sequence[WindowAxis]) -> np.ndarray:
    """[..., *axes] -> [..., taps, *windows]: the elements of every window, 0 where one lies outside."""
    kernel, counts = [t.kernel for t in tracks], [t.count for t in tracks]
    leading = x.shape[: x.ndim - len(tracks)]
    if math.prod(kernel) == 1:
        windows, elements = taps(tracks, (0,) * len(tracks))
        if all(w == slice(0, t.count) for w, t in zip(windows, tracks, strict=True)):
            return np.expand_dims(x[(..., *elements)], len(leading))
    columns = np.zeros((*leading, math.prod(kernel), *counts), x.dtype)
    for index, tap in enumerate(np.ndindex(*kernel)):
        windows, elements = taps(tracks, tap)
        columns[(..., index, *windows)] = x[(..., *elements)]
    return columns


def fold(columns: np.ndarray, tracks: Sequence[WindowAxis], into: np.ndarray) -> None:
    """The transpose of `unfold`: add [..., taps, *windows] to the elements [..., *axes] that the windows read."""
    for index, tap in enumerate(np.ndindex(*(t.kernel for t in tracks))):
        windows, elements = taps(tracks, tap)
        into[(..., *elements)] += columns[(..., index, *windows)]


def taps(tracks: Sequence[WindowAxis], tap: Sequence[int]) -> tuple[Slices, Slices]:
    """The windows whose element `tap` lies inside, and those elements, axis by axis."""
    pairs = [track.tap(t) for track, t in zip(tracks, tap, strict=True)]
    return tuple(p[0] for p in pairs), tuple(p[1] for p in pairs)


def blocks(counts: Sequence[int], limit: int) -> Iterator[Slices]:
    """Cut a grid into boxes of at most `limit` cells (one at least), whole along the last axes."""
    if not counts:
        yield ()
        return
    rest = math.prod(counts[1:])
    step = max(1, limit // max(1, rest))
    for start in range(0, counts[0], step):
        stop = min(start + step, counts[0])
        for inner in blocks(counts[1:], limit) if rest > limit else [tuple(slice(0, c) for c in counts[1:])]:
            yield slice(start, stop), *inner
