"""Convolutions in LLVM IR: tiles of features by windows, whose sums are all in registers.

A tile multiplies some filters of a block by some vectors of windows; no columns are written out (implicit GEMM). The
rows of a phase-split input are longer than those of the result, so a tile computes some elements that are not stored,
and stores row by row. Every element is one sum over ascending taps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from whorl.kernels.convolution.few import FewWindows, convolve_few, most_alone, most_windows, multiply_few
from whorl.kernels.convolution.layout import filter_blocks
from whorl.kernels.convolution.operands import load_limits, load_offset
from whorl.kernels.kernel import LANES, Dtypes, Numbers
from whorl.kernels.machine import (
    FEW_PARTS,
    FEW_TILES,
    FEW_WINDOWS,
    FILTER_BLOCK,
    LARGE_FILTERS,
    LEAST_HEIGHT,
    PREFETCH_TAPS,
    TILE_FEATURES,
    TILE_SUMS,
    TILE_VECTORS,
)
from whorl.kernels.windows import WindowGrid
from whorl.llvm.function import Function
from whorl.llvm.module import Module
from whorl.llvm.routine import Routine
from whorl.llvm.value import Index, Value
from whorl.llvm.vectors import Vectors, add_product, prefetch, vectors_of

GRID = WindowGrid._fields


class _Tile(Struct, frozen=True):
    """So many features of a block by so many vectors of windows; `adds`: plus a tensor like the result."""

    v: Vectors
    features: int
    block: int
    vectors: int
    adds: bool

    @property
    def name(self) -> str:
        suffix = ".sum" if self.adds else ""
        return f"@whorl.windows.{self.v.suffix}.{self.features}of{self.block}x{self.vectors}{suffix}"

    @property
    def width(self) -> int:
        return self.vectors * self.v.lanes

    @property
    def pointers(self) -> list[str]:
        return ["_y", "x", "offsets", "w", "bias", "limits", *["added"] * self.adds]


def define_convolution(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    """For `convolution_dots` the element type is int32."""
    return _define(module, dtypes, numbers, False)


def define_convolution_sum(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    return _define(module, dtypes, numbers, True)


def _define(module: Module, dtypes: Dtypes, numbers: Numbers, adds: bool) -> str:
    """for parts of the windows: for features: for windows of the part: tile."""
    v, heights = vectors_of(dtypes[0], module.machine), [height for height, _, _ in filter_blocks(numbers[0])]
    name = f"@whorl.convolution.{v.suffix}.{'x'.join(map(str, heights))}{'.sum' if adds else ''}"
    if name in module:
        return name
    width = module.machine.vector_bytes
    vectors = min(TILE_VECTORS, max(2, TILE_SUMS[width] // min(heights[0], TILE_FEATURES[width])))
    like = _Tile(v, 1, 1, vectors, adds)
    names = ["features", "inner", "bounded", "together", "reach", *GRID]
    f = Routine(module, name, like.pointers, names, polls=True, divides=True)
    inner, together = f.indices("inner", "together")
    depth, rows, columns, row_pitch, pitch = f.indices(*GRID)
    pixels, step = depth * rows * columns, like.width
    span = ((depth - 1) * row_pitch + (rows - 1)) * pitch + columns
    size = f.index(f.binary("udiv", together + (step - 1), f.index(step))) * step
    few = pixels <= most_windows(v, heights[0], vectors)
    tile = f.choose(few, f.index(FEW_WINDOWS), step)
    tiles = f.index((f.choose(few, pixels, span) + (tile - 1)) // tile)
    has_many = ((span + (size - 1)) // size >= FEW_PARTS) & (few ^ True)
    blocks, windows = _divide(f, heights, tiles, has_many)
    first_window, end_window = (n * tile for n in windows)
    with f.leave_when(few):
        for each in blocks:
            convolve_few(f, v, each, (first_window, f.least(end_window, pixels)), adds)
        f.end()
    end_window = f.least(end_window, span)
    parts = f.most((end_window - first_window) // size, 1)
    with f.loop(0, parts) as part:
        start = first_window + part * size
        stop = f.choose(part.equals(parts - 1), end_window, start + size)
        whole = start + f.index(f.binary("udiv", stop - start, f.index(step))) * step
        for height, first, begin, end in blocks:
            with f.loop(begin, end) as block:
                f.poll((stop - start) * inner * height // LANES)
                run = _Block(f, v, height, block * height + first, (pixels, span), adds)
                with f.loop(start, whole, step) as window:
                    run.multiply(vectors, window)
                with f.when(whole < stop):
                    run.multiply_rest(vectors, whole, stop)
    f.end()
    return name


class _Block(Struct, frozen=True):
    """The features of a block from a number on, by the windows of a grid: so many, in a span of memory."""

    f: Routine
    v: Vectors
    height: int
    feature: Index
    grid: tuple[Index, Index]
    adds: bool

    def multiply(self, vectors: int, window: Index) -> None:
        """So many vectors of windows from one on."""
        f, v = self.f, self.v
        for skipped, features in split_block(self.height, TILE_FEATURES[f.module.machine.vector_bytes]):
            tile = _Tile(v, features, self.height, vectors, self.adds)
            _define_tile(f.module, tile)
            filters = v.offset(f, v.offset(f, f["w"], self.feature * f.argument("inner")), skipped)
            _call_tile(f, tile, self.feature + skipped, filters, (self.grid[0], window, self.grid[1]))

    def multiply_rest(self, vectors: int, start: Index, stop: Index) -> None:
        """The last windows, fewer than a tile has: by vectors, and by each alone where rows lie without gaps.

        A tile that covers windows of the one before computes them again.
        """
        f, v = self.f, self.v
        pixels, span = self.grid
        count = stop - start
        narrow = f.index(f.binary("udiv", count, f.index(v.lanes)))
        left = count - narrow * v.lanes
        is_alone = span.equals(pixels) & (left <= most_alone(v, self.height))
        narrow = narrow + f.choose(is_alone, f.index(0), f.choose(left > 0, f.index(1), 0))
        is_narrow = narrow < (vectors if self.height >= LEAST_HEIGHT else 0)
        with f.when(is_narrow):
            with f.loop(0, narrow) as n:
                self.multiply(1, f.most(f.least(start + n * v.lanes, span - v.lanes), 0))
            with f.when(is_alone), f.loop(stop - left, stop, FEW_WINDOWS) as window:
                multiply_few(f, FewWindows(v, self.height, 1, self.adds), self.feature, window)
        with f.when(is_narrow ^ True):
            self.multiply(vectors, f.most(span - vectors * v.lanes, 0))


def _divide(
    f: Routine, heights: Sequence[int], tiles: Index, has_many: Value
) -> tuple[list[tuple[int, Index | int, Index, Index]], tuple[Index, Index]]:
    """The blocks of the features that are to be computed, of heights that are known, and the tiles of windows.

    A share of the windows, which a core most likely has made the image of, where there are several for each part of the
    work, or more than blocks, and unless filters are larger than the image. Else a share of the blocks. Blocks are
    (height, first feature of all of that height, first block, block after the last).
    """
    features = f.argument("features")
    count = f.index(f.binary("udiv", features + (FILTER_BLOCK - 1), f.index(FILTER_BLOCK)))
    is_large = features * f.argument("inner") > f.argument("reach") * LARGE_FILTERS
    by_windows = has_many | (tiles > count) | ((tiles >= FEW_TILES) & (is_large ^ True))
    all_blocks, all_tiles = (f.index(0), count), (f.index(0), tiles)
    share = [f.choose(by_windows, whole, part) for part, whole in zip(f.share(count), all_blocks, strict=True)]
    first, end = (f.choose(by_windows, part, whole) for part, whole in zip(f.share(tiles), all_tiles, strict=True))
    return _blocks(f, heights, count, (share[0], share[1])), (first, end)


def _blocks(
    f: Routine, heights: Sequence[int], count: Index, share: tuple[Index, Index]
) -> list[tuple[int, Index | int, Index, Index]]:
    if len(heights) == 1:
        return [(heights[0], 0, *share)]
    high, low = heights
    higher = f.argument("features") - count * low
    return [
        (high, 0, *f.share_of_group(0, higher, share)),
        (low, higher * high, *f.share_of_group(higher, count - higher, share)),
    ]


def split_block(height: int, most: int) -> list[tuple[int, int]]:
    """A block as tiles: (features before, features)."""
    first = math.ceil(height / math.ceil(height / most))
    return [(start, min(first, height - start)) for start in range(0, height, first)]


def _call_tile(f: Routine, tile: _Tile, feature: Index, filters: Value, geometry: Sequence[Index]) -> None:
    v, (pixels, window, _) = tile.v, geometry
    plane = feature * pixels
    pointers = [
        v.offset(f, f["y"], plane),
        v.offset(f, f["x"], window),
        f["offsets"],
        filters,
        v.offset(f, f["bias"], feature),
        f["limits"],
        *([v.offset(f, f["added"], plane)] if tile.adds else []),
    ]
    f.run(tile.name, *pointers, f["inner"], f["bounded"], *geometry, *f.indices(*GRID[1:]))


def _define_tile(module: Module, tile: _Tile) -> None:
    if tile.name in module:
        return
    v = tile.v
    f = Routine(module, tile.name, tile.pointers, ["inner", "bounded", "pixels", "first", "span", *GRID[1:]])
    zero = v.constant(f, 0.0)
    sums = [[f.variable(zero) for _ in range(tile.vectors)] for _ in range(tile.features)]
    with f.loop(0, f.argument("inner")) as tap:
        x = v.offset(f, f["x"], load_offset(f, tap))
        columns = [v.load(f, v.offset(f, x, n * v.lanes)) for n in range(tile.vectors)]
        for n in range(tile.vectors):
            prefetch(f, f.offset_outside(x, v.scalar, (n + tile.vectors) * v.lanes))
        w = v.offset(f, f["w"], tap * tile.block)
        prefetch(f, v.offset(f, w, PREFETCH_TAPS * tile.block))
        for r, row in enumerate(sums):
            factor = v.load_splat(f, v.offset(f, w, r))
            for column, slot in zip(columns, row, strict=True):
                f.store(add_product(f, v, f.load(v.type, slot), column, factor), slot)
    _finish_tile(f, tile, sums)
    f.end()


def _finish_tile(f: Routine, tile: _Tile, sums: list[list[Value]]) -> None:
    """Add the bias and store the windows, one row of them after the other, as the rows lie in the result."""
    v = tile.v
    for r, row in enumerate(sums):
        bias = v.load_splat(f, v.offset(f, f["bias"], r))
        for slot in row:
            f.store(f.load(v.type, slot) + bias, slot)
    limits = load_limits(f, v)
    first, span, rows, width, row_pitch, pitch = f.indices("first", "span", *GRID[1:])
    end = f.least(first + tile.width, span)
    with f.loop(first // pitch, (end - 1) // pitch + 1) as row:
        low = row * pitch - first
        high = low + width
        depth = row // row_pitch
        line = row - depth * row_pitch
        target = (depth * rows + line) * width - low
        with f.when(line < rows):
            covers = (low <= 0) & (high >= tile.width)
            with f.when(covers):
                _store_row(f, tile, sums, target, None, limits)
            with f.when(covers ^ True):
                _store_row(f, tile, sums, target, (low, high), limits)


def _store_row(
    f: Routine,
    tile: _Tile,
    sums: list[list[Value]],
    target: Index,
    lanes: tuple[Index, Index] | None,
    limits: tuple[Value, Value],
) -> None:
    """Store the sums, those of the lanes from low to high where not all are meant.

    The first lanes may lie before a row's memory, so addresses are not known to be inside.
    """
    v = tile.v
    masks = [None if lanes is None else _lanes_between(f, v, n * v.lanes, *lanes) for n in range(tile.vectors)]
    for r, row in enumerate(sums):
        position = f.argument("pixels") * r + target
        y = f.offset_outside(f["y"], v.scalar, position)
        added = f.offset_outside(f["added"], v.scalar, position) if tile.adds else None
        for n, (slot, mask) in enumerate(zip(row, masks, strict=True)):
            total, address = f.load(v.type, slot), f.offset_outside(y, v.scalar, n * v.lanes)
            if added is not None:
                source = f.offset_outside(added, v.scalar, n * v.lanes)
                zero = v.constant(f, 0.0)
                total += v.load(f, source) if mask is None else v.masked_load(f, source, mask, zero)
            total = v.clamp(f, total, *limits)
            if mask is None:
                v.store(f, total, address)
            else:
                v.masked_store(f, total, address, mask)


def _lanes_between(f: Function, v: Vectors, first: int, low: Index, high: Index) -> Value:
    numbers = v.lane_numbers(f, first)
    return v.compare(f, "sge", numbers, low) & v.compare(f, "slt", numbers, high)
