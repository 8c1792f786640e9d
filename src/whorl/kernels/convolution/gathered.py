"""Convolutions of many features in LLVM IR: the windows of some tiles are gathered before filters go by them.

The taps of a window lie in as many lines of the cache and in almost as many pages, which a near cache has not room for:
each block of features would wait for them again. So some taps of some tiles are copied to memory that stays near, one
after the other, where all blocks of a group read them in order. Where that is not all of the taps, sums wait near by,
too: every element stays one sum over ascending taps. Where all taps fit, all blocks are one group.
"""

from __future__ import annotations

from collections.abc import Sequence

from whorl.kernels.aligned import CACHE_LINE
from whorl.kernels.convolution.block import Block, divide_rest, feature_operands
from whorl.kernels.convolution.few import FewWindows, multiply_few
from whorl.kernels.convolution.operands import filters_from, load_offset
from whorl.kernels.convolution.tile import Grid, Tile, define_tile, split_block
from whorl.kernels.kernel import LANES
from whorl.kernels.machine import (
    FEW_WINDOWS,
    FILTER_BLOCK,
    GATHERED_BLOCKS,
    GATHERED_TAPS,
    GATHERED_TILES,
    GATHERING_FEATURES,
    SINGLE_BLOCKS,
    TILE_FEATURES,
)
from whorl.llvm.module import Machine, Module
from whorl.llvm.routine import Routine
from whorl.llvm.value import Index, Value

Blocks = Sequence[tuple[int, Index | int, Index, Index]]
"""Blocks of each height: the height, the first feature of all of that height, the first block, and the one after."""


def is_gathered(machine: Machine, features: int) -> bool:
    """Whether windows are gathered, which takes 160 KB of the stack."""
    return machine.has_large_frames and features >= GATHERING_FEATURES.get(machine.vector_bytes, features + 1)


