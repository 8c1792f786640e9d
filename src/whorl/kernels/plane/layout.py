"""Padded, phase-split inputs: the order in memory in which convolutions and pools read an image.

They read a copy of the image with its padding, cut into the phases of the strides. Then a tap reads neighbouring
windows at neighbouring addresses, whatever the stride, dilation, padding or number of axes, and the rest of the
geometry is a table with the offset of each tap. An image that lies so already, for 1 x 1 filters, is not copied.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whorl.kernels.machine import (
    CHANNEL_STEP,
    DENSE_PRODUCTS,
    MAX_ELEMENTS,
    MAX_TAPS,
    OVERREAD_BYTES,
    SAME_FEATURES,
    SAME_WINDOWS,
    SMALL_FRAME,
)
from whorl.kernels.windows import WindowAxis, WindowGrid

AXES = 3
"""Spatial axes that native convolutions have; fewer are filled up with axes of one element in front."""
_SINGLE = WindowAxis(1, 1, 1, 1, 0, 1)


class PhaseSplit(Struct, frozen=True):
    """An image with its padding, cut into the phases of its strides, so that a tap reads windows at a fixed offset.

    Its shape is [C, phases of each axis, lengths of each axis]; element i of phase f of an axis is the image's element
    i * stride + f - begin. So the windows o and o + 1 of an axis read neighbours, whatever the stride. Where it
    `is_dense`, each tap of the last axis has a phase of as many elements as there are windows, so that rows of windows
    follow each other without a gap.
    """

    axes: tuple[WindowAxis, WindowAxis, WindowAxis]
    phases: tuple[int, ...]
    lengths: tuple[int, ...]
    direct: bool
    """Whether the image itself lies so, and is not copied."""
    is_dense: bool = False

    @property
    def counts(self) -> tuple[int, ...]:
        """Windows along each axis."""
        return tuple(axis.count for axis in self.axes)

    @property
    def channel_stride(self) -> int:
        """Elements from one channel to the next."""
        size = math.prod(self.phases) * math.prod(self.lengths)
        return size if self.direct else pad_channel_stride(size)

    @property
    def taps(self) -> int:
        return math.prod(axis.kernel for axis in self.axes)

    def tap_offsets(self) -> list[int]:
        """How far each tap reads from the address of its window, in a channel."""
        offsets: list[int] = []
        for tap in np.ndindex(*(axis.kernel for axis in self.axes)):
            phase, position = 0, 0
            for n, (i, axis, phases, length) in enumerate(zip(tap, self.axes, self.phases, self.lengths, strict=True)):
                is_phase = self.is_dense and n == AXES - 1
                shift, rest = (0, i * axis.dilation) if is_phase else divmod(i * axis.dilation, axis.stride)
                phase, position = phase * phases + rest, position * length + shift
            offsets.append(phase * math.prod(self.lengths) + position)
        return offsets

    def offsets(self, channels: int) -> np.ndarray:
        """How far each tap of each channel reads from the address of its window."""
        return tap_table(self.tap_offsets(), self.channel_stride, channels)

    def reach(self, channels: int) -> int:
        """The largest offset."""
        return max(0, channels - 1) * self.channel_stride + max(self.tap_offsets(), default=0)

    @property
    def grid(self) -> WindowGrid:
        depth, rows, width = self.counts
        return WindowGrid(depth, rows, width, self.lengths[1], self.lengths[2])

    @property
    def split_numbers(self) -> tuple[int, ...]:
        """Numbers of the kernel `split_phases`: the channel stride, and five of each axis."""
        rows = zip(self.axes, self.phases, self.lengths, strict=True)
        return self.channel_stride, *(n for a, f, length in rows for n in (a.length, a.begin, a.stride, f, length))


class AroundElements(Struct, frozen=True):
    """A window around every element of an image, which is read as it lies; what windows have outside are zeros."""

    axes: tuple[WindowAxis, WindowAxis]

    @property
    def counts(self) -> tuple[int, ...]:
        return tuple(axis.count for axis in self.axes)

    @property
    def taps(self) -> int:
        return math.prod(axis.kernel for axis in self.axes)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Those of the kernel `same_convolution` from the lengths of the image on."""
        rows, columns = self.axes
        pairs = [(a.length, a.kernel, a.dilation, a.begin) for a in (rows, columns)]
        return tuple(n for pair in zip(*pairs, strict=True) for n in pair)


