"""Kernels in LLVM IR that take an image plane by plane: spreading it, and windows over a single plane."""

from __future__ import annotations

from contextlib import ExitStack

from whorl.codegen.convolutions import WINDOWS
from whorl.codegen.elements import Element, element_of
from whorl.codegen.formulas import Library
from whorl.codegen.routine import Routine
from whorl.kernel.program import Call
from whorl.kernels.kernel import LANES

_LINES = 4
"""Rows of windows that are computed side by side."""


def split_phases(call: Call, library: Library) -> str:
    """for channel, rows: a row of the image, by steps of the stride from each phase on, and what lies outside."""
    e = element_of(call.dtype)
    name = f"@whorl.split_phases.{e.suffix}"
    if name in library:
        return name
    axes = [[f"%{what}{axis}" for what in ("length", "begin", "stride", "phases", "spread")] for axis in range(3)]
    numbers = ["%fill", "%channels", "%plane", *(n for row in axes for n in row)]
    f = Routine(name, ["noalias %s", "noalias readonly %x"], numbers, polls=True)
    outside = f.value("icmp ne i64 %fill, 0")
    zeros = "zeroinitializer"
    least = e.splat(f, "0xFFF0000000000000")
    fill = f.value(f"select i1 {outside}, {e.vector} {least}, {e.vector} {zeros}")
    lengths = ("%channels", "%phases0", "%spread0", "%phases1", "%spread1")
    with ExitStack() as stack:
        c, p, i, q, j = (stack.enter_context(f.loop(0, length)) for length in lengths)
        f.poll(f.mul("%phases2", "%spread2"))
        first, in_depth = _source(f, i, p, 0)
        second, in_height = _source(f, j, q, 1)
        line = f.add(f.mul(f.add(f.mul(c, "%length0"), first), "%length1"), second)
        inside = f.value(f"and i1 {in_depth}, {in_height}")
        count = f.value(f"select i1 {inside}, i64 %length2, i64 0")
        x = f.value(f"getelementptr {e.kind}, ptr %x, i64 {f.mul(line, '%length2')}")
        with f.loop(0, "%phases2") as r:
            phase = f.add(f.mul(f.add(f.mul(p, "%phases1"), q), "%phases2"), r)
            row = f.add(f.mul(f.add(f.mul(phase, "%spread0"), i), "%spread1"), j)
            target = f.place("%s", e.kind, f.add(f.mul(c, "%plane"), f.mul(row, "%spread2")))
            _spread_row(f, e, target, x, f.sub(r, "%begin2"), count, fill, library)
    library[name] = f.text()
    return name


def _source(f: Routine, place: str, phase: str, axis: int) -> tuple[str, str]:
    """The element of the image at a place of a phase, and whether there is one."""
    shifted = f.sub(f.add(f.mul(place, f"%stride{axis}"), phase), f"%begin{axis}")
    return shifted, f.value(f"icmp ult i64 {shifted}, %length{axis}")


def _spread_row(
    f: Routine, e: Element, target: str, x: str, before: str, count: str, fill: str, library: Library
) -> None:
    """target[j] = x[j * stride + before] where that is below count, else fill."""
    dense = f.value("icmp eq i64 %stride2, 1")
    with f.when(dense), f.loop(0, "%spread2", e.lanes) as j:
        first = f.add(j, before)
        mask = e.compare(f, "ult", e.lane_numbers(f, first), count)
        source = f.value(f"getelementptr {e.kind}, ptr {x}, i64 {first}")
        _store_part(f, e, e.masked_load(f, library, source, mask, fill), target, j, library)
    by_two = f.value("icmp eq i64 %stride2, 2")
    with f.when(by_two), f.loop(0, "%spread2", e.lanes) as j:
        parts = []
        for half in range(2):
            first = f.add(f.add(f.mul(j, 2), before), half * e.lanes)
            mask = e.compare(f, "ult", e.lane_numbers(f, first), count)
            source = f.value(f"getelementptr {e.kind}, ptr {x}, i64 {first}")
            parts.append(e.masked_load(f, library, source, mask, fill))
        chosen = ", ".join(f"i32 {2 * lane}" for lane in range(e.lanes))
        given = f"{e.vector} {parts[0]}, {e.vector} {parts[1]}, <{e.lanes} x i32> <{chosen}>"
        _store_part(f, e, f.value(f"shufflevector {given}"), target, j, library)
    with f.when(f.value("icmp sgt i64 %stride2, 2")), f.loop(0, "%spread2", e.lanes) as j:
        places = e.lane_numbers(f, f.add(f.mul(j, "%stride2"), before), "%stride2")
        mask = e.compare(f, "ult", places, count)
        _store_part(f, e, e.gather(f, library, x, places, mask, fill), target, j, library)


