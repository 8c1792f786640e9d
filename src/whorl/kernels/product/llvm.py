"""Products of matrices in LLVM IR: one row by a matrix, and tiles of rows by packed weights.

Each element is one sum over ascending k from 0; `fmuladd` makes a step one rounding where the machine fuses. So a row
gives the same bits alone and in a batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whorl.ir.dtypes import BY_NAME, UNSIGNED, is_integer, name_of
from whorl.kernels.aligned import CACHE_LINE
from whorl.kernels.kernel import ANY, LANES, Dtypes, Numbers
from whorl.kernels.machine import (
    AHEAD_BYTES,
    ANY_ROWS,
    BLOCK_ROWS,
    FAR_BYTES,
    FAR_PANELS,
    FEW_BLOCKS,
    FEW_ROWS,
    FEW_SUMS,
    NARROW_ROWS,
    NEAR_MATRIX_BYTES,
    PREFETCH_BYTES,
    TILE_ROWS,
    VECTOR_MATMUL_BYTES,
    VECTOR_MATMUL_ROWS,
)
from whorl.llvm.function import Function
from whorl.llvm.module import Module
from whorl.llvm.narrow import half_to_float
from whorl.llvm.routine import Routine
from whorl.llvm.value import Index, Value
from whorl.llvm.vectors import Vectors, add_product, prefetch, vectors_of

_FLOAT16, _BFLOAT16 = BY_NAME["float16"], BY_NAME["bfloat16"]

# ---- a row by a matrix ---------------------------------------------------------------------------------------


def define_vector_matmul(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    """for part of columns: y = 0; for 8 rows at a time: y += x0 * row0, y += x1 * row1, ..."""
    v = vectors_of(dtypes[0], module.machine)
    name = f"@whorl.vector_matmul.{v.suffix}"
    if name in module:
        return name
    f = Routine(module, name, ["_y", "x", "b"], ["inner", "columns"], polls=True, divides=True)
    inner, columns = f.indices("inner", "columns")
    part, whole = VECTOR_MATMUL_BYTES // v.size, inner & -VECTOR_MATMUL_ROWS
    start, stop = _columns_of(f, columns, 2 * v.lanes)
    with f.loop(start, stop, part) as first:
        count = f.least(stop - first, part)
        f.poll(inner * count // LANES)
        y, b = v.offset(f, f["y"], first), v.offset(f, f["b"], first)
        for start, stop, rows in ((f.index(0), whole, VECTOR_MATMUL_ROWS), (whole, inner, 1)):
            with f.loop(start, stop, rows) as k:
                x = v.offset(f, f["x"], k)
                factors = [f.load(v.scalar, v.offset(f, x, r), v.size) for r in range(rows)]
                addresses = [v.offset(f, b, (k + r) * columns) for r in range(rows)]
                _add_rows(f, v, y, factors, addresses, count, k.equals(0))
        with f.when(inner.equals(0)), f.loop(0, count) as j:
            f.store(f.number(0.0, v.scalar), v.offset(f, y, j), v.size)
    f.end()
    return name


def _columns_of(f: Routine, columns: Index, unit: int) -> tuple[Index, Index]:
    """The columns of these parts, which begin at multiples of a number."""
    start, stop = f.share((columns + (unit - 1)) // unit)
    return start * unit, f.least(stop * unit, columns)


def _add_rows(
    f: Function, v: Vectors, y: Value, factors: list[Value], addresses: list[Value], count: Index, is_first: Value
) -> None:
    """y[:count] += the sum of factors by rows, or y = that sum at first; two vectors at a time, then elements."""
    step = 2 * v.lanes
    most = count & -step
    for is_vector, start, stop in ((True, f.index(0), most), (False, most, count)):
        type = v.type if is_vector else v.scalar
        spread = [f.splat(factor, v.lanes) for factor in factors] if is_vector else factors
        with f.loop(start, stop, step if is_vector else 1) as j:
            for part in range(2 if is_vector else 1):
                position = j + part * v.lanes
                target = v.offset(f, y, position)
                total = f.select(is_first, f.number(0.0, type), f.load(type, target, v.size))
                for factor, address in zip(spread, addresses, strict=True):
                    total = f.muladd(factor, f.load(type, v.offset(f, address, position), v.size), total)
                f.store(total, target, v.size)


# ---- rows by packed weights ----------------------------------------------------------------------------------


class _Tile(Struct, frozen=True):
    """Sums side by side: rows, by vectors in each of several panels that are full.

    `stored` is the element type of packed weights in memory; it is widened as it is read. int32 are words of four bytes
    whose dot products are added.
    """

    v: Vectors
    stored: np.dtype
    panel_width: int
    rows: int = 1
    vectors: int = 1
    panels: int = 1

    @property
    def stored_type(self) -> str:
        return self.v.scalar if self.stored.itemsize == self.v.size else f"i{8 * self.stored.itemsize}"

    @property
    def suffix(self) -> str:
        return self.v.suffix if self.stored.itemsize == self.v.size else f"{self.v.suffix}.{name_of(self.stored)}"

    @property
    def columns(self) -> int:
        return self.vectors * self.panels * self.v.lanes

    @property
    def name(self) -> str:
        width = self.vectors * self.v.lanes
        return f"@whorl.tile.{self.suffix}.{self.rows}x{self.panels}x{width}.{self.panel_width}"


class _Blocks(Struct, frozen=True):
    """Blocks of rows of one height: the first row of all, and which of them are to be computed."""

    height: int
    first: Index | int
    start: Index
    stop: Index


def row_blocks(rows: int, most: int) -> Iterator[tuple[int, int, int]]:
    """Blocks of almost equal height: (height, first row, how many)."""
    count = -(-rows // most)
    height, taller = divmod(rows, count)
    if taller:
        yield height + 1, 0, taller
    if count > taller:
        yield height, taller * (height + 1), count - taller


def define_packed_matmul(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    """for panels: for blocks of rows: tile. The rows may be ANY. For `packed_dots` the element type is int32."""
    rows, inner, columns, width = numbers
    v, stored = vectors_of(dtypes[0], module.machine), dtypes[-1]
    tile = _Tile(v, stored, width)
    if rows == ANY:
        return _define_for_any_rows(module, tile, ANY != columns <= v.lanes)
    is_far = 0 < rows <= FEW_ROWS and ANY not in (inner, columns) and inner * columns * stored.itemsize > FAR_BYTES
    panels = FAR_PANELS if is_far else 1
    name = f"@whorl.packed_matmul.{tile.suffix}.{rows}x{panels}x{width}"
    if name in module:
        return name
    f = _packed_matmul(module, name)
    known_blocks = list(row_blocks(rows, TILE_ROWS[module.machine.vector_bytes]))
    count = sum(number for _, _, number in known_blocks)
    by_columns = None if rows == 1 else _shares_columns(f, tile, count)
    blocks = list(_shared_blocks(f, known_blocks, by_columns))
    columns = f.argument("columns")
    start, stop = _columns_of(f, columns, panels * width)
    if by_columns is not None:
        start, stop = f.choose(by_columns, start, f.index(0)), f.choose(by_columns, stop, columns)
    if panels > 1:
        end = f.least(columns & -(panels * width), stop)
        far = _Tile(v, stored, width, vectors=width // v.lanes, panels=panels)
        _multiply_tiles(f, far, blocks, (start, end))
        start = end
    vectors = max(2, min(width // v.lanes, FEW_SUMS // rows))
    _multiply_tiles(f, _Tile(v, stored, width, vectors=vectors), blocks, (start, stop))
    f.end()
    return name


def _shares_columns(f: Routine, tile: _Tile, blocks: Index | int) -> Value:
    """Whether parts are columns, not rows: where there are few blocks of rows, or the matrix is to be read but once.

    Then every part reads all rows.
    """
    inner, columns = f.indices("inner", "columns")
    is_large = inner * columns > NEAR_MATRIX_BYTES // tile.stored.itemsize
    return is_large | (f.index(blocks) < FEW_BLOCKS)


def _shared_blocks(f: Routine, blocks: Sequence[tuple[int, int, int]], all_if: Value | None) -> Iterator[_Blocks]:
    """What of the blocks of rows is to be computed: all, or a share."""
    count = sum(number for _, _, number in blocks)
    share = f.share(count) if all_if is not None else (f.index(0), f.index(count))
    if all_if is not None:
        share = f.choose(all_if, f.index(0), share[0]), f.choose(all_if, f.index(count), share[1])
    before = 0
    for height, first, number in blocks:
        yield _Blocks(height, first, *f.share_of_group(before, number, share))
        before += number


def _packed_matmul(module: Module, name: str) -> Routine:
    return Routine(module, name, ["_c", "a", "b"], ["rows", "inner", "columns", "width"], polls=True, divides=True)


def _define_for_any_rows(module: Module, tile: _Tile, is_narrow: bool) -> str:
    """for blocks of rows that stay near: for panels: tiles of six rows, then of each lower height that is left.

    Blocks have almost equally many rows: the matrix is read again for each, which is to be worth it.

    Where all columns surely fit in a vector, the tiles are of one vector. Elsewhere those would serve the last panel of
    few matrices, and take as long to compile as all else. Which tile comes next is a number, since a place in the code
    for each takes several times as long to compile.
    """
    name = f"@whorl.packed_matmul.{tile.suffix}.any{'.narrow' * is_narrow}.{tile.panel_width}"
    if name in module:
        return name
    f = _packed_matmul(module, name)
    v, width = tile.v, tile.panel_width
    sums = 1 if is_narrow else 2 * TILE_ROWS[module.machine.vector_bytes]
    tiles = [_widest(tile, height, sums // height) for height in (NARROW_ROWS if is_narrow else ANY_ROWS)]
    rows, inner, columns = f.indices("rows", "inner", "columns")
    blocks = (rows + (ANY_ROWS[0] - 1)) // ANY_ROWS[0]
    by_columns = _shares_columns(f, tile, blocks)
    first, end = f.share(blocks)
    first, end = first * ANY_ROWS[0], f.least(end * ANY_ROWS[0], rows)
    first, end = f.choose(by_columns, f.index(0), first), f.choose(by_columns, rows, end)
    left_column, right_column = _columns_of(f, columns, width)
    left_column = f.choose(by_columns, left_column, f.index(0))
    right_column = f.choose(by_columns, right_column, columns)
    parts = f.most((end - first + (BLOCK_ROWS - 1)) // BLOCK_ROWS, 1)
    most = f.most((end - first + (parts - 1)) // parts, 1)
    most = (most + (ANY_ROWS[0] - 1)) // ANY_ROWS[0] * ANY_ROWS[0]
    with f.loop(first, end, most) as start:
        count = f.least(end - start, most)
        a, c = v.offset(f, f["a"], start * inner), v.offset(f, f["c"], start * columns)
        with f.loop(left_column, right_column, width) as j:
            panel, left = f.offset(f["b"], tile.stored_type, j * inner), columns - j
            done = f.variable(f.index(0))
            with f.loop(0, len(tiles)) as n:
                height = _element(f, n, [each.rows for each in tiles])
                breadth = _element(f, n, [each.columns for each in tiles])
                before = f.load_index(done)
                blocks = (count - before) // height
                f.store(before + blocks * height, done)
                with f.loop(0, blocks) as block:
                    f.poll(inner * (height * width) // LANES)
                    row = block * height + before
                    with f.loop(0, f.least(left, width), breadth) as inside:
                        target = v.offset(f, c, row * columns + j + inside)
                        source = f.offset(panel, tile.stored_type, inside)
                        factors = v.offset(f, a, row * inner)
                        for k, each in enumerate(tiles):
                            _define_tile(f.module, each)
                            with f.when(n.equals(k)):
                                f.run(each.name, target, factors, source, inner, columns, left - inside)
    f.end()
    return name


def _widest(tile: _Tile, height: int, most: int) -> _Tile:
    """A tile of so many rows and at most so many vectors, a power of two."""
    vectors = max(1, min(tile.panel_width // tile.v.lanes, most))
    return replace(tile, rows=height, vectors=1 << vectors.bit_length() - 1)


def _element(f: Function, n: Index, numbers: Sequence[int]) -> Index:
    """One of some numbers."""
    result = f.index(numbers[0])
    for k, number in enumerate(numbers[1:], 1):
        result = f.choose(n < k, result, number)
    return result


def _multiply_tiles(
    f: Routine,
    like: _Tile,
    groups: Sequence[_Blocks],
    columns: tuple[Index, Index],
) -> None:
    """All rows by a range of columns, tile by tile."""
    v, stored = like.v, like.stored_type
    inner, all_columns = f.indices("inner", "columns")
    with f.loop(*columns, like.columns) as j:
        inside = j & (like.panel_width - 1)
        panel = f.offset(f.offset(f["b"], stored, (j - inside) * inner), stored, inside)
        left = all_columns - j
        for blocks in groups:
            height = blocks.height
            tile = _Tile(v, like.stored, like.panel_width, height, like.vectors, like.panels)
            _define_tile(f.module, tile)
            with f.loop(blocks.start, blocks.stop) as block:
                f.poll(inner * (height * tile.columns) // LANES)
                row = block * height + blocks.first
                first_sum = v.offset(f, f["c"], row * all_columns + j)
                f.run(tile.name, first_sum, v.offset(f, f["a"], row * inner), panel, inner, all_columns, left)


def _define_tile(module: Module, tile: _Tile) -> None:
    """c[rows, columns] = the sum over k of a[rows, k] by b[k, columns], all sums in registers."""
    if tile.name in module:
        return
    v, stored, width = tile.v, tile.stored_type, tile.panel_width
    f = Routine(module, tile.name, ["_c", "a", "b"], ["inner", "columns", "left"])
    inner, left = f.indices("inner", "left")
    zero = v.constant(f, 0.0)
    sums = [[f.variable(zero) for _ in range(tile.vectors * tile.panels)] for _ in range(tile.rows)]
    ahead = (PREFETCH_BYTES if tile.rows <= FEW_ROWS else AHEAD_BYTES) // tile.stored.itemsize
    last_row = (inner * f.choose(left > width, f.index(2), 1) - 1) * width
    rows = [v.offset(f, f["a"], inner * r) for r in range(tile.rows)]
    with f.loop(0, inner) as k:
        b = f.offset(f["b"], stored, k * width)
        starts = [b if p == 0 else f.offset(b, stored, inner * (p * width)) for p in range(tile.panels)]
        row = [_load_wide(f, tile, f.offset(s, stored, n * v.lanes)) for s in starts for n in range(tile.vectors)]
        if tile.panels == 1:
            soon = f.offset(f["b"], stored, f.least(k * width + ahead, last_row))
            for line in range(0, tile.vectors * v.lanes, CACHE_LINE // tile.stored.itemsize):
                prefetch(f, f.offset(soon, stored, line))
        for r in range(tile.rows):
            factor = v.load_splat(f, v.offset(f, rows[r], k))
            for slot, column in zip(sums[r], row, strict=True):
                f.store(add_product(f, v, f.load(v.type, slot), factor, column), slot)
    whole = left >= tile.columns
    part = whole ^ True
    with f.when(whole):
        _store_tile(f, v, sums, None)
    with f.when(part):
        _store_tile(f, v, sums, left)
    f.end()


def _load_wide(f: Function, tile: _Tile, address: Value) -> Value:
    """A vector of packed weights."""
    v, stored = tile.v, tile.stored
    value = f.load(f"<{v.lanes} x {tile.stored_type}>", address, stored.itemsize)
    if stored.itemsize == v.size:
        return value
    if stored == _FLOAT16 and f.module.machine.has_half:
        return f.convert("fpext", f.convert("bitcast", value, f"<{v.lanes} x half>"), v.type)
    whole = f"<{v.lanes} x i32>"
    if is_integer(stored):
        return f.convert("sitofp", f.convert("zext" if stored in UNSIGNED else "sext", value, whole), v.type)
    bits = f.convert("zext", value, whole)
    return f.real(bits << 16) if stored == _BFLOAT16 else half_to_float(f, bits)


def _store_tile(f: Routine, v: Vectors, sums: list[list[Value]], left: Index | None) -> None:
    """Store the sums; only the lanes of columns that there are, where `left` counts those."""
    vectors = range(len(sums[0]))
    masks = None if left is None else [_first_lanes(f, v.lanes, left - n * v.lanes) for n in vectors]
    for r, row in enumerate(sums):
        target = v.offset(f, f["c"], f.argument("columns") * r)
        for n, slot in enumerate(row):
            total, address = f.load(v.type, slot), v.offset(f, target, n * v.lanes)
            if masks is None:
                v.store(f, total, address)
            else:
                v.masked_store(f, total, address, masks[n])


def _first_lanes(f: Function, lanes: int, count: Index) -> Value:
    """A mask of so many lanes; 64 bits wide, since more columns than an i32 counts may be left."""
    numbers = Value(f, f"<{lanes} x i64>", "<" + ", ".join(f"i64 {lane}" for lane in range(lanes)) + ">")
    return f.compare("slt", numbers, f.splat(count, lanes))
