"""The patches of an image, transformed, in LLVM IR: each channel is cut into its even and odd rows and columns.

In such planes the elements of a patch's neighbours are neighbours, so patches lie side by side in vectors, those of the
next row behind those of one row.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from whorl.kernels.winograd.layout import GROUP, POINTS, group_count, patch_counts, plane_size, point_stride
from whorl.llvm.module import Module
from whorl.llvm.routine import Routine
from whorl.llvm.value import Index, Value
from whorl.llvm.vectors import Vectors

PLANES = 4
"""Odd rows, of which the first one lies before the image, and even rows; of each the even and the odd columns."""


class Image(Struct, frozen=True):
    """Numbers of an image and its patches."""

    rows: Index
    columns: Index
    down: Index
    across: Index
    groups: Index
    plane: Index


def image_of(f: Routine) -> Image:
    image = rows, columns = f.argument("rows"), f.argument("columns")
    return Image(rows, columns, *patch_counts(*image), group_count(*image), plane_size(*image))


def own_planes(f: Routine, v: Vectors, image: Image) -> Value:
    """The planes of the first one of these parts, filled with zeros."""
    planes = v.offset(f, f["planes"], f.argument("first_part") * (image.plane * PLANES))
    with f.loop(0, image.plane * PLANES, v.lanes) as n:
        v.store(f, v.constant(f, 0.0), v.offset(f, planes, n))
    return planes


def transform_channel(
    f: Routine, v: Vectors, t: Value, planes: Value, channel: Index, groups: tuple[Index, Index]
) -> None:
    """The patches of a range of groups, from a channel of x; the first group of all would lie at t."""
    numbers = (f[name] for name in ("channels", "rows", "columns"))
    f.run(_define_channel(f.module, v), t, planes, f["x"], *numbers, channel, *groups)


def _define_channel(module: Module, v: Vectors) -> str:
    """Fill the planes with the rows that are read; for vectors of patches: their elements, transformed."""
    name = f"@whorl.transform_channel.{v.suffix}"
    if name in module:
        return name
    names = ["channels", "rows", "columns", "channel", "begin", "end"]
    f = Routine(module, name, ["_t", "_planes", "x"], names)
    image, (channels, _, _, channel, begin, end) = image_of(f), f.indices(*names)
    first, last = begin * GROUP // image.across, (f.least(end * GROUP, image.down * image.across) - 1) // image.across
    rows = f.most(first * 2 - 1, 0), f.least(last * 2 + 3, image.rows)
    _fill_planes(f, v, channel * (image.rows * image.columns), image, rows)
    start, step = begin * GROUP, f.index(f.binary("urem", f.index(v.lanes), image.across))
    column, lanes = f.variable(start - start // image.across * image.across), _remainders(f, v, image.across)
    with f.loop(begin, end) as group, f.loop(0, GROUP, v.lanes) as lane:
        here = f.load_index(column)
        points = _transformed(_patches(f, v, group * GROUP + lane, image, v.splat_number(f, here) + lanes))
        target = group * (point_stride(channels) * POINTS) + channel * GROUP + lane
        for n, point in enumerate(points):
            v.store(f, point, f.offset_outside(f["t"], v.scalar, target + point_stride(channels) * n))
        f.store(_below(f, here + step, image.across), column)
    f.end()
    return name


def _fill_planes(f: Routine, v: Vectors, start: Index, image: Image, rows: tuple[Index, Index]) -> None:
    """Cut a range of rows of a channel, which begins at an element of x. Rows that lie outside stay zeros.

    The last vector of a row leaves zeros behind it, where the next row comes.
    """
    with f.loop(*rows) as row:
        odd, source = f.index(f.binary("and", row, f.index(1))), start + row * image.columns
        plane = f.choose(odd.equals(1), f.index(0), image.plane * 2)
        target = plane + (row + odd) // 2 * image.across + GROUP
        with f.loop(0, image.across, v.lanes) as n:
            elements = [_load_before(f, v, source, 2 * n + k * v.lanes, image.columns) for k in range(2)]
            for k, half in enumerate(v.halves(f, *elements)):
                v.store(f, half, v.offset(f, f["planes"], target + n + image.plane * k))


def _load_before(f: Routine, v: Vectors, source: Index, first: Index, count: Index) -> Value:
    """Elements from one on of a row of so many, and zeros."""
    address, zero = f.offset_outside(f["x"], v.scalar, source + first), v.constant(f, 0.0)
    value, is_whole = f.variable(zero), first + v.lanes <= count
    with f.when(is_whole):
        f.store(v.load(f, address), value)
    with f.when(is_whole ^ True):
        f.store(v.masked_load(f, address, v.compare(f, "slt", v.lane_numbers(f, first), count), zero), value)
    return f.load(v.type, value)


def _remainders(f: Routine, v: Vectors, divisor: Index) -> Value:
    """What is left of the number of each lane: quotients of such numbers are exact enough as real ones."""
    lanes, by, real = v.lane_numbers(f, 0), v.splat_number(f, divisor), f"<{v.lanes} x float>"
    quotient = f.convert("uitofp", lanes, real) / f.convert("uitofp", by, real)
    return lanes - f.convert("fptoui", quotient, lanes.type) * by


def _below(f: Routine, number: Index, limit: Index) -> Index:
    """A number below twice the limit, less the limit where it is not below."""
    return f.choose(number < limit, number, number - limit)


def _patches(f: Routine, v: Vectors, patch: Index, image: Image, column: Value) -> list[list[Value]]:
    """The elements [4, 4] of a vector of patches from one on; those at the ends of rows have zeros outside.

    Columns are those of the patches, or as many more as a row has.
    """
    across, zero = v.splat_number(f, image.across), v.constant(f, 0.0)
    column = f.select(f.compare("ult", column, across), column, column - across)
    is_first, is_last = v.compare(f, "eq", column, 0), v.compare(f, "eq", column, image.across - 1)
    rows: list[list[Value]] = []
    for i in range(4):
        even = v.offset(f, f["planes"], image.plane * (i % 2 * 2) + (patch + GROUP) + image.across * (i // 2))
        odd = v.offset(f, even, image.plane)
        before, behind = v.load(f, f.offset(odd, v.scalar, -1)), v.load(f, f.offset(even, v.scalar, 1))
        rows.append(
            [f.select(is_first, zero, before), v.load(f, even), v.load(f, odd), f.select(is_last, zero, behind)]
        )
    return rows


def _transformed(rows: Sequence[Sequence[Value]]) -> list[Value]:
    """B' d B, row by row."""
    columns = [_differences(*(row[j] for row in rows)) for j in range(4)]
    return [point for i in range(4) for point in _differences(*(column[i] for column in columns))]


def _differences(a: Value, b: Value, c: Value, d: Value) -> tuple[Value, Value, Value, Value]:
    return a - c, b + c, c - b, b - d