def around_elements(axes: Sequence[WindowAxis], features: int, itemsize: int) -> AroundElements | None:
    """The layout without a copy, where windows lie so and each is read by so many features that it pays."""
    rows, columns = (*(_SINGLE,) * (2 - len(axes)), *axes) if len(axes) <= 2 else (None, None)
    if rows is None or columns is None or features < SAME_FEATURES:
        return None
    if any(axis.stride > 1 or axis.count != axis.length for axis in (rows, columns)):
        return None
    layout, size = AroundElements((rows, columns)), rows.count * columns.count
    is_read_as_it_lies = layout.taps == 1 and not SAME_WINDOWS <= size < OVERREAD_BYTES // itemsize
    return None if is_read_as_it_lies or layout.taps > SMALL_FRAME[0] else layout


def tap_table(taps: Sequence[int], channel_stride: int, channels: int) -> np.ndarray:
    """The offset of each tap of each channel, from that of each tap of the first."""
    starts = np.arange(channels, dtype=np.int32)[:, None] * np.int32(channel_stride)
    return (starts + np.array(taps, np.int32)).reshape(-1)


def pad_channel_stride(size: int) -> int:
    """The next odd multiple of CHANNEL_STEP."""
    return (-(-size // CHANNEL_STEP) | 1) * CHANNEL_STEP


def is_addressable(axes: Sequence[WindowAxis]) -> bool:
    """Whether the table of taps can be made, and int32 counts the elements that windows read."""
    taps, elements = math.prod(axis.kernel for axis in axes), 1
    for axis in axes:
        elements *= axis.count * axis.stride + axis.kernel * axis.dilation
    return taps <= MAX_TAPS and elements <= MAX_ELEMENTS


def split_phases(
    axes: Sequence[WindowAxis], itemsize: int, may_be_direct: bool = True, features: int = 0
) -> PhaseSplit:
    """How windows over an image are laid out; `direct` where the image itself lies so already, if that may be used.

    It is dense where that spares so many features more products than it takes copies.
    """
    assert len(axes) <= AXES
    first, second, third = (*(_SINGLE,) * (AXES - len(axes)), *axes)
    three = (first, second, third)
    phases = tuple(max(i * a.dilation % a.stride for i in range(a.kernel)) + 1 for a in three)
    lengths = tuple(a.count + max(i * a.dilation // a.stride for i in range(a.kernel)) for a in three)
    copied = PhaseSplit(three, phases, lengths, False)
    is_plain = all(a.stride == 1 and a.begin == 0 and n <= a.length for a, n in zip(three, lengths, strict=True))
    if not is_plain or not may_be_direct:
        return _dense(copied, features) or copied
    plain = replace(copied, lengths=tuple(a.length for a in three), direct=True)
    if all(a.kernel == 1 for a in three) and plain.counts == plain.lengths:
        size = math.prod(plain.lengths)
        plain = replace(plain, axes=(_SINGLE, _SINGLE, WindowAxis(size, 1, 1, 1, 0, size)), lengths=(1, 1, size))
    return plain if plain.grid.span * itemsize >= OVERREAD_BYTES else copied


def _dense(copied: PhaseSplit, features: int) -> PhaseSplit | None:
    """The layout made dense, where that pays."""
    last = copied.axes[-1]
    if len({axis.count for axis in copied.axes[:1]} - {1}) or not features:
        return None
    phases = (*copied.phases[:-1], (last.kernel - 1) * last.dilation + 1)
    dense = replace(copied, phases=phases, lengths=(*copied.lengths[:-1], last.count), is_dense=True)
    spared = features * copied.taps * (copied.grid.span - dense.grid.span)
    return dense if spared > DENSE_PRODUCTS * (dense.channel_stride - copied.channel_stride) else None
