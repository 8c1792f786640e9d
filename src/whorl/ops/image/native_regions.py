"""Native form of RoiAlign, on the views that a kernel builder `k` makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from msgspec import Struct

from whorl.ir.dims import Dim
from whorl.ir.dtypes import INT64
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, View, fixed
from whorl.ops.native.index_maps import broadcast_scalar, fit

MOST_POINTS = 1 << 20
"""The most points along an axis of a cell; a program ends where a region asks for more."""


class Cells(Struct, frozen=True):
    """What RoiAlign says of its regions: shift and scale of their corners, the cells and the points of each."""

    scale: float
    shift: float
    at_least_one: bool
    points: int
    largest: bool


class _Axis(Struct, frozen=True):
    """The cells along one axis of a region: where it starts, how long a cell is, points of a cell, length of X."""

    start: Expr
    size: Expr
    count: Expr
    length: Dim


def regions_aligned(
    k: NativeBuilder, x: View, rois: View, images: View, shape: Sequence[Dim], cells: Cells
) -> View | None:
    """[R, C, height, width] of x [N, C, H, W], the corners rois [R, 4] and the numbers of images [R].

    None where there is nothing to read, or the shapes do not agree.
    """
    if not fit(k, (*rois.shape, *images.shape), (shape[0], 4, shape[0])):
        return None
    if not shape[0]:
        return broadcast_scalar(k, k.const(0, x.dtype), shape)
    if not x.size or not all(shape):
        return None
    for n in x.shape[2:]:
        if not k.is_positive(n):
            k.fail_unless(k.compare("gt", k.length(n), k.const(0)))
    result = k.temporary(x.dtype, shape)
    with k.loop(shape[0]) as r:
        image = k.let(k.cast(images.at((r,)), INT64))
        k.fail_unless(_both(k, k.compare("ge", image, k.const(0)), k.compare("lt", image, k.const(x.shape[0]))))
        rows, columns = (_axis(k, rois, r, c, fixed(shape[3 - c]), x.shape[3 - c], cells) for c in (1, 0))
        with k.nest(shape[1:]) as (c, row, column):
            value = _cell(k, x, (image, c), (rows, row), (columns, column), cells.largest)
            k.store(result, (r, c, row, column), value)
    return k.view_of(result, shape)


def _both(k: NativeBuilder, a: Expr, b: Expr) -> Expr:
    return k.apply("and", a, b)


def _axis(k: NativeBuilder, rois: View, r: Expr, column: int, bins: int, length: Dim, cells: Cells) -> _Axis:
    """One axis of a region, whose corners are at `column` and `column` + 2."""
    dtype = rois.dtype
    corners = [rois.at((r, k.const(n))) for n in (column, column + 2)]
    start, end = (k.sub(k.mul(v, k.const(cells.scale, dtype)), k.const(cells.shift, dtype)) for v in corners)
    extent = k.sub(end, start)
    if cells.at_least_one:
        extent = k.apply("max", extent, k.const(1, dtype))
    size = k.let(k.div(extent, k.const(bins, dtype)))
    most, start = k.const(MOST_POINTS, dtype), k.let(start)
    k.fail_unless(_both(k, k.compare("lt", size, most), k.compare("gt", size, k.const(-MOST_POINTS, dtype))))
    k.fail_unless(k.compare("eq", start, start))
    if cells.points > 0:
        return _Axis(start, size, k.const(cells.points), length)
    count = k.apply("max", k.cast(k.apply("ceil", size), INT64), k.const(0))
    return _Axis(start, size, k.let(count), length)


def _cell(
    k: NativeBuilder, x: View, before: Index, row: tuple[_Axis, Expr], column: tuple[_Axis, Expr], largest: bool
) -> Expr:
    """The mean, or the largest weighted neighbour, of the points of a cell; 0 where it has none."""
    dtype, total = x.dtype, k.variable(x.dtype, "acc", once=False)
    k.assign(total, k.const(-np.inf if largest else 0, dtype))
    with _points(k, *row) as down, _points(k, *column) as along:
        for i, weight in down:
            for j, other in along:
                term = k.mul(x.at((*before, i, j)), k.mul(weight, other))
                k.assign(total, k.apply("max" if largest else "add", total, term))
    result = k.variable(dtype)
    k.assign(result, total)
    points = k.mul(row[0].count, column[0].count)
    value = result if largest else k.div(result, k.cast(points, dtype))
    return k.select(k.compare("gt", points, k.const(0)), value, k.const(0, dtype))


@contextmanager
def _points(k: NativeBuilder, axis: _Axis, cell: Expr) -> Iterator[list[tuple[Expr, Expr]]]:
    """A loop over the points of a cell along an axis: two elements of X and their weights for each."""
    dtype = axis.size.dtype

    def number(value: float) -> Expr:
        return k.const(value, dtype)

    with k.loop(axis.count) as n:
        many = k.cast(k.apply("max", axis.count, k.const(1)), dtype)
        offset = k.div(k.mul(k.add(k.cast(n, dtype), number(0.5)), axis.size), many)
        point = k.let(k.add(k.add(axis.start, k.mul(k.cast(cell, dtype), axis.size)), offset))
        end, last = (k.cast(k.length(n), dtype) for n in (axis.length, axis.length - 1))
        is_sampled = _both(k, k.compare("ge", point, number(-1)), k.compare("le", point, end))
        inside = k.apply("min", k.apply("max", point, number(0)), last)
        floor = k.apply("floor", inside)
        low = k.let(k.cast(floor, INT64))
        part = k.sub(inside, floor)
        high = k.apply("min", k.add(low, k.const(1)), k.length(axis.length - 1))
        weights = [k.let(k.select(is_sampled, w, number(0))) for w in (k.sub(number(1), part), part)]
        yield [(low, weights[0]), (k.let(high), weights[1])]
