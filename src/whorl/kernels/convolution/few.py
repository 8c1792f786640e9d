"""Convolutions of few windows in LLVM IR: features lie side by side in vectors, and a window is one element of all.

Where windows do not fill a vector, most lanes of a tile of features by windows are computed for nothing. Here a vector
of filters, which lie so in their block, is multiplied by an element of each of some windows. Every element of the
result is the same sum over ascending taps, so both ways give the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from whorl.kernels.convolution.operands import (
    feature_operands,
    filters_from,
    load_limits,
    load_offset,
    result_pointer,
)
from whorl.kernels.machine import BLOCKS_TOGETHER, FEW_SUMS, FEW_VECTORS, FEW_WINDOWS, PREFETCH_TAPS
from whorl.kernels.windows import WindowGrid
from whorl.llvm.module import Module
from whorl.llvm.routine import Routine
from whorl.llvm.value import Index, Value
from whorl.llvm.vectors import Vectors, add_product, prefetch_element

GRID = WindowGrid._fields


class FewWindows(Struct, frozen=True):
    """Some blocks of features by a few windows; `adds`: plus a tensor like the result.

    With a `tap_stride` they are gathered as those of a `Tile` are.
    """

    v: Vectors
    height: int
    blocks: int
    adds: bool
    windows: int = FEW_WINDOWS
    tap_stride: int = 0

    @property
    def name(self) -> str:
        suffix = (f".gathered{self.tap_stride}" if self.tap_stride else "") + ".sum" * self.adds
        return f"@whorl.few_windows.{self.v.suffix}.{self.blocks}x{self.height}by{self.windows}{suffix}"

    @property
    def pointers(self) -> list[str]:
        source = ["_sums", "x"] if self.tap_stride else ["x", "offsets"]
        return [result_pointer(self.adds), *source, "w", "bias", "limits", *["=added"] * self.adds]

    @property
    def numbers(self) -> list[str]:
        """`gathered`: the window that the first lane of the memory belongs to."""
        source = ["taps", "resumes", "ends", "gathered"] if self.tap_stride else list(GRID[1:])
        return ["inner", "filters", "bounded", "first", "pixels", *source]

    @property
    def parts(self) -> list[tuple[int, range]]:
        return vectors_of_features(self.v, self.height)


def vectors_of_features(v: Vectors, height: int) -> list[tuple[int, range]]:
    """The vectors of a block: the first feature of each, and the lanes that others before do not have.

    The last one ends with the block where that has as many features as a vector has lanes: loads by a mask take
    several times as long as others.
    """
    starts = [(n, max(0, min(n, height - v.lanes))) for n in range(0, height, v.lanes)]
    return [(start, range(n - start, min(v.lanes, height - start))) for n, start in starts]


def most_windows(v: Vectors, height: int, vectors: int) -> int:
    """The windows up to which this takes half as many products as a tile of that height by so many vectors of them."""
    return height * vectors // (2 * math.ceil(height / v.lanes))


def most_alone(v: Vectors, height: int) -> int:
    """The windows up to which this takes less time than a vector of them by a block of that height, all at once."""
    return min(FEW_WINDOWS, (height - 1) // math.ceil(height / v.lanes) // FEW_WINDOWS * FEW_WINDOWS)


def blocks_together(v: Vectors, height: int) -> int:
    """Blocks by which a few windows go at once, at most."""
    return max(1, min(BLOCKS_TOGETHER, FEW_SUMS // (FEW_WINDOWS * math.ceil(height / v.lanes))))


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
    """Blocks from a feature on by a few windows from one on, that are read in the image."""
    define_few(f.module, tile)
    v = tile.v
    depth, rows, columns, *_ = f.indices(*GRID)
    inner, pixels = f.argument("inner"), depth * rows * columns
    y, *rest = feature_operands(f, v, tile.adds, feature, pixels)
    w, numbers = v.offset(f, f["w"], feature * inner), (inner, filters_from(f, feature), f["bounded"], window, pixels)
    f.run(tile.name, y, f["x"], f["offsets"], w, *rest, *numbers, *f.indices(*GRID[1:]))


def define_few(module: Module, tile: FewWindows) -> None:
    if tile.name in module:
        return
    v, parts = tile.v, tile.parts
    f = Routine(module, tile.name, tile.pointers, tile.numbers)
    first, pixels = f.indices("first", "pixels")
    windows = [f.least(first + n, pixels - 1) for n in range(tile.windows)]
    zero = v.constant(f, 0.0)
    sums = [[[f.variable(zero) for _ in windows] for _ in parts] for _ in range(tile.blocks)]
    waiting = [slot for block in sums for slots in block for slot in slots]
    if tile.tap_stride:
        with f.when(f["resumes"].differs(0)):
            for n, slot in enumerate(waiting):
                f.store(v.load(f, v.offset(f, f["sums"], n * v.lanes)), slot)
    _add_taps(f, tile, windows, sums)
    if tile.tap_stride:
        with f.leave_when(f["ends"].equals(0)):
            for n, slot in enumerate(waiting):
                v.store(f, f.load(v.type, slot), v.offset(f, f["sums"], n * v.lanes))
            f.end()
    limits = load_limits(f, v)
    for n, block in enumerate(sums):
        for (start, lanes), slots in zip(parts, block, strict=True):
            feature = n * tile.height + start
            bias = load_features(f, v, tile.height, v.offset(f, f["bias"], feature))
            for after, (window, slot) in enumerate(zip(windows, slots, strict=True)):
                with f.when(first + after < pixels):
                    _store_window(f, tile, f.load(v.type, slot) + bias, (feature, lanes), window, limits)
    f.end()


def _add_taps(f: Routine, tile: FewWindows, windows: Sequence[Index], sums: list[list[list[Value]]]) -> None:
    v, inner = tile.v, f.argument("inner")
    starts = [n - f.argument("gathered") if tile.tap_stride else _address(f, n) for n in windows]
    sources = [v.offset(f, f["x"], start) for start in starts]
    with f.loop(0, f.argument("taps") if tile.tap_stride else inner) as tap:
        offset = tap * tile.tap_stride if tile.tap_stride else load_offset(f, tap)
        elements = [v.load_splat(f, v.offset(f, source, offset)) for source in sources]
        for n, block in enumerate(sums):
            w = v.offset(f, f["w"], (inner * n + tap) * tile.height)
            ahead = (inner * n + tap + PREFETCH_TAPS) * tile.height
            if not tile.tap_stride:
                prefetch_element(f, f["w"], v.scalar, ahead, f.argument("filters"))
            for (start, _), slots in zip(tile.parts, block, strict=True):
                factors = load_features(f, v, tile.height, v.offset(f, w, start))
                for element, slot in zip(elements, slots, strict=True):
                    f.store(add_product(f, v, f.load(v.type, slot), element, factors), slot)


def _address(f: Routine, window: Index) -> Index:
    """How far a window lies from the first one, by its number."""
    rows, columns, row_pitch, pitch = f.indices(*GRID[1:])
    row = window // columns
    slice = row // rows
    return (slice * row_pitch + (row - slice * rows)) * pitch + (window - row * columns)


def load_features(f: Routine, v: Vectors, height: int, pointer: Value) -> Value:
    """An element for each feature of a vector, 0 in lanes that have none."""
    if height >= v.lanes:
        return v.load(f, pointer)
    return v.masked_load(f, pointer, v.compare(f, "slt", v.lane_numbers(f, 0), height), v.constant(f, 0.0))


def _store_window(
    f: Routine, tile: FewWindows, total: Value, features: tuple[int, range], window: Index, limits: tuple[Value, Value]
) -> None:
    """Store the results of some lanes, whose features are counted from a number on, for one window."""
    v, (feature, lanes), pixels = tile.v, features, f.argument("pixels")
    positions = [(lane, pixels * (feature + lane) + window) for lane in lanes]
    if tile.adds:
        added = v.constant(f, 0.0)
        for lane, position in positions:
            element = f.load(v.scalar, v.offset(f, f["added"], position), v.size)
            added = f.value(v.type, f"insertelement {added}, {element}, i64 {lane}")
        total += added
    total = v.clamp(f, total, *limits)
    for lane, position in positions:
        element = f.value(v.scalar, f"extractelement {total}, i64 {lane}")
        f.store(element, v.offset(f, f["y"], position), v.size)