def convolve_gathered(f: Routine, like: Tile, blocks: Blocks, windows: tuple[Index, Index], grid: Grid) -> None:
    """for tiles of windows: for groups of blocks: for taps: gather; for blocks: tile. Then what windows are left."""
    v, step, (first, end) = like.v, like.width, windows
    whole = f.index(f.binary("udiv", end - first, f.index(step)))
    left = end - first - whole * step
    narrow, alone = divide_rest(f, v, blocks[0][0], grid, left)
    is_tile = narrow >= like.vectors
    tiles = whole + f.choose(is_tile, f.index(1), 0)
    columns = f.slot(f"[{GATHERED_TILES * GATHERED_TAPS * step} x {v.scalar}]", align=CACHE_LINE)
    sums = f.slot(f"[{GATHERED_TILES * GATHERED_BLOCKS * FILTER_BLOCK * step} x {v.scalar}]", align=CACHE_LINE)
    counts = [stop - begin for _, _, begin, stop in blocks]
    total = sum(counts[1:], counts[0])
    is_whole = f.argument("inner") <= GATHERED_TAPS
    groups = f.choose(is_whole, f.index(1), (total + (GATHERED_BLOCKS - 1)) // GATHERED_BLOCKS)
    with f.loop(0, tiles, GATHERED_TILES) as tile:
        some = first + tile * step, f.least(tiles - tile, GATHERED_TILES)
        with f.loop(0, groups) as n:
            before = n * GATHERED_BLOCKS
            group = before, f.choose(is_whole, total, before + GATHERED_BLOCKS)
            _multiply_group(f, like, blocks, counts, group, some, grid, (columns, sums))
    with f.when((is_tile ^ True) & (left > 0)):
        _multiply_rest(f, like, blocks, (first + whole * step, narrow), (end - alone, end), grid)


def _multiply_rest(
    f: Routine,
    like: Tile,
    blocks: Blocks,
    narrow: tuple[Index, Index],
    alone: tuple[Index, Index],
    grid: Grid,
) -> None:
    """Vectors of windows from one on, and a range of windows; where that is a single one, by several blocks at once."""
    v, adds, inner = like.v, like.adds, f.argument("inner")
    is_single = (alone[1] - alone[0]).equals(1)
    for height, skipped, begin, stop in blocks:
        several = begin + f.choose(is_single, (stop - begin) // SINGLE_BLOCKS * SINGLE_BLOCKS, 0)
        with f.loop(begin, several, SINGLE_BLOCKS) as block:
            f.poll(inner * (height * SINGLE_BLOCKS))
            multiply_few(f, FewWindows(v, height, SINGLE_BLOCKS, adds, 1), block * height + skipped, alone[0])
        with f.loop(begin, stop) as block:
            f.poll(inner * height)
            run = Block(f, v, height, block * height + skipped, grid, adds)
            run.multiply_narrow(*narrow)
            with f.when(block >= several), f.loop(*alone, FEW_WINDOWS) as window:
                multiply_few(f, FewWindows(v, height, 1, adds), run.feature, window)


def _multiply_group(
    f: Routine,
    like: Tile,
    blocks: Blocks,
    counts: Sequence[Index],
    group: tuple[Index, Index],
    some: tuple[Index, Index],
    grid: Grid,
    memory: tuple[Value, Value],
) -> None:
    """A range of the blocks by some tiles from a window on, in memory for their columns and sums."""
    v, step, (window, tiles), (columns, sums) = like.v, like.width, some, memory
    inner, last = f.argument("inner"), f.most(grid.span - step, 0)
    parts = (inner + (GATHERED_TAPS - 1)) // GATHERED_TAPS
    most = (inner + (parts - 1)) // parts
    gather = _define_gather(f.module, like)
    with f.loop(0, parts) as part:
        tap = part * most
        taps = f.least(inner - tap, most)
        source, offsets = v.offset(f, f["x"], window), f.offset(f["offsets"], "i32", tap)
        f.run(gather, columns, source, offsets, taps, tiles, last - window)
        ends = f.index(f.convert("zext", part.equals(parts - 1), "i64"))
        before = f.index(0)
        for (height, skipped, begin, _), count in zip(blocks, counts, strict=True):
            with f.loop(*f.share_of_group(before, count, group)) as block:
                f.poll(taps * (tiles * (height * step)) // LANES)
                feature = (begin + block) * height + skipped
                w = v.offset(f, f["w"], feature * inner + tap * height)
                number = f.choose(parts.equals(1), f.index(0), before + block - group[0])
                own = v.offset(f, sums, number * (GATHERED_TILES * FILTER_BLOCK * step))
                with f.loop(0, tiles) as n:
                    start = f.least(window + n * step, last)
                    x = v.offset(f, columns, n * (GATHERED_TAPS * step))
                    for more, features in split_block(height, TILE_FEATURES[f.module.machine.vector_bytes]):
                        tile = Tile(v, features, height, like.vectors, like.adds, True)
                        define_tile(f.module, tile)
                        y, *rest = feature_operands(f, tile, feature + more, grid.pixels)
                        waiting = v.offset(f, own, n * (FILTER_BLOCK * step) + more * step)
                        filters = filters_from(f, feature) - tap * height - more
                        numbers = taps, filters, f["bounded"], tap, ends, grid.pixels, start, grid.span, *grid.lines
                        f.run(tile.name, y, waiting, x, v.offset(f, w, more), *rest, *numbers)
            before = before + count


def _define_gather(module: Module, tile: Tile) -> str:
    """for taps: for tiles: the vectors of its windows, the last tile so far back that it ends with the last window."""
    v = tile.v
    name = f"@whorl.gather_windows.{v.suffix}x{tile.vectors}"
    if name in module:
        return name
    f = Routine(module, name, ["_columns", "x", "offsets"], ["taps", "tiles", "last"])
    taps, tiles, last = f.indices("taps", "tiles", "last")
    with f.loop(0, taps) as tap:
        x = f.offset_outside(f["x"], v.scalar, load_offset(f, tap))
        with f.loop(0, tiles) as n:
            source = f.offset_outside(x, v.scalar, f.least(n * tile.width, last))
            target = v.offset(f, f["columns"], n * (GATHERED_TAPS * tile.width) + tap * tile.width)
            columns = [v.load(f, f.offset_outside(source, v.scalar, k * v.lanes)) for k in range(tile.vectors)]
            for k, column in enumerate(columns):
                f.store(column, v.offset(f, target, k * v.lanes), v.lanes * v.size)
    f.end()
    return name
