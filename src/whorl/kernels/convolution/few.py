"""Convolutions of few windows in LLVM IR: features lie side by side in vectors, and a window is one element of all.

Where windows do not fill a vector, most lanes of a tile of features by windows are computed for nothing. Here a vector
of filters, which lie so in their block, is multiplied by an element of each of some windows. Every element of the
result is the same sum over ascending taps, so both ways give the same bits.
"""

from __future__ import annotations

import math

from msgspec import Struct

from whorl.kernels.convolution.operands import filters_from, load_limits, load_offset
from whorl.kernels.machine import FEW_VECTORS, FEW_WINDOWS, PREFETCH_TAPS
from whorl.kernels.windows import WindowGrid
from whorl.llvm.module import Module
from whorl.llvm.routine import Routine
from whorl.llvm.value import Index, Value
from whorl.llvm.vectors import Vectors, add_product, prefetch_element

GRID = WindowGrid._fields


class FewWindows(Struct, frozen=True):
    """Some blocks of features by a few windows; `adds`: plus a tensor like the result."""

    v: Vectors
    height: int
    blocks: int
    adds: bool
    windows: int = FEW_WINDOWS

    @property
    def name(self) -> str:
        suffix = ".sum" if self.adds else ""
        return f"@whorl.few_windows.{self.v.suffix}.{self.blocks}x{self.height}by{self.windows}{suffix}"

    @property
    def pointers(self) -> list[str]:
        return ["_y", "x", "offsets", "w", "bias", "limits", *["added"] * self.adds]

    @property
    def parts(self) -> list[int]:
        """The lanes of each vector of a block that are features."""
        starts = range(0, self.height, self.v.lanes)
        return [min(self.v.lanes, self.height - start) for start in starts]


def most_windows(v: Vectors, height: int, vectors: int) -> int:
    """The windows up to which this takes half as many products as a tile of that height by so many vectors of them."""
    return height * vectors // (2 * math.ceil(height / v.lanes))


def most_alone(v: Vectors, height: int) -> int:
    """The windows up to which this takes fewer products than a vector of them by a block of that height."""
    return (height - 1) // math.ceil(height / v.lanes) // FEW_WINDOWS * FEW_WINDOWS


def tiles_of(v: Vectors, height: int, adds: bool) -> list[FewWindows]:
    """Tiles of so many blocks as that takes, and of one."""
    several = max(1, FEW_VECTORS // math.ceil(height / v.lanes))
    return [FewWindows(v, height, blocks, adds) for blocks in dict.fromkeys((several, 1))]


def convolve_few(
    f: Routine,
    v: Vectors,
    blocks: tuple[int, Index | int, Index, Index],
    windows: tuple[Index, Index],
    adds: bool,
) -> None:
    """A range of windows by blocks of one height: their height, first feature, first block and the one after the last.

    The routine has the operands and numbers of a convolution.
    """
    height, first, done, stop = blocks
    inner = f.argument("inner")
    for tile in tiles_of(v, height, adds):
        end = f.index(f.binary("udiv", stop - done, f.index(tile.blocks))) * tile.blocks + done
        with f.loop(done, end, tile.blocks) as block:
            f.poll((windows[1] - windows[0]) * inner * height)
            feature = block * height + first
            with f.loop(*windows, FEW_WINDOWS) as window:
                multiply_few(f, tile, feature, window)
        done = end


def multiply_few(f: Routine, tile: FewWindows, feature: Index, window: Index) -> None:
    """Blocks from a feature on by a few windows from one on."""
    _define_tile(f.module, tile)
    v = tile.v
    depth, rows, columns, *_ = f.indices(*GRID)
    inner, pixels = f.argument("inner"), depth * rows * columns
    pointers = [
        v.offset(f, f["y"], feature * pixels),
        f["x"],
        f["offsets"],
        v.offset(f, f["w"], feature * inner),
        v.offset(f, f["bias"], feature),
        f["limits"],
        *([v.offset(f, f["added"], feature * pixels)] if tile.adds else []),
    ]
    f.run(tile.name, *pointers, inner, filters_from(f, feature), f["bounded"], window, pixels, *f.indices(*GRID[1:]))


def _define_tile(module: Module, tile: FewWindows) -> None:
    if tile.name in module:
        return
    v, parts = tile.v, tile.parts
    f = Routine(module, tile.name, tile.pointers, ["inner", "filters", "bounded", "first", "pixels", *GRID[1:]])
    inner, first, pixels = f.indices("inner", "first", "pixels")
    windows = [f.least(first + n, pixels - 1) for n in range(tile.windows)]
    sources = [v.offset(f, f["x"], _address(f, window)) for window in windows]
    zero = v.constant(f, 0.0)
    sums = [[[f.variable(zero) for _ in windows] for _ in parts] for _ in range(tile.blocks)]
    with f.loop(0, inner) as tap:
        offset = load_offset(f, tap)
        elements = [v.load_splat(f, v.offset(f, source, offset)) for source in sources]
        for n, block in enumerate(sums):
            w = v.offset(f, f["w"], (inner * n + tap) * tile.height)
            ahead = (inner * n + tap + PREFETCH_TAPS) * tile.height
            prefetch_element(f, f["w"], v.scalar, ahead, f.argument("filters"))
            for k, (lanes, slots) in enumerate(zip(parts, block, strict=True)):
                factors = _load_lanes(f, v, v.offset(f, w, k * v.lanes), lanes)
                for element, slot in zip(elements, slots, strict=True):
                    f.store(add_product(f, v, f.load(v.type, slot), element, factors), slot)
    limits = load_limits(f, v)
    for n, block in enumerate(sums):
        for k, (lanes, slots) in enumerate(zip(parts, block, strict=True)):
            feature = n * tile.height + k * v.lanes
            bias = _load_lanes(f, v, v.offset(f, f["bias"], feature), lanes)
            for window, slot in zip(windows, slots, strict=True):
                _store_window(f, tile, f.load(v.type, slot) + bias, (feature, lanes), window, limits)
    f.end()


def _address(f: Routine, window: Index) -> Index:
    """How far a window lies from the first one, by its number."""
    rows, columns, row_pitch, pitch = f.indices(*GRID[1:])
    row = window // columns
    slice = row // rows
    return (slice * row_pitch + (row - slice * rows)) * pitch + (window - row * columns)


def _load_lanes(f: Routine, v: Vectors, pointer: Value, lanes: int) -> Value:
    """So many elements of memory, 0 in the other lanes."""
    if lanes == v.lanes:
        return v.load(f, pointer)
    return v.masked_load(f, pointer, v.compare(f, "slt", v.lane_numbers(f, 0), lanes), v.constant(f, 0.0))


def _store_window(
    f: Routine, tile: FewWindows, total: Value, features: tuple[int, int], window: Index, limits: tuple[Value, Value]
) -> None:
    """Store the results of some features, from a number on, for one window."""
    v, (feature, lanes), pixels = tile.v, features, f.argument("pixels")
    positions = [pixels * (feature + lane) + window for lane in range(lanes)]
    if tile.adds:
        added = v.constant(f, 0.0)
        for lane, position in enumerate(positions):
            element = f.load(v.scalar, v.offset(f, f["added"], position), v.size)
            added = f.value(v.type, f"insertelement {added}, {element}, i64 {lane}")
        total += added
    total = v.clamp(f, total, *limits)
    for lane, position in enumerate(positions):
        element = f.value(v.scalar, f"extractelement {total}, i64 {lane}")
        f.store(element, v.offset(f, f["y"], position), v.size)
