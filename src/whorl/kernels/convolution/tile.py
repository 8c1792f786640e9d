"""Tiles of convolutions in LLVM IR: some features by some vectors of windows, whose sums are all in registers.

The rows of a phase-split input are longer than those of the result, so a tile computes some elements that are not
stored, and stores row by row. Every element is one sum over ascending taps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from whorl.kernels.aligned import CACHE_LINE
from whorl.kernels.convolution.operands import load_limits, load_offset, result_pointer
from whorl.kernels.machine import PREFETCH_TAPS
from whorl.kernels.windows import WindowGrid
from whorl.llvm.function import Function
from whorl.llvm.module import Module
from whorl.llvm.routine import Routine
from whorl.llvm.value import Index, Value
from whorl.llvm.vectors import Vectors, add_product, prefetch

GRID = WindowGrid._fields


class Grid(Struct, frozen=True):
    """The windows of a result, the memory that they span, and how `lines` of them lie in it.

    Lines are the numbers of a `WindowGrid` without its depth. Where rows follow each other without a gap they are one.
    """

    pixels: Index
    span: Index
    lines: Sequence[Index]


class Tile(Struct, frozen=True):
    """So many features of a block by so many vectors of windows; `adds`: plus a tensor like the result.

    With a `tap_stride` it is gathered: it reads windows tap by tap, so many elements apart, from memory of its own, and
    only some taps at a time. It begins with the sums of the taps before, and leaves its own unless these taps are the
    last.
    """

    v: Vectors
    features: int
    block: int
    vectors: int
    adds: bool
    tap_stride: int = 0

    @property
    def is_gathered(self) -> bool:
        return self.tap_stride > 0

    @property
    def name(self) -> str:
        suffix = f".gathered{self.tap_stride}" * self.is_gathered + ".sum" * self.adds
        return f"@whorl.windows.{self.v.suffix}.{self.features}of{self.block}x{self.vectors}{suffix}"

    @property
    def width(self) -> int:
        return self.vectors * self.v.lanes

    @property
    def pointers(self) -> list[str]:
        source = ["_sums", "x"] if self.is_gathered else ["x", "offsets"]
        return [result_pointer(self.adds), *source, "w", "bias", "limits", *["=added"] * self.adds]

    @property
    def numbers(self) -> list[str]:
        """`begin`: the window before which none is stored, as a tile before has them."""
        return [
            "taps",
            "filters",
            "bounded",
            *["skipped", "resumes", "ends"] * self.is_gathered,
            "pixels",
            "first",
            "begin",
            "span",
            *GRID[1:],
        ]


def split_block(height: int, most: int) -> list[tuple[int, int]]:
    """A block as tiles: (features before, features)."""
    first = math.ceil(height / math.ceil(height / most))
    return [(start, min(first, height - start)) for start in range(0, height, first)]


def define_tile(module: Module, tile: Tile) -> None:
    if tile.name in module:
        return
    v = tile.v
    f = Routine(module, tile.name, tile.pointers, tile.numbers)
    zero = v.constant(f, 0.0)
    sums = [[f.variable(zero) for _ in range(tile.vectors)] for _ in range(tile.features)]
    if tile.is_gathered:
        with f.when(f["resumes"].differs(0)):
            for slot, address in _partial_sums(f, tile, sums):
                f.store(v.load(f, address), slot)
    _prefetch_results(f, tile)
    left = f.argument("span") - f.argument("first") - tile.width
    ahead = f.most(f.least(left, tile.width), 0)
    taps = f.argument("taps")
    middle = f.most(taps - PREFETCH_TAPS, 0)
    with f.loop(0, 2) as turn:
        is_first = turn.equals(0)
        start, stop = f.choose(is_first, f.index(0), middle), f.choose(is_first, middle, taps)
        fetched = v.offset(f, f["w"], f.choose(is_first, f.index(PREFETCH_TAPS * tile.block), _next_block(f, tile)))
        with f.loop(start, stop) as tap:
            columns = _load_windows(f, tile, tap, ahead)
            prefetch(f, v.offset(f, fetched, tap * tile.block))
            w = v.offset(f, f["w"], tap * tile.block)
            for r, row in enumerate(sums):
                factor = v.load_splat(f, v.offset(f, w, r))
                for column, slot in zip(columns, row, strict=True):
                    f.store(add_product(f, v, f.load(v.type, slot), column, factor), slot)
    if tile.is_gathered:
        with f.leave_when(f["ends"].equals(0)):
            for slot, address in _partial_sums(f, tile, sums):
                v.store(f, f.load(v.type, slot), address)
            f.end()
    _finish_tile(f, tile, sums)
    f.end()


def _next_block(f: Routine, tile: Tile) -> Index:
    """How far from the filters of the last taps those lie that are fetched, of the next block; 0 if there is none."""
    taps, ahead = f.argument("taps"), f.index(PREFETCH_TAPS)
    if tile.is_gathered:
        ahead = ahead + f.argument("skipped")
    return f.choose((taps + ahead) * tile.block <= f.argument("filters"), ahead * tile.block, 0)


def _prefetch_results(f: Routine, tile: Tile) -> None:
    """Fetch all that the sums are added to, else where they are stored, while taps go by; as if windows had no gaps."""
    v, pixels, first = tile.v, *f.indices("pixels", "first")
    name, width = ("added", tile.width) if tile.adds else ("y", 1)
    for n in range(0, width, CACHE_LINE // v.size):
        position = f.least(first + n, pixels - 1)
        for r in range(tile.features):
            prefetch(f, f.offset_outside(f[name], v.scalar, pixels * r + position))


def _partial_sums(f: Routine, tile: Tile, sums: list[list[Value]]) -> list[tuple[Value, Value]]:
    """Each slot, and the address of its sum over the taps before."""
    v, slots = tile.v, [slot for row in sums for slot in row]
    return [(slot, v.offset(f, f["sums"], n * v.lanes)) for n, slot in enumerate(slots)]


def _load_windows(f: Routine, tile: Tile, tap: Index, ahead: Index) -> list[Value]:
    """The windows' elements of a tap; those so far ahead are prefetched, unless they were gathered near by."""
    v = tile.v
    x = v.offset(f, f["x"], tap * tile.tap_stride if tile.is_gathered else load_offset(f, tap))
    columns = [v.load(f, v.offset(f, x, n * v.lanes)) for n in range(tile.vectors)]
    for n in range(0 if tile.is_gathered else tile.vectors):
        prefetch(f, v.offset(f, x, ahead + n * v.lanes))
    return columns


