"""Convolutions with a window around every element of an image, in LLVM IR: windows are gathered from the image itself.

Other convolutions read a copy of the image with its padding. Here so many taps of some windows are gathered at a time
that the ones outside the image can be zeros where they are gathered: no copy is made, no window lies between rows, and
each core reads only what its own windows need.
"""

from __future__ import annotations

from msgspec import Struct

from whorl.kernels.convolution.gathered import Room
from whorl.kernels.convolution.tile import Tile
from whorl.llvm.module import Module
from whorl.llvm.routine import Routine
from whorl.llvm.value import Index, Value
from whorl.llvm.vectors import Vectors

AROUND = ("height", "width", "kernel_rows", "kernel_columns", "row_step", "column_step", "row_begin", "column_begin")
"""Numbers of an image and its windows: lengths, taps along each axis, dilations, and padding before the first."""


class AroundEach(Struct, frozen=True):
    """Windows around the elements of an image of so many; the taps of a channel are gathered together."""

    f: Routine
    like: Tile
    room: Room
    image: Index

    @property
    def together(self) -> Index:
        return self.f.argument("kernel_rows") * self.f.argument("kernel_columns")

    def gather(self, columns: Value, window: Index, taps: tuple[Index, Index], slots: Index, last: Index) -> None:
        f, (tap, count) = self.f, taps
        first, channels = tap // self.together, count // self.together
        around = [f[name] for name in AROUND]
        gather = _define_gather(f.module, self.like, self.room)
        f.run(gather, columns, f["x"], self.image, first, channels, window, slots, last, *around)


def _define_gather(module: Module, tile: Tile, room: Room) -> str:
    """for tiles: for taps of a channel: which lanes lie in the image; for channels: the vectors of its windows."""
    v = tile.v
    name = f"@whorl.gather_around.{v.suffix}x{tile.vectors}"
    if name in module:
        return name
    f = Routine(module, name, ["_columns", "x"], ["image", "first", "channels", "window", "slots", "last", *AROUND])
    image, first, channels, window, slots, last = f.indices("image", "first", "channels", "window", "slots", "last")
    height, width, kernel_rows, kernel_columns, row_step, column_step, row_begin, column_begin = f.indices(*AROUND)
    size = height * width
    lanes = f.value(f"<{v.lanes} x i32>", f"urem {v.lane_numbers(f, 0)}, {v.splat_number(f, width).text}")
    with f.loop(0, slots) as n:
        start = f.least(window + n * tile.width, last)
        coordinates = [_coordinates(f, v, start + k * v.lanes, width, lanes) for k in range(tile.vectors)]
        slot = v.offset(f, f["columns"], n * (room.taps * tile.width))
        with f.loop(0, kernel_rows) as i, f.loop(0, kernel_columns) as j:
            down, right = i * row_step - row_begin, j * column_step - column_begin
            masks = [v.wait(f, _inside(f, v, each, (down * width, right), (size, width))) for each in coordinates]
            shift, tap = start + down * width + right, i * kernel_columns + j
            with f.loop(0, channels) as c:
                position = (first + c) * size + shift
                target = v.offset(f, slot, (c * (kernel_rows * kernel_columns) + tap) * tile.width)
                _copy(f, v, position, target, masks, (position >= 0) & (position + tile.width <= image))
    f.end()
    return name


def _copy(f: Routine, v: Vectors, position: Index, target: Value, waiting: list[Value], is_inside: Value) -> None:
    """Copy the lanes of masks from vectors of the image, and zeros for the others.

    Loads by a mask may take several times as long as others: only what would leave the image is loaded so.
    """
    zero = v.constant(f, 0.0)
    sources = [f.offset_outside(f["x"], v.scalar, position + k * v.lanes) for k in range(len(waiting))]
    if v.waiting_mask == v.mask:
        _store(f, v, target, [v.masked_load(f, x, mask, zero) for x, mask in zip(sources, waiting, strict=True)])
        return
    with f.when(is_inside):
        masks = [v.awaited(f, mask) for mask in waiting]
        _store(f, v, target, [f.select(mask, v.load(f, x), zero) for x, mask in zip(sources, masks, strict=True)])
    with f.when(is_inside ^ True):
        masks = [v.awaited(f, mask) for mask in waiting]
        _store(f, v, target, [v.masked_load(f, x, mask, zero) for x, mask in zip(sources, masks, strict=True)])


def _store(f: Routine, v: Vectors, target: Value, values: list[Value]) -> None:
    for k, value in enumerate(values):
        f.store(value, v.offset(f, target, k * v.lanes), v.lanes * v.size)


def _coordinates(f: Routine, v: Vectors, window: Index, width: Index, lanes: Value) -> tuple[Value, Value]:
    """The elements of a vector's windows, and their columns; `lanes` are those of windows from 0 on."""
    column = v.splat_number(f, window - window // width * width) + lanes
    whole = v.splat_number(f, width)
    return v.lane_numbers(f, window), f.select(f.compare("ult", column, whole), column, column - whole)


def _inside(
    f: Routine, v: Vectors, lanes: tuple[Value, Value], moved: tuple[Index, Index], limits: tuple[Index, Index]
) -> Value:
    """The lanes whose elements, moved by whole rows, and whose columns, moved, lie in the image."""
    in_rows, in_columns = (
        v.compare(f, "ult", number + v.splat_number(f, distance), limit)
        for number, distance, limit in zip(lanes, moved, limits, strict=True)
    )
    return in_rows & in_columns
