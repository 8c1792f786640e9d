"""Kernels of matrix products in LLVM IR: one row by a matrix, and tiles of rows by panels, for the host's vectors.

Each result element is one sum over ascending k from 0; `fmuladd` makes a step one rounding where the machine fuses. So
a row gives the same bits alone and in a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from whorl.codegen.formulas import Library, real_literal
from whorl.codegen.narrow import BFLOAT16, FLOAT16
from whorl.codegen.routine import AS_WRITTEN, Routine
from whorl.codegen.target import has_half, vector_bytes
from whorl.ir.dtypes import FLOAT32, UNSIGNED, is_integer, name_of
from whorl.kernel.program import Call
from whorl.kernels.kernel import LANES
from whorl.kernels.machine import FEW_ROWS

_STREAMS = 8
"""Rows of the matrix that a row product reads side by side."""
_NEAR_BYTES = 1 << 14
"""The part of a row product's result that is kept near while the rows of the matrix go by."""
_TILE_ROWS = {64: 12, 32: 6, 16: 6}
"""Rows of a tile by the width of vectors: with two vectors a row, sums and operands fill the registers."""
_FEW_SUMS = 8
"""Tiles of few rows are wider, up to a panel, for so many sums that do not wait for each other."""
_FAR_BYTES, _FAR_PANELS = 1 << 23, 2
"""Matrices larger than caches are read from several panels at once by few rows."""
_LINE_BYTES, _AHEAD_BYTES = 64, 1024
"""How far before its use a matrix is fetched by few rows, which use each element once."""


@dataclass(frozen=True)
class _Element:
    """An element type on this host. Places are aligned to elements, panels and scratch to vectors or elements too."""

    kind: str
    size: int
    lanes: int
    stored: np.dtype
    """What the elements of panels are in memory; they are widened as they are read."""

    @property
    def stored_kind(self) -> str:
        return self.kind if self.stored.itemsize == self.size else f"i{8 * self.stored.itemsize}"

    @property
    def vector(self) -> str:
        return f"<{self.lanes} x {self.kind}>"

    def suffix(self) -> str:
        return f"f{8 * self.size}"

    def panels_suffix(self) -> str:
        return self.suffix() if self.stored.itemsize == self.size else f"{self.suffix()}.{name_of(self.stored)}"

    def of(self, vector: str) -> str:
        """What LLVM calls a type in the name of an intrinsic."""
        return self.suffix() if vector == self.kind else f"v{self.lanes}{self.suffix()}"


