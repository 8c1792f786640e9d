"""Filters in blocks of features, and padded, phase-split inputs: the order in memory in which convolutions read.

Convolutions and pools read a copy of the image with its padding, cut into the phases of the strides. Then a tap reads
neighbouring windows at neighbouring addresses, whatever the stride, dilation, padding or number of axes, and what is
left of the geometry is a table with the distance of each tap. An image that lies so already (1 x 1 filters, no padding)
is not copied.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from whorl.ops.linear.packed_weights import aligned_empty
from whorl.ops.windows.geometry import Track

BLOCK = 12
"""The most features whose sums are computed side by side."""
WIDEST_BYTES = 512
"""The most bytes of windows that are computed side by side: so far beyond its last window an image may be read."""
PLANE_STEP = 16
"""Channels lie an odd multiple of so many elements apart."""
MOST_TAPS, LONGEST = 1 << 20, 1 << 31
"""Elements of a window, and of a spread image, that tables of int32 describe."""
AXES = 3
"""Spatial axes that native convolutions have; fewer are filled up with axes of one element in front."""


def filter_blocks(features: int) -> list[tuple[int, int, int]]:
    """Blocks of almost equal height: (height, first feature, how many), the higher ones first."""
    count = -(-features // BLOCK)
    height, higher = divmod(features, max(1, count))
    blocks = [(height + 1, 0, higher), (height, higher * (height + 1), count - higher)]
    return [block for block in blocks if block[2]]


def in_blocks(filters: np.ndarray) -> np.ndarray:
    """Filters [group, features, taps] as [group, features * taps]: block by block, tap by tap, a feature an element."""
    group, features, taps = filters.shape
    packed = aligned_empty((group, features * taps), filters.dtype)
    for height, first, count in filter_blocks(features):
        part = filters[:, first : first + height * count].reshape(group, count, height, taps)
        target = packed[:, first * taps : (first + height * count) * taps].reshape(group, count, taps, height)
        target[...] = part.swapaxes(2, 3)
    return packed


def from_blocks(packed: np.ndarray, features: int) -> np.ndarray:
    """The filters [features, taps] of one group that lie in blocks."""
    taps = packed.size // max(1, features)
    filters = np.empty((features, taps), packed.dtype)
    for height, first, count in filter_blocks(features):
        part = packed[first * taps : (first + height * count) * taps].reshape(count, taps, height)
        filters[first : first + height * count] = part.swapaxes(1, 2).reshape(height * count, taps)
    return filters


@dataclass(frozen=True)
class Spread:
    """An image with its padding, cut into the phases of its strides, so that a tap reads windows at a fixed distance.

    Spread: [C, phases of each axis, lengths of each axis]; element i of phase f of an axis is the image's element
    i * stride + f - begin. The windows o and o + 1 of an axis then read neighbours, whatever the stride.
    """

    tracks: tuple[Track, Track, Track]
    phases: tuple[int, ...]
    lengths: tuple[int, ...]
    direct: bool

    @property
    def counts(self) -> tuple[int, ...]:
        """Windows along each axis."""
        return tuple(t.count for t in self.tracks)

    @property
    def plane(self) -> int:
        """Elements from one channel to the next; spread ones never share the same few places of a cache."""
        size = math.prod(self.phases) * math.prod(self.lengths)
        return size if self.direct else spread_plane(size)

    @property
    def taps(self) -> int:
        return math.prod(t.kernel for t in self.tracks)

    def tap_offsets(self) -> list[int]:
        """How far each tap reads from the place of its window, in a channel."""
        found = []
        for tap in np.ndindex(*(t.kernel for t in self.tracks)):
            steps = [divmod(i * t.dilation, t.stride) for i, t in zip(tap, self.tracks, strict=True)]
            phase, place = 0, 0
            for (shift, rest), phases, length in zip(steps, self.phases, self.lengths, strict=True):
                phase, place = phase * phases + rest, place * length + shift
            found.append(phase * math.prod(self.lengths) + place)
        return found

    def offsets(self, channels: int) -> np.ndarray:
        """How far each tap of each channel reads from the place of its window."""
        return tap_table(self.tap_offsets(), self.plane, channels)

    def reach(self, channels: int) -> int:
        return max(0, channels - 1) * self.plane + max(self.tap_offsets(), default=0)

    @property
    def numbers(self) -> tuple[int, ...]:
        """What kernels are told of the windows: counts of each axis, rows of a slice, elements of a row."""
        return (*self.counts, self.lengths[1], self.lengths[2])

    @property
    def places(self) -> int:
        """From the place of the first window to that of the last one, both counted."""
        return span_of_places(*self.numbers)

    @property
    def spreading(self) -> tuple[int, ...]:
        """What the kernel that spreads is told: the plane; length, begin, stride, phases and length of each axis."""
        rows = zip(self.tracks, self.phases, self.lengths, strict=True)
        return self.plane, *(n for t, f, length in rows for n in (t.length, t.begin, t.stride, f, length))


def tap_table(taps: Sequence[int], plane: int, channels: int) -> np.ndarray:
    """How far each tap of each channel reads, given that of each tap and of the next channel."""
    planes = np.arange(channels, dtype=np.int32)[:, None] * np.int32(plane)
    return (planes + np.array(taps, np.int32)).reshape(-1)


def spread_plane(size: int) -> int:
    """The next odd multiple of PLANE_STEP."""
    return (-(-size // PLANE_STEP) | 1) * PLANE_STEP


def span_of_places(depth: int, rows: int, width: int, row_pitch: int, pitch: int) -> int:
    """The places from that of the first window to that of the last one."""
    return ((depth - 1) * row_pitch + rows - 1) * pitch + width


def are_near(tracks: Sequence[Track]) -> bool:
    """Whether tables of what windows read are of a size that can be made and indexed."""
    taps, spread = math.prod(t.kernel for t in tracks), 1
    for t in tracks:
        spread *= t.count * t.stride + t.kernel * t.dilation
    return taps <= MOST_TAPS and spread <= LONGEST


def spread_of(tracks: Sequence[Track], itemsize: int, may_be_direct: bool = True) -> Spread:
    """How windows over an image are laid out; `direct` where the image itself lies so already, if that may be used."""
    axes = (*(Track(1, 1, 1, 1, 0, 1),) * (AXES - len(tracks)), *tracks)
    assert len(axes) == AXES
    phases = tuple(max(i * t.dilation % t.stride for i in range(t.kernel)) + 1 for t in axes)
    lengths = tuple(t.count + max(i * t.dilation // t.stride for i in range(t.kernel)) for t in axes)
    found = Spread(axes, phases, lengths, False)
    is_plain = all(t.stride == 1 and t.begin == 0 and n <= t.length for t, n in zip(axes, lengths, strict=True))
    if not is_plain or not may_be_direct:
        return found
    plain = replace(found, lengths=tuple(t.length for t in axes), direct=True)
    if all(t.kernel == 1 for t in axes) and plain.counts == plain.lengths:
        size = math.prod(plain.lengths)
        row = Track(size, 1, 1, 1, 0, size)
        plain = replace(plain, tracks=(Track(1, 1, 1, 1, 0, 1),) * 2 + (row,), lengths=(1, 1, size))
    return plain if plain.places * itemsize >= WIDEST_BYTES else found
