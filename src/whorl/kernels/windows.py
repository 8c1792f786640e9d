"""Windows that slide along axes: the geometry that convolutions and planes share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace


class WindowAxis(Struct, frozen=True):
    """The windows along one axis: window o reads the elements o * stride - begin + t * dilation for t < kernel."""

    length: int
    kernel: int
    stride: int
    dilation: int
    begin: int
    count: int

    def tap(self, t: int) -> tuple[slice, slice]:
        """The windows whose element t lies on the axis, and those elements."""
        shift = t * self.dilation - self.begin
        first = max(0, -(shift // self.stride))
        stop = min(self.count, (self.length - 1 - shift) // self.stride + 1)
        if stop <= first:
            return slice(0, 0), slice(0, 0)
        start = first * self.stride + shift
        return slice(first, stop), slice(start, start + (stop - first - 1) * self.stride + 1, self.stride)

    @property
    def near(self) -> range:
        """The elements of windows that may lie on the axis: none of the others do in any window."""
        first = -(((self.count - 1) * self.stride - self.begin) // self.dilation)
        last = (self.length - 1 + self.begin) // self.dilation
        return range(max(0, first), min(self.kernel, last + 1))

    def part(self, windows: slice) -> WindowAxis:
        """The windows of a range alone, counted from its start."""
        return replace(self, begin=self.begin - windows.start * self.stride, count=windows.stop - windows.start)


class WindowGrid(NamedTuple):
    """Windows along three axes of a phase-split input, whose slices have `row_pitch` rows of `pitch` elements.

    The window (d, r, w) has the address (d * row_pitch + r) * pitch + w; a tap reads at a fixed offset from there.
    """

    depth: int
    rows: int
    width: int
    row_pitch: int
    pitch: int

    @property
    def windows(self) -> int:
        return self.depth * self.rows * self.width

    @property
    def span(self) -> int:
        """Elements from the address of the first window to that of the last one, both counted."""
        return ((self.depth - 1) * self.row_pitch + self.rows - 1) * self.pitch + self.width

    def addresses(self) -> np.ndarray:
        """The address of every window."""
        d, r, w = np.ogrid[: self.depth, : self.rows, : self.width]
        return ((d * self.row_pitch + r) * self.pitch + w).reshape(-1)