def require_kernel(call: Call, library: Library) -> str:
    """The name of the function for a call; its text is added to the library."""
    size = call.dtype.itemsize
    kind = "float" if call.dtype == FLOAT32 else "double"
    element = _Element(kind, size, vector_bytes() // size, call.places[-1][0].dtype)
    library.setdefault("!as_written", AS_WRITTEN)
    library.setdefault("@llvm.smin.i64", "declare i64 @llvm.smin.i64(i64, i64)")
    return _WRITERS[call.kernel](call, element, library)


def _fused(element: _Element, vector: str, library: Library) -> str:
    """The multiply-add intrinsic of a type."""
    name = f"@llvm.fmuladd.{element.of(vector)}"
    library.setdefault(name, f"declare {vector} {name}({vector}, {vector}, {vector})")
    return name


def _row_product(call: Call, element: _Element, library: Library) -> str:
    name = f"@whorl.vector_matmul.{element.suffix()}"
    if name not in library:
        library[name] = ""
        library[name] = _row_text(name, element, library)
    return name


def _row_text(name: str, element: _Element, library: Library) -> str:
    """for part of columns: y = 0; for 8 rows at a time: y += x0 * row0, y += x1 * row1, ..."""
    kind, near = element.kind, _NEAR_BYTES // element.size
    f = Routine(name, ["noalias %y", "noalias readonly %x", "noalias readonly %b"], ["%inner", "%columns"], True)
    whole = f.down("%inner", _STREAMS)
    with f.loop(0, "%columns", near) as first:
        count = f.least(f.sub("%columns", first), near)
        f.poll(f.value(f"sdiv i64 {f.mul('%inner', count)}, {LANES}"))
        y, b = f.place("%y", kind, first), f.place("%b", kind, first)
        for start, stop, rows in (("0", whole, _STREAMS), (whole, "%inner", 1)):
            with f.loop(start, stop, rows) as k:
                x = f.place("%x", kind, k)
                factors = [f.load(kind, f.place(x, kind, r), element.size) for r in range(rows)]
                places = [f.place(b, kind, f.mul(f.add(k, r), "%columns")) for r in range(rows)]
                fresh = f.value(f"icmp eq i64 {k}, 0")
                _add_rows(f, element, y, factors, places, count, fresh, library)
        with f.when(f.value("icmp eq i64 %inner, 0")), f.loop(0, count) as j:
            f.store(kind, "0.0", f.place(y, kind, j), element.size)
    return f.text()


def _add_rows(
    f: Routine,
    element: _Element,
    y: str,
    factors: list[str],
    places: list[str],
    count: str,
    fresh: str,
    library: Library,
) -> None:
    """y[:count] += the sum of factors by rows, or y = that sum where `fresh`; two vectors at a time, then elements."""
    kind, step = element.kind, 2 * element.lanes
    most = f.down(count, step)
    for vector, start, stop, width in ((element.vector, "0", most, step), (kind, most, count, 1)):
        fused = _fused(element, vector, library)
        spread = [f.splat(vector, kind, factor) for factor in factors]
        zero = "zeroinitializer" if vector != kind else "0.0"
        with f.loop(start, stop, width) as j:
            for part in range(2 if vector != kind else 1):
                at = f.add(j, part * element.lanes)
                target = f.place(y, kind, at)
                before = f.load(vector, target, element.size)
                total = f.value(f"select i1 {fresh}, {vector} {zero}, {vector} {before}")
                for factor, place in zip(spread, places, strict=True):
                    row = f.load(vector, f.place(place, kind, at), element.size)
                    total = f.value(f"call {vector} {fused}({vector} {factor}, {vector} {row}, {vector} {total})")
                f.store(vector, total, target, element.size)


# ---- tiles ---------------------------------------------------------------------------------------------------


def _blocks(rows: int, most: int) -> Iterator[tuple[int, int, int]]:
    """Blocks of almost equal height: (height, first row, how many)."""
    count = -(-rows // most)
    height, taller = divmod(rows, count)
    if taller:
        yield height + 1, 0, taller
    if count > taller:
        yield height, taller * (height + 1), count - taller


def _panel_product(call: Call, element: _Element, library: Library) -> str:
    rows, inner, columns, width = call.numbers
    panels = _FAR_PANELS if rows <= FEW_ROWS and inner * columns * element.stored.itemsize > _FAR_BYTES else 1
    name = f"@whorl.packed_matmul.{element.panels_suffix()}.{rows}x{panels}x{width}"
    if name in library:
        return name
    f = Routine(
        name,
        ["noalias %c", "noalias %s", "noalias readonly %a", "noalias readonly %b"],
        ["%rows", "%inner", "%columns", "%width"],
        polls=True,
    )
    blocks = list(_blocks(rows, _TILE_ROWS[vector_bytes()]))
    for height, first, count in blocks if rows > 1 else ():
        _pack_rows(f, element, height, first, count)
    vectors = max(2, min(width * element.size // vector_bytes(), _FEW_SUMS // rows))
    start = "0"
    if panels > 1:
        start = f.down("%columns", panels * width)
        _tiles(f, element, blocks, _Tile(width // element.lanes, panels, width), ("0", start), library)
    _tiles(f, element, blocks, _Tile(vectors, 1, width), (start, "%columns"), library)
    library[name] = f.text()
    return name


@dataclass(frozen=True)
class _Tile:
    """Columns of a tile: vectors side by side in a panel, in each of several panels that are full."""

    vectors: int
    panels: int
    width: int


def _tiles(
    f: Routine,
    element: _Element,
    blocks: list[tuple[int, int, int]],
    tile: _Tile,
    columns: tuple[str, str],
    library: Library,
) -> None:
    """All rows by a range of columns, tile by tile."""
    kind, width = element.kind, tile.width
    packed = "%a" if blocks == [(1, 0, 1)] else "%s"
    with f.loop(*columns, tile.vectors * tile.panels * element.lanes) as j:
        inside = f.value(f"and i64 {j}, {width - 1}")
        stored = element.stored_kind
        panel = f.place(f.place("%b", stored, f.mul(f.sub(j, inside), "%inner")), stored, inside)
        left = f.sub("%columns", j)
        for height, first, count in blocks:
            function = _require_tile(height, tile, element, library)
            with f.loop(0, count) as block:
                steps = f.mul("%inner", height * tile.vectors * tile.panels * element.lanes)
                f.poll(f.value(f"sdiv i64 {steps}, {LANES}"))
                row = f.add(f.mul(block, height), first)
                target = f.place("%c", kind, f.add(f.mul(row, "%columns"), j))
                f.line(_tile_call(function, target, f.place(packed, kind, f.mul(row, "%inner")), panel, left))


def _tile_call(tile: str, target: str, source: str, panel: str, left: str) -> str:
    return f"call void {tile}(ptr {target}, ptr {source}, ptr {panel}, i64 %inner, i64 %columns, i64 {left})"


def _pack_rows(f: Routine, element: _Element, height: int, first: int, count: int) -> None:
    """Blocks of rows, so that the elements of one k lie side by side."""
    kind, size = element.kind, element.size
    with f.loop(0, count) as block:
        f.poll(f.mul("%inner", height))
        row = f.add(f.mul(block, height), first)
        source = f.place("%a", kind, f.mul(row, "%inner"))
        target = f.place("%s", kind, f.mul(row, "%inner"))
        rows = [f.place(source, kind, f.mul("%inner", r)) for r in range(height)]
        with f.loop(0, "%inner") as k:
            side = f.place(target, kind, f.mul(k, height))
            for r in range(height):
                f.store(kind, f.load(kind, f.place(rows[r], kind, k), size), f.place(side, kind, r), size)


def _require_tile(height: int, tile: _Tile, element: _Element, library: Library) -> str:
    name = f"@whorl.tile.{element.panels_suffix()}.{height}x{tile.panels}x{tile.vectors * element.lanes}.{tile.width}"
    if name not in library:
        library[name] = ""
        library[name] = _tile_text(name, height, tile, element, library)
    return name


def _tile_text(name: str, height: int, tile: _Tile, element: _Element, library: Library) -> str:
    """c[height, vectors] = the sum over k of a[k, height] by b[k, vectors], all sums in registers."""
    kind, vector, lanes, size = element.kind, element.vector, element.lanes, element.size
    vectors, width, stored = tile.vectors * tile.panels, tile.width, element.stored_kind
    fused = _fused(element, vector, library)
    f = Routine(
        name,
        ["noalias %c", "noalias readonly %a", "noalias readonly %b"],
        ["%inner", "%columns", "%left"],
    )
    sums = [[f.slot(vector) for _ in range(vectors)] for _ in range(height)]
    for slot in (slot for row in sums for slot in row):
        f.line(f"store {vector} zeroinitializer, ptr {slot}")
    with f.loop(0, "%inner") as k:
        a, b = f.place("%a", kind, f.mul(k, height)), f.place("%b", stored, f.mul(k, width))
        starts = [b if p == 0 else f.place(b, stored, f.mul("%inner", p * width)) for p in range(tile.panels)]
        row = [_widened(f, element, f.place(s, stored, v * lanes)) for s in starts for v in range(tile.vectors)]
        for s in starts if height <= FEW_ROWS and tile.panels == 1 else ():
            for line in range(0, tile.vectors * lanes * element.stored.itemsize, _LINE_BYTES):
                _fetch(f, f.place(s, "i8", line + _AHEAD_BYTES), library)
        for r in range(height):
            factor = f.splat(vector, kind, f.load(kind, f.place(a, kind, r), size))
            for v in range(vectors):
                total = f.value(f"load {vector}, ptr {sums[r][v]}")
                total = f.value(f"call {vector} {fused}({vector} {factor}, {vector} {row[v]}, {vector} {total})")
                f.line(f"store {vector} {total}, ptr {sums[r][v]}")
    whole = f.value(f"icmp sge i64 %left, {vectors * lanes}")
    part = f.value(f"xor i1 {whole}, true")
    with f.when(whole):
        _write_tile(f, element, sums, None, library)
    with f.when(part):
        _write_tile(f, element, sums, "%left", library)
    return f.text()


def _widened(f: Routine, element: _Element, place: str) -> str:
    """A vector of a matrix in panels."""
    stored, lanes = element.stored, element.lanes
    narrow = f"<{lanes} x {element.stored_kind}>"
    value = f.load(narrow, place, stored.itemsize)
    if stored.itemsize == element.size:
        return value
    if stored == FLOAT16 and has_half():
        half = f.value(f"bitcast {narrow} {value} to <{lanes} x half>")
        return f.value(f"fpext <{lanes} x half> {half} to {element.vector}")
    whole = f"<{lanes} x i32>"
    if is_integer(stored):
        kind = "zext" if stored in UNSIGNED else "sext"
        return f.value(f"sitofp {whole} {f.value(f'{kind} {narrow} {value} to {whole}')} to {element.vector}")
    bits = f.value(f"zext {narrow} {value} to {whole}")
    if stored == BFLOAT16:
        raised = f.value(f"shl {whole} {bits}, {f.splat(whole, 'i32', '16')}")
        return f.value(f"bitcast {whole} {raised} to {element.vector}")
    return _from_half_bits(f, element, whole, bits)


def _from_half_bits(f: Routine, element: _Element, whole: str, bits: str) -> str:
    """The exponent is moved by a product, which also makes denormals normal; the largest means infinity or NaN."""
    vector = element.vector

    def masked(mask: int) -> str:
        return f.value(f"and {whole} {bits}, {f.splat(whole, 'i32', str(mask))}")

    moved = f.value(f"shl {whole} {masked(0x7FFF)}, {f.splat(whole, 'i32', '13')}")
    factor = f.splat(vector, "float", real_literal(2.0**112, "float"))
    size = f.value(f"fmul {vector} {f.value(f'bitcast {whole} {moved} to {vector}')}, {factor}")
    finite = f.value(f"bitcast {vector} {size} to {whole}")
    special = f.value(f"or {whole} {finite}, {f.splat(whole, 'i32', str(0x7F800000))}")
    largest = f.value(f"icmp eq {whole} {masked(0x7C00)}, {f.splat(whole, 'i32', str(0x7C00))}")
    chosen = f.value(f"select <{element.lanes} x i1> {largest}, {whole} {special}, {whole} {finite}")
    sign = f.value(f"shl {whole} {masked(0x8000)}, {f.splat(whole, 'i32', '16')}")
    return f.value(f"bitcast {whole} {f.value(f'or {whole} {chosen}, {sign}')} to {vector}")


def _fetch(f: Routine, place: str, library: Library) -> None:
    """Ask for a cache line that will be read soon."""
    library.setdefault("@llvm.prefetch.p0", "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    f.line(f"call void @llvm.prefetch.p0(ptr {place}, i32 0, i32 3, i32 1)")


def _write_tile(f: Routine, element: _Element, sums: list[list[str]], left: str | None, library: Library) -> None:
    """Store the sums; only the lanes of columns that there are, where `left` counts those."""
    kind, vector, lanes = element.kind, element.vector, element.lanes
    for r, row in enumerate(sums):
        target = f.place("%c", kind, f.mul("%columns", r))
        for v, slot in enumerate(row):
            total, place = f.value(f"load {vector}, ptr {slot}"), f.place(target, kind, v * lanes)
            if left is None:
                f.store(vector, total, place, element.size)
                continue
            intrinsic = f"@llvm.masked.store.{element.of(vector)}.p0"
            declared = f"declare void {intrinsic}({vector}, ptr, <{lanes} x i1>)"
            library.setdefault(intrinsic, declared)
            mask = _first_lanes(f, lanes, f.sub(left, v * lanes))
            f.line(f"call void {intrinsic}({vector} {total}, ptr align {element.size} {place}, <{lanes} x i1> {mask})")


def _first_lanes(f: Routine, lanes: int, count: str) -> str:
    numbers = ", ".join(f"i64 {lane}" for lane in range(lanes))
    spread = f.splat(f"<{lanes} x i64>", "i64", count)
    return f.value(f"icmp slt <{lanes} x i64> <{numbers}>, {spread}")


_WRITERS: dict[str, Callable[[Call, _Element, Library], str]] = {
    "vector_matmul": _row_product,
    "packed_matmul": _panel_product,
}
