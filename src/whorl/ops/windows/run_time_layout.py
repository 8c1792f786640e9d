"""Phase-split inputs whose lengths only the run knows: `PhaseSplit` over dims, with a table that programs write.

The image is always copied: whether reading beyond its end stays inside its memory only the run could say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import INT32
from whorl.ir.native.builder import Address, NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.kernels.machine import CHANNEL_STEP, MAX_TAPS
from whorl.kernels.plane.layout import AXES, AroundElements, PhaseSplit, around_elements, is_addressable, split_phases
from whorl.kernels.windows import WindowAxis
from whorl.ops.native.index_maps import embed_array

FARTHEST = (1 << 31) - 1
"""The largest offset that a table holds."""


class AnyAxis(Struct, frozen=True):
    """A `WindowAxis` of a length that may be a dim, and what follows from it."""

    length: Dim
    kernel: int
    stride: int
    dilation: int
    begin: Dim
    count: Dim


Axis = WindowAxis | AnyAxis
_SINGLE = AnyAxis(1, 1, 1, 1, 0, 1)


class AnySplit(Struct, frozen=True):
    """A `PhaseSplit` over dims; its offsets are those of the table, `reach` none of which exceeds."""

    axes: tuple[Axis, ...]
    direct: bool = False

    @property
    def counts(self) -> tuple[Dim, ...]:
        return tuple(axis.count for axis in self.axes)

    @property
    def phases(self) -> tuple[int, ...]:
        return tuple(max(i * a.dilation % a.stride for i in range(a.kernel)) + 1 for a in self.axes)

    @property
    def lengths(self) -> tuple[Dim, ...]:
        return tuple(a.count + max(i * a.dilation // a.stride for i in range(a.kernel)) for a in self.axes)

    @property
    def size(self) -> Dim:
        return dims.product((*self.phases, *self.lengths))

    @property
    def channel_stride(self) -> Dim:
        steps = dims.call("floor", self.size + (CHANNEL_STEP - 1), CHANNEL_STEP)
        return (dims.call("floor", steps, 2) * 2 + 1) * CHANNEL_STEP

    @property
    def taps(self) -> int:
        return math.prod(axis.kernel for axis in self.axes)

    @property
    def span(self) -> Dim:
        depth, rows, width = self.counts
        return ((depth - 1) * self.lengths[1] + (rows - 1)) * self.lengths[2] + width

    @property
    def grid(self) -> tuple[Dim, ...]:
        return *self.counts, *self.lengths[1:]

    def reach(self, channels: int) -> Dim:
        return self.channel_stride * (channels - 1) + (self.size - self.span)

    @property
    def split_numbers(self) -> tuple[Dim, ...]:
        rows = zip(self.axes, self.phases, self.lengths, strict=True)
        return self.channel_stride, *(n for a, f, length in rows for n in (a.length, a.begin, a.stride, f, length))

    def table(self, k: NativeBuilder, channels: int) -> Address:
        """How far each tap of each channel reads from the address of its window, computed by the program."""
        kernel = [axis.kernel for axis in self.axes]
        buffer, zero = k.temporary(INT32, (channels, *kernel)), k.const(0)
        k.fail_unless(k.compare("le", k.length(self.reach(channels)), k.const(FARTHEST)))
        with k.nest((channels, *kernel)) as (c, *tap):
            phase, position = zero, zero
            for i, axis, phases, length in zip(tap, self.axes, self.phases, self.lengths, strict=True):
                step = k.mul(i, k.const(axis.dilation))
                rest = k.apply("rem", step, k.const(axis.stride)) if phases > 1 else zero
                shift = k.div(step, k.const(axis.stride)) if axis.stride > 1 else step
                phase = k.add(k.mul(phase, k.const(phases)), rest)
                position = k.add(k.mul(position, k.const(length)), shift)
            offset = k.add(k.mul(phase, k.const(dims.product(self.lengths))), position)
            far = k.add(k.mul(c, k.const(self.channel_stride)), offset)
            k.store(buffer, (c, *tap), k.cast(far, INT32))
        return buffer, (zero,) * (1 + AXES)


Split = PhaseSplit | AnySplit
Layout = Split | AroundElements


def fixed_axes(axes: Sequence[Axis]) -> list[WindowAxis] | None:
    """The axes, if all their lengths are numbers."""
    known = [axis for axis in axes if isinstance(axis, WindowAxis)]
    return known if len(known) == len(axes) else None


def layout_of(axes: Sequence[Axis], itemsize: int, features: int) -> Layout:
    """How the image lies that windows of a convolution read, for so many features that are computed of each."""
    fixed = fixed_axes(axes)
    around = None if fixed is None else around_elements(fixed, features, itemsize)
    return around or split_of(axes, itemsize, features=features)


def split_of(axes: Sequence[Axis], itemsize: int, may_be_direct: bool = True, features: int = 0) -> Split:
    """How windows over an image are laid out; for so many features that are computed of each."""
    fixed = fixed_axes(axes)
    if fixed is not None:
        return split_phases(fixed, itemsize, may_be_direct, features)
    return AnySplit((*(_SINGLE,) * (AXES - len(axes)), *axes))


def is_split(axes: Sequence[Axis]) -> bool:
    """Whether windows over so many axes are laid out, and tables hold their taps as far as lengths are known."""
    if len(axes) > AXES or any(axis.kernel < 1 for axis in axes):
        return False
    fixed = fixed_axes(axes)
    return math.prod(axis.kernel for axis in axes) <= MAX_TAPS if fixed is None else is_addressable(fixed)


def table_of(k: NativeBuilder, layout: Split, channels: int) -> Address:
    """The table of a layout's offsets in memory."""
    return (
        layout.table(k, channels)
        if isinstance(layout, AnySplit)
        else k.address(embed_array(k, layout.offsets(channels)))
    )


def span_of(layout: Split) -> Dim:
    """Elements from the address of the first window to that of the last one, both counted."""
    return layout.span if isinstance(layout, AnySplit) else layout.grid.span


def numbers_of(k: NativeBuilder, lengths: Sequence[Dim]) -> tuple[int | Expr, ...]:
    """Lengths as kernels take them."""
    return tuple([n if isinstance(n, int) else k.length(n) for n in lengths])
