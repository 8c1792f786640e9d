"""Convolutions in LLVM IR: which blocks of features and which windows are computed, and in what order.

A tile multiplies some filters of a block by some vectors of windows. It reads them where they lie in the image, or
where they were gathered near by; no columns of all windows are written out (implicit GEMM).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from whorl.kernels.convolution.block import Block
from whorl.kernels.convolution.few import convolve_few, most_windows
from whorl.kernels.convolution.gathered import InImage, Source, convolve_gathered, is_gathered, room_of
from whorl.kernels.convolution.layout import filter_blocks
from whorl.kernels.convolution.normalized import NORMALIZED, Normalized
from whorl.kernels.convolution.same import AROUND, AroundEach
from whorl.kernels.convolution.tile import GRID, Grid, Tile
from whorl.kernels.kernel import LANES, Dtypes, Numbers
from whorl.kernels.machine import (
    FEW_FEATURE_BLOCKS,
    FEW_PARTS,
    FEW_TILES,
    FEW_WINDOWS,
    FILTER_BLOCK,
    LARGE_FILTERS,
    SMALL_FRAME_BYTES,
    TILE_FEATURES,
    TILE_SUMS,
    TILE_VECTORS,
)
from whorl.llvm.module import Module
from whorl.llvm.routine import Routine
from whorl.llvm.value import Index, Value
from whorl.llvm.vectors import Vectors, vectors_of


def define_convolution(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    """For `convolution_dots` the element type is int32."""
    return _define(module, dtypes, numbers, False)


def define_convolution_sum(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    return _define(module, dtypes, numbers, True)


def _define(module: Module, dtypes: Dtypes, numbers: Numbers, adds: bool) -> str:
    """for parts of the windows: for features: for windows of the part: tile."""
    v, heights = vectors_of(dtypes[0], module.machine), [height for height, _, _ in filter_blocks(numbers[0])]
    gathers = is_gathered(module.machine, numbers[0])
    suffix = ".gathered" * gathers + ".sum" * adds
    name = f"@whorl.convolution.{v.suffix}.{'x'.join(map(str, heights))}{suffix}"
    if name in module:
        return name
    width = module.machine.vector_bytes
    vectors = min(TILE_VECTORS, max(2, TILE_SUMS[width] // min(heights[0], TILE_FEATURES[width])))
    like = Tile(v, 1, 1, vectors, adds)
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
    blocks, windows = _divide(f, heights, tiles, f.argument("reach"), has_many)
    first_window, end_window = (n * tile for n in windows)
    with f.leave_when(few):
        for each in blocks:
            convolve_few(f, v, each, (first_window, f.least(end_window, pixels)), adds)
        f.end()
    end_window = f.least(end_window, span)
    grid = _grid(f, pixels, span)
    if gathers:
        source = InImage(f, like, room_of(module.machine))
        convolve_gathered(f, like, blocks, (first_window, end_window), grid, source)
        f.end()
        return name
    parts = f.most((end_window - first_window) // size, 1)
    with f.loop(0, parts) as part:
        start = first_window + part * size
        stop = f.choose(part.equals(parts - 1), end_window, start + size)
        whole = start + f.index(f.binary("udiv", stop - start, f.index(step))) * step
        for height, first, begin, end in blocks:
            with f.loop(begin, end) as block:
                f.poll((stop - start) * inner * height // LANES)
                run = Block(f, v, height, block * height + first, grid, adds)
                with f.loop(start, whole, step) as window:
                    run.multiply(vectors, window, window)
                with f.when(whole < stop):
                    run.multiply_rest(vectors, whole, stop)
    f.end()
    return name


def define_same_convolution(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    return _define_same(module, dtypes, numbers, False)


def define_same_convolution_sum(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    return _define_same(module, dtypes, numbers, True)


def _define_same(module: Module, dtypes: Dtypes, numbers: Numbers, adds: bool) -> str:
    """Windows around every element."""
    v, heights = _vectors_in_frame(module, dtypes), [height for height, _, _ in filter_blocks(numbers[0])]
    name = f"@whorl.same_convolution.{v.suffix}.{'x'.join(map(str, heights))}{'.sum' * adds}"
    if name in module:
        return name
    like = Tile(v, 1, 1, 2, adds)
    pointers = [name for name in like.pointers if name != "offsets"]
    f = Routine(module, name, pointers, ["features", "inner", "bounded", *AROUND], polls=True, divides=True)
    height, width, kernel_rows, kernel_columns = f.indices(*AROUND[:4])
    pixels = height * width
    image = f.argument("inner") // (kernel_rows * kernel_columns) * pixels
    _convolve_elements(f, like, heights, pixels, image, AroundEach(f, like, room_of(module.machine), image))
    return name


def define_normalized_convolution(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    return _define_normalized(module, dtypes, numbers, False)


def define_normalized_convolution_sum(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    return _define_normalized(module, dtypes, numbers, True)


def _define_normalized(module: Module, dtypes: Dtypes, numbers: Numbers, adds: bool) -> str:
    """Windows of one element of channels that are normalized."""
    v, heights = _vectors_in_frame(module, dtypes), [height for height, _, _ in filter_blocks(numbers[0])]
    name = f"@whorl.normalized_convolution.{v.suffix}.{'x'.join(map(str, heights))}{'.sum' * adds}"
    if name in module:
        return name
    like = Tile(v, 1, 1, 2, adds)
    y, _, _, *others = like.pointers
    f = Routine(module, name, [y, "x", "terms", *others], NORMALIZED, polls=True, divides=True)
    inner, windows = f.indices("inner", "windows")
    source = Normalized(f, like, room_of(module.machine), windows)
    _convolve_elements(f, like, heights, windows, inner * windows, source)
    return name


def _convolve_elements(
    f: Routine, like: Tile, heights: Sequence[int], windows: Index, image: Index, source: Source
) -> None:
    """The whole of a routine over windows that follow each other without a gap, one for each element."""
    tiles = (windows + (like.width - 1)) // like.width
    blocks, shared = _divide(f, heights, tiles, image)
    first, end = (f.least(n * like.width, windows) for n in shared)
    grid = Grid(windows, windows, [f.index(1), windows, f.index(1), windows])
    convolve_gathered(f, like, blocks, (first, end), grid, source)
    f.end()


def _vectors_in_frame(module: Module, dtypes: Dtypes) -> Vectors:
    """Those for whose windows a frame of the stack has room where it is to be a small one."""
    machine = module.machine
    if not machine.has_large_frames:
        machine = replace(machine, vector_bytes=min(machine.vector_bytes, SMALL_FRAME_BYTES))
    return vectors_of(dtypes[0], machine)


def _grid(f: Routine, pixels: Index, span: Index) -> Grid:
    lines, line = f.indices(*GRID[1:]), (f.index(1), span, f.index(1), span)
    is_one = span.equals(pixels)
    return Grid(pixels, span, [f.choose(is_one, one, each) for one, each in zip(line, lines, strict=True)])


def _divide(
    f: Routine, heights: Sequence[int], tiles: Index, image: Index, has_many: Value | None = None
) -> tuple[list[tuple[int, Index | int, Index, Index]], tuple[Index, Index]]:
    """The blocks of the features that are to be computed, of heights that are known, and the tiles of windows.

    A share of the windows, which a core most likely has made the image of, where there are several for each part of the
    work, or more than blocks, and unless filters are larger than the image, or two and few blocks. Else a share of the
    blocks. Blocks are (height, first feature of all of that height, first block, block after the last).
    """
    features = f.argument("features")
    count = f.index(f.binary("udiv", features + (FILTER_BLOCK - 1), f.index(FILTER_BLOCK)))
    width = f.module.machine.vector_bytes
    is_large = features * f.argument("inner") > image * LARGE_FILTERS[width]
    by_windows = (tiles > count) | ((tiles >= FEW_TILES[width]) & (is_large ^ True))
    by_windows |= tiles.equals(2) & (count <= FEW_FEATURE_BLOCKS)
    if has_many is not None:
        by_windows |= has_many
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