def _finish_tile(f: Routine, tile: Tile, sums: list[list[Value]]) -> None:
    """Add the bias and store the windows, one row of them after the other, as the rows lie in the result.

    Divisions take as long as some taps: there are none for a single row.
    """
    v = tile.v
    for r, row in enumerate(sums):
        bias = v.load_splat(f, v.offset(f, f["bias"], r))
        for slot in row:
            f.store(f.load(v.type, slot) + bias, slot)
    limits = load_limits(f, v)
    first, begin, span, rows, width, row_pitch, pitch = f.indices("first", "begin", "span", *GRID[1:])
    end = f.least(first + tile.width, span)
    begin_row, end_row, slice = (f.variable(f.index(n)) for n in (0, 1, 0))
    with f.when(pitch < span):
        f.store(first // pitch, begin_row)
        f.store((end - 1) // pitch + 1, end_row)
    with f.loop(f.load_index(begin_row), f.load_index(end_row)) as row:
        with f.when(row >= row_pitch):
            f.store(row // row_pitch, slice)
        depth = f.load_index(slice)
        low = row * pitch - first
        line = row - depth * row_pitch
        target = (depth * rows + line) * width - low
        with f.when(line < rows):
            _store_row(f, tile, sums, target, (f.most(low, begin - first), low + width), limits)


def _store_row(
    f: Routine,
    tile: Tile,
    sums: list[list[Value]],
    target: Index,
    lanes: tuple[Index, Index],
    limits: tuple[Value, Value],
) -> None:
    """Store the sums of the lanes from low to high; by a mask those of vectors that have others, too.

    The first lanes may lie before a row's memory, so addresses are not known to be inside.
    """
    v, (low, high) = tile.v, lanes
    for n in range(tile.vectors):
        first, end = n * v.lanes, (n + 1) * v.lanes
        slots, is_whole = [row[n] for row in sums], (low <= first) & (high >= end)
        with f.when(is_whole):
            _store_vectors(f, tile, slots, target + first, None, limits)
        with f.when((is_whole ^ True) & (low < end) & (high > first)):
            _store_vectors(f, tile, slots, target + first, _lanes_between(f, v, first, low, high), limits)


def _store_vectors(
    f: Routine, tile: Tile, slots: list[Value], target: Index, mask: Value | None, limits: tuple[Value, Value]
) -> None:
    """Store a vector of each feature."""
    v = tile.v
    for r, slot in enumerate(slots):
        position = f.argument("pixels") * r + target
        total, address = f.load(v.type, slot), f.offset_outside(f["y"], v.scalar, position)
        if tile.adds:
            source, zero = f.offset_outside(f["added"], v.scalar, position), v.constant(f, 0.0)
            total += v.load(f, source) if mask is None else v.masked_load(f, source, mask, zero)
        total = v.clamp(f, total, *limits)
        if mask is None:
            v.store(f, total, address)
        else:
            v.masked_store(f, total, address, mask)


def _lanes_between(f: Function, v: Vectors, first: int, low: Index, high: Index) -> Value:
    numbers = v.lane_numbers(f, first)
    return v.compare(f, "sge", numbers, low) & v.compare(f, "slt", numbers, high)
