"""Windows of one element each of an image whose channels are normalized while they are gathered, in LLVM IR.

So the normalized image is written nowhere.
"""

from __future__ import annotations

import math

from msgspec import Struct

from whorl.kernels.convolution.gathered import Room
from whorl.kernels.convolution.tile import Tile
from whorl.llvm.module import Module
from whorl.llvm.routine import Routine
from whorl.llvm.value import Index, Value
from whorl.llvm.vectors import add_product

NORMALIZED = ("features", "inner", "bounded", "rectified", "windows")
"""Numbers of such a convolution; `inner` are the channels."""
TERMS = 3
"""Numbers of a channel: its centre, its factor, and what is added to the product."""


class Normalized(Struct, frozen=True):
    """The elements of an image of so many channels; `windows` are those of a channel."""

    f: Routine
    like: Tile
    room: Room
    windows: Index

    @property
    def together(self) -> Index:
        return self.f.index(1)

    def gather(self, columns: Value, window: Index, taps: tuple[Index, Index], slots: Index, last: Index) -> None:
        f, v, (channel, count) = self.f, self.like.v, taps
        source = v.offset(f, f["x"], channel * self.windows + window)
        terms = v.offset(f, f["terms"], channel * TERMS)
        gather = _define_gather(f.module, self.like, self.room)
        f.run(gather, columns, source, terms, f["rectified"], count, slots, last - window, self.windows)


def _define_gather(module: Module, tile: Tile, room: Room) -> str:
    """for channels: for tiles: its elements, normalized, the last tile so far back that it ends with the last one."""
    v = tile.v
    name = f"@whorl.gather_normalized.{v.suffix}x{tile.vectors}"
    if name in module:
        return name
    f = Routine(module, name, ["_columns", "x", "terms"], ["rectified", "channels", "tiles", "last", "windows"])
    channels, tiles, last, windows = f.indices("channels", "tiles", "last", "windows")
    least = f.select(f["rectified"].differs(0), v.constant(f, 0.0), v.constant(f, -math.inf))
    with f.loop(0, channels) as channel:
        terms = v.offset(f, f["terms"], channel * TERMS)
        centre, factor, term = (v.load_splat(f, v.offset(f, terms, n)) for n in range(TERMS))
        x = v.offset(f, f["x"], channel * windows)
        with f.loop(0, tiles) as n:
            source = f.offset_outside(x, v.scalar, f.least(n * tile.width, last))
            target = v.offset(f, f["columns"], n * (room.taps * tile.width) + channel * tile.width)
            columns = [v.load(f, f.offset_outside(source, v.scalar, k * v.lanes)) for k in range(tile.vectors)]
            for k, column in enumerate(columns):
                normal = add_product(f, v, term, column - centre, factor)
                value = f.select(least > normal, least, normal)
                f.store(value, v.offset(f, target, k * v.lanes), v.lanes * v.size)
    f.end()
    return name