def _store_part(f: Routine, e: Element, value: str, target: str, first: str, library: Library) -> None:
    """Store the elements of a row from a place on, as many as the row has left."""
    e.store_part(f, library, value, f.place(target, e.kind, first), f.sub("%spread2", first))


def plane_windows(call: Call, library: Library) -> str:
    """for slices: for 4 rows: for vectors of windows: total = 0; for taps: total += weight * x, or the larger one."""
    e, weighted = element_of(call.dtype), call.kernel == "plane_sums"
    name = f"@whorl.{call.kernel}.{e.suffix}"
    if name in library:
        return name
    given = ("%x", "%offsets", "%w", "%bias", "%limits") if weighted else ("%x", "%offsets")
    numbers = ["%taps", *(["%bounded"] * weighted), "%reach", *WINDOWS]
    f = Routine(name, ["noalias %y", *(f"noalias readonly {p}" for p in given)], numbers, polls=True)
    last = f.sub("%rows", 1)
    with ExitStack() as stack:
        d = stack.enter_context(f.loop(0, "%depth"))
        line = stack.enter_context(f.loop(0, "%rows", _LINES))
        f.poll(f.value(f"sdiv i64 {f.mul(f.mul('%taps', '%width'), _LINES)}, {LANES}"))
        column = stack.enter_context(f.loop(0, "%width", e.lanes))
        lines = [f.least(f.add(line, n), last) for n in range(_LINES)]
        sources = [
            f.place("%x", e.kind, f.add(f.mul(f.add(f.mul(d, "%row_pitch"), n), "%pitch"), column)) for n in lines
        ]
        totals = _over_taps(f, e, sources, weighted, library)
        left = f.sub("%width", column)
        for n, slot in zip(lines, totals, strict=True):
            total = f.value(f"load {e.vector}, ptr {slot}")
            if weighted:
                total = _ended(f, e, total)
            target = f.place("%y", e.kind, f.add(f.mul(f.add(f.mul(d, "%rows"), n), "%width"), column))
            e.store_part(f, library, total, target, left)
    library[name] = f.text()
    return name


def _over_taps(f: Routine, e: Element, sources: list[str], weighted: bool, library: Library) -> list[str]:
    """The sums or the largest elements, one vector of windows a source."""
    totals, broken = [f.slot(e.vector) for _ in sources], [f.slot(e.mask) for _ in sources]
    start = "zeroinitializer" if weighted else e.splat(f, "0xFFF0000000000000")
    for slot, mask in zip(totals, broken, strict=True):
        f.line(f"store {e.vector} {start}, ptr {slot}")
        f.line(f"store {e.mask} zeroinitializer, ptr {mask}")
    with f.loop(0, "%taps") as tap:
        offset = f.value(f"sext i32 {f.load('i32', f.place('%offsets', 'i32', tap), 4)} to i64")
        factor = e.splat(f, f.load(e.kind, f.place("%w", e.kind, tap), e.size)) if weighted else ""
        for source, slot, mask in zip(sources, totals, broken, strict=True):
            x = f.load(e.vector, f.place(source, e.kind, offset), e.size)
            total = f.value(f"load {e.vector}, ptr {slot}")
            total = e.fused(f, library, factor, x, total) if weighted else e.larger(f, x, total)
            f.line(f"store {e.vector} {total}, ptr {slot}")
            if not weighted:
                is_nan = f.value(f"fcmp uno {e.vector} {x}, {x}")
                before = f.value(f"load {e.mask}, ptr {mask}")
                f.line(f"store {e.mask} {f.value(f'or {e.mask} {before}, {is_nan}')}, ptr {mask}")
    for slot, mask in zip(totals, broken, strict=True) if not weighted else ():
        total, is_nan = f.value(f"load {e.vector}, ptr {slot}"), f.value(f"load {e.mask}, ptr {mask}")
        nan = e.splat(f, "0x7FF8000000000000")
        value = f.value(f"select {e.mask} {is_nan}, {e.vector} {nan}, {e.vector} {total}")
        f.line(f"store {e.vector} {value}, ptr {slot}")
    return totals


def _ended(f: Routine, e: Element, total: str) -> str:
    """The sum with its bias, kept between the limits if it is bounded."""
    slot = f.slot(e.vector)
    bias = e.splat(f, f.load(e.kind, "%bias", e.size))
    f.line(f"store {e.vector} {f.value(f'fadd {e.vector} {total}, {bias}')}, ptr {slot}")
    with f.when(f.value("icmp ne i64 %bounded, 0")):
        limits = [e.splat(f, f.load(e.kind, f.place("%limits", e.kind, n), e.size)) for n in range(2)]
        value = e.bounded(f, f.value(f"load {e.vector}, ptr {slot}"), limits[0], limits[1])
        f.line(f"store {e.vector} {value}, ptr {slot}")
    return f.value(f"load {e.vector}, ptr {slot}")
