"""Kernels of convolutions in LLVM IR: tiles of features by windows, whose sums are all in registers.

One kernel multiplies a block of up to 12 filters by some vectors of windows; no columns are written out (implicit
GEMM). The rows of a phase-split input are longer than those of the result, so a tile computes some elements that are
not stored, and stores row by row. Every element is one sum over ascending taps.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from whorl.codegen.elements import Element, element_of
from whorl.codegen.formulas import Library
from whorl.codegen.routine import Routine
from whorl.codegen.target import vector_bytes
from whorl.kernel.program import Call
from whorl.kernels.convolution.layout import filter_blocks
from whorl.kernels.kernel import LANES

_SUMS = {64: 24, 32: 12, 16: 12}
"""Sums of a tile by the width of vectors: with operands they fill the registers."""
_HIGHEST = {64: 12, 32: 6, 16: 6}
"""Features of a tile, of which two vectors of windows are computed."""
_WIDEST = 8
"""Vectors of a tile."""
_AHEAD = 64
"""Taps ahead of which filters are fetched, most of them from far away."""
WINDOWS = ("%depth", "%rows", "%width", "%row_pitch", "%pitch")
_GEOMETRY = ("%pixels", "%first", "%span", *WINDOWS[1:])


@dataclass(frozen=True)
class _Tile:
    """`height` features of a block by so many vectors of windows; `added`: plus a tensor like the result."""

    element: Element
    height: int
    block: int
    vectors: int
    added: bool

    @property
    def name(self) -> str:
        suffix = ".sum" if self.added else ""
        return f"@whorl.windows.{self.element.suffix}.{self.height}of{self.block}x{self.vectors}{suffix}"

    @property
    def width(self) -> int:
        return self.vectors * self.element.lanes


def convolution(call: Call, library: Library) -> str:
    """for parts of the windows: for features: for windows of the part: tile."""
    element, features, added = element_of(call.dtype), call.numbers[0], call.kernel == "convolution_sum"
    blocks = filter_blocks(features)
    vectors = min(_WIDEST, max(2, _SUMS[vector_bytes()] // min(blocks[0][0], _HIGHEST[vector_bytes()])))
    heights = "x".join(f"{height}.{count}" for height, _, count in blocks)
    name = f"@whorl.convolution.{element.suffix}.{heights}{'.sum' if added else ''}"
    if name in library:
        return name
    library[name] = ""
    pointers = _pointers(added)
    numbers = ["%features", "%inner", "%bounded", "%together", "%reach", *WINDOWS]
    f = Routine(name, pointers, numbers, polls=True)
    pixels = f.mul(f.mul("%depth", "%rows"), "%width")
    span = _span(f)
    step = vectors * element.lanes
    last = f.value(f"call i64 @llvm.smax.i64(i64 {f.sub(span, step)}, i64 0)")
    library.setdefault("@llvm.smax.i64", "declare i64 @llvm.smax.i64(i64, i64)")
    size = f.mul(f.value(f"udiv i64 {f.add('%together', step - 1)}, {step}"), step)
    with _stepped(f, span, size) as start:
        stop = f.least(f.add(start, size), span)
        for height, first, count in blocks:
            with f.loop(0, count) as block:
                f.poll(f.value(f"sdiv i64 {f.mul(f.mul(f.sub(stop, start), '%inner'), height)}, {LANES}"))
                feature = f.add(f.mul(block, height), first)
                with f.loop(start, stop, step) as place:
                    at = f.least(place, last)
                    for skipped, part in _parts(height):
                        tile = _Tile(element, part, height, vectors, added)
                        _require_tile(tile, library)
                        _call_tile(f, tile, f.add(feature, skipped), feature, skipped, at, pixels, span)
    library[name] = f.text()
    return name


def _pointers(added: bool) -> list[str]:
    read = ["%x", "%offsets", "%w", "%bias", "%limits", *["%added"] * added]
    return ["noalias %y", *(f"noalias readonly {pointer}" for pointer in read)]


def _parts(height: int) -> list[tuple[int, int]]:
    """A block as tiles: (features before, features)."""
    count = -(-height // _HIGHEST[vector_bytes()])
    first = -(-height // count)
    return [(start, min(first, height - start)) for start in range(0, height, first)]


def _span(f: Routine) -> str:
    """From the place of the first window to that of the last one, both counted."""
    slices = f.mul(f.sub("%depth", 1), "%row_pitch")
    return f.add(f.mul(f.add(slices, f.sub("%rows", 1)), "%pitch"), "%width")


@contextmanager
def _stepped(f: Routine, stop: str, step: str) -> Iterator[str]:
    """`for i in range(0, stop, step)` with a step that is computed."""
    count = f.value(f"sdiv i64 {f.add(stop, f.sub(step, 1))}, {step}")
    with f.loop(0, count) as number:
        yield f.mul(number, step)


def _call_tile(
    f: Routine, tile: _Tile, feature: str, block: str, skipped: int, at: str, pixels: str, span: str
) -> None:
    kind = tile.element.kind
    plane = f.mul(feature, pixels)
    filters = f.place(f.place("%w", kind, f.mul(block, "%inner")), kind, skipped)
    places = [
        f.place("%y", kind, plane),
        f.place("%x", kind, at),
        "%offsets",
        filters,
        f.place("%bias", kind, feature),
        "%limits",
    ]
    if tile.added:
        places.append(f.place("%added", kind, plane))
    numbers = ["%inner", "%bounded", pixels, at, span, *WINDOWS[1:]]
    given = ", ".join((*(f"ptr {p}" for p in places), *(f"i64 {n}" for n in numbers)))
    f.line(f"call void {tile.name}({given})")


def _require_tile(tile: _Tile, library: Library) -> None:
    if tile.name in library:
        return
    library[tile.name] = ""
    e, kind = tile.element, tile.element.kind
    pointers = _pointers(tile.added)
    f = Routine(tile.name, pointers, ["%inner", "%bounded", *_GEOMETRY])
    sums = [[f.slot(e.vector) for _ in range(tile.vectors)] for _ in range(tile.height)]
    for slot in (slot for row in sums for slot in row):
        f.line(f"store {e.vector} zeroinitializer, ptr {slot}")
    with f.loop(0, "%inner") as tap:
        x = f.place("%x", kind, _offset(f, tap))
        columns = [f.load(e.vector, f.place(x, kind, v * e.lanes), e.size) for v in range(tile.vectors)]
        w = f.place("%w", kind, f.mul(tap, tile.block))
        e.prefetch(f, library, f.place(w, kind, _AHEAD * tile.block))
        for r, row in enumerate(sums):
            factor = e.splat(f, f.load(kind, f.place(w, kind, r), e.size))
            for column, slot in zip(columns, row, strict=True):
                total = e.fused(f, library, factor, column, f.value(f"load {e.vector}, ptr {slot}"))
                f.line(f"store {e.vector} {total}, ptr {slot}")
    _finish(f, tile, sums, library)
    library[tile.name] = f.text()


def _offset(f: Routine, tap: str) -> str:
    return f.value(f"sext i32 {f.load('i32', f.place('%offsets', 'i32', tap), 4)} to i64")


def _finish(f: Routine, tile: _Tile, sums: list[list[str]], library: Library) -> None:
    """Add the bias and store the windows, one row of them after the other, as the rows lie in the result."""
    e = tile.element
    for r, row in enumerate(sums):
        bias = e.splat(f, f.load(e.kind, f.place("%bias", e.kind, r), e.size))
        for slot in row:
            total = f.value(f"fadd {e.vector} {f.value(f'load {e.vector}, ptr {slot}')}, {bias}")
            f.line(f"store {e.vector} {total}, ptr {slot}")
    limits = _limits(f, e)
    end = f.least(f.add("%first", tile.width), "%span")
    first = f.value("sdiv i64 %first, %pitch")
    count = f.add(f.value(f"sdiv i64 {f.sub(end, 1)}, %pitch"), 1)
    with f.loop(first, count) as row:
        low = f.sub(f.mul(row, "%pitch"), "%first")
        high = f.add(low, "%width")
        depth = f.value(f"sdiv i64 {row}, %row_pitch")
        line = f.sub(row, f.mul(depth, "%row_pitch"))
        target = f.sub(f.mul(f.add(f.mul(depth, "%rows"), line), "%width"), low)
        with f.when(f.value(f"icmp slt i64 {line}, %rows")):
            starts, ends = (f.value(f"icmp {t}") for t in (f"sle i64 {low}, 0", f"sge i64 {high}, {tile.width}"))
            covers = f.value(f"and i1 {starts}, {ends}")
            with f.when(covers):
                _store_tile(f, tile, sums, target, None, limits, library)
            with f.when(f.value(f"xor i1 {covers}, true")):
                _store_tile(f, tile, sums, target, (low, high), limits, library)


def _limits(f: Routine, e: Element) -> tuple[str, str]:
    """Both limits as vectors; infinities where nothing is bounded."""
    slots = [f.slot(e.vector) for _ in range(2)]
    for slot, infinity in zip(slots, ("0xFFF0000000000000", "0x7FF0000000000000"), strict=True):
        f.line(f"store {e.vector} {e.splat(f, infinity)}, ptr {slot}")
    with f.when(f.value("icmp ne i64 %bounded, 0")):
        for n, slot in enumerate(slots):
            limit = e.splat(f, f.load(e.kind, f.place("%limits", e.kind, n), e.size))
            f.line(f"store {e.vector} {limit}, ptr {slot}")
    low, high = (f.value(f"load {e.vector}, ptr {slot}") for slot in slots)
    return low, high


def _store_tile(
    f: Routine,
    tile: _Tile,
    sums: list[list[str]],
    target: str,
    lanes: tuple[str, str] | None,
    limits: tuple[str, str],
    library: Library,
) -> None:
    """Store the sums, those of the lanes from low to high where not all are meant."""
    e = tile.element
    masks = [None if lanes is None else _lanes_between(f, e, v * e.lanes, *lanes) for v in range(tile.vectors)]
    for r, row in enumerate(sums):
        position = f.add(f.mul("%pixels", r), target)
        y = f.value(f"getelementptr {e.kind}, ptr %y, i64 {position}")
        more = f.value(f"getelementptr {e.kind}, ptr %added, i64 {position}") if tile.added else ""
        for v, (slot, mask) in enumerate(zip(row, masks, strict=True)):
            total, place = f.value(f"load {e.vector}, ptr {slot}"), _shifted(f, e, y, v)
            if tile.added and mask is not None:
                other = e.masked_load(f, library, _shifted(f, e, more, v), mask, "zeroinitializer")
                total = f.value(f"fadd {e.vector} {total}, {other}")
            elif tile.added:
                other = f.load(e.vector, _shifted(f, e, more, v), e.size)
                total = f.value(f"fadd {e.vector} {total}, {other}")
            total = e.bounded(f, total, *limits)
            if mask is None:
                f.store(e.vector, total, place, e.size)
            else:
                e.masked_store(f, library, total, place, mask)


def _shifted(f: Routine, e: Element, pointer: str, vectors: int) -> str:
    return f.value(f"getelementptr {e.kind}, ptr {pointer}, i64 {vectors * e.lanes}")


def _lanes_between(f: Routine, e: Element, first: int, low: str, high: str) -> str:
    numbers = e.lane_numbers(f, str(first))
    return f.value(f"and {e.mask} {e.compare(f, 'sge', numbers, low)}, {e.compare(f, 'slt', numbers, high)}")
