"""Native forms of pooling, on the views that a kernel builder `k` makes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from whorl.ir import dims
from whorl.ir.dtypes import BOOL, FLOAT32, INT64, is_float
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, View
from whorl.kernels.machine import OVERREAD_BYTES
from whorl.kernels.windows import WindowAxis
from whorl.ops.native.index_maps import (
    broadcast_scalar,
    cast_view,
    clamp_index,
    embed_array,
    embed_numbers,
    reshape_view,
    widen_view,
)
from whorl.ops.reduce.native_reductions import reduce_view
from whorl.ops.windows.native_planes import have_code, pool_planes
from whorl.ops.windows.native_results import moved, when_windows
from whorl.ops.windows.run_time_layout import AnyAxis, Axis, numbers_of, split_of, table_of

WRITTEN_OUT = 16
"""Terms up to which a sum is written out."""


def window_totals(k: NativeBuilder, x: View, tracks: Sequence[Axis], largest: bool) -> View:
    """The sums, or the largest elements, of the windows over x [N, C, axes...], float32 or float64, kept in memory.

    A window of nothing gives 0 or minus infinity; NaN is larger than all.
    """
    shape = (*x.shape[:2], *(t.count for t in tracks))
    if not dims.product(shape):
        return broadcast_scalar(k, k.const(0, x.dtype), shape)
    if all(map(_is_whole, tracks)):
        return plane_totals(k, x, "max" if largest else "sum")
    if have_code(tracks):
        return pool_planes(k, x, tracks, largest)
    layout = split_of(tracks, x.dtype.itemsize, may_be_direct=False)
    result = k.temporary(x.dtype, shape)
    spread = k.temporary(x.dtype, (layout.channel_stride + OVERREAD_BYTES // x.dtype.itemsize,))
    source, zero, size = k.address(x), k.const(0), dims.product(x.shape[2:])
    arrays, bounded = [table_of(k, layout, 1)], ()
    if not largest:
        ones, no_bias = (
            k.address(embed_array(k, part)) for part in (np.ones(layout.taps, x.dtype), np.zeros(1, x.dtype))
        )
        arrays, bounded = [*arrays, ones, no_bias, no_bias], (0,)
    with when_windows(k, layout.counts), k.loop(x.shape[0]) as n, k.loop(x.shape[1]) as c:
        plane = k.add(k.mul(n, k.const(x.shape[1])), c)
        image = moved(k, source, k.mul(plane, k.const(size)))
        k.call("split_phases", [(spread, (zero,)), image], numbers_of(k, (int(largest), 1, *layout.split_numbers)))
        at = (n, c, *(zero for _ in tracks))
        numbers = numbers_of(k, (layout.taps, *bounded, layout.reach(1), *layout.grid))
        k.call("plane_maxima" if largest else "plane_sums", [(result, at), (spread, (zero,)), *arrays], numbers)
    return k.view_of(result, shape)


def _is_whole(track: Axis) -> bool:
    """Whether the only window along an axis has all of its elements."""
    return (track.count, track.begin, track.dilation, track.kernel) == (1, 0, 1, track.length)


def maxima(k: NativeBuilder, x: View, tracks: Sequence[Axis]) -> View:
    """The largest element of each window, of floats or of integers of 8 bits."""
    if is_float(x.dtype):
        return cast_view(k, window_totals(k, widen_view(k, x), tracks, True), x.dtype)
    totals = window_totals(k, cast_view(k, x, FLOAT32), tracks, True)
    least = k.const(np.iinfo(x.dtype).min, FLOAT32)
    return k.view(x.dtype, totals.shape, lambda i: k.cast(k.apply("max", totals.at(i), least), x.dtype), 2)


def locate_maxima(k: NativeBuilder, x: View, best: View, tracks: Sequence[WindowAxis], order: Sequence[int]) -> View:
    """The position in the flattened x of the first element of each window that is the largest; -1 where it has none.

    `order` are the distances between neighbours along the spatial axes, in positions of a plane.
    """
    x, size = k.materialise_reread(x), math.prod(x.shape[2:])

    def at(index: Index) -> Expr:
        plane = k.mul(k.add(k.mul(index[0], k.const(x.shape[1])), index[1]), k.const(size))
        most = best.at(index)

        def earlier(nearest: Expr, back: Index) -> Expr:
            """The position of a tap, counted from the last one, if it is the largest; else the result so far."""
            inside, position, elements = k.const(True, BOOL), plane, []
            for o, b, t, step in zip(index[2:], back, tracks, order, strict=True):
                tap = k.mul(k.sub(k.const(t.kernel - 1), b), k.const(t.dilation))
                e = k.add(k.sub(k.mul(o, k.const(t.stride)), k.const(t.begin)), tap)
                for how, bound in (("ge", 0), ("lt", t.length)):
                    inside = k.apply("and", inside, k.compare(how, e, k.const(bound)))
                elements.append(clamp_index(k, e, 0, t.length - 1))
                position = k.add(position, k.mul(e, k.const(step)))
            value = x.at((*index[:2], *elements))
            equal = k.compare("eq", value, most)
            if is_float(x.dtype):
                equal = k.apply("or", equal, k.apply("isnan", value, dtype=BOOL))
            return k.select(k.apply("and", inside, equal), position, nearest)

        return k.reduce([t.kernel for t in tracks], k.const(-1), earlier)

    if not x.size:
        return broadcast_scalar(k, k.const(-1), best.shape)
    return k.materialise(k.view(INT64, best.shape, at, 100))


def means(k: NativeBuilder, x: View, tracks: Sequence[Axis], counts: Sequence[np.ndarray | AnyAxis]) -> View:
    """The sum of each window over the product of its counts along the axes; those of an axis of any length follow."""
    sums = window_totals(k, x, tracks, False)
    fixed = [int(c[0]) if isinstance(c, np.ndarray) and c.size and (c == c[0]).all() else None for c in counts]
    if None not in fixed:
        count = k.const(math.prod(n for n in fixed if n is not None), x.dtype)
        return k.view(x.dtype, sums.shape, lambda i: k.div(sums.at(i), count), 4)
    tables = [c if isinstance(c, AnyAxis) else embed_numbers(k, c.tolist(), x.dtype, c.shape) for c in counts]

    def at(index: Index) -> Expr:
        count = k.const(1, x.dtype)
        for coordinate, column in zip(index[2:], tables, strict=True):
            own = elements_in(k, column, coordinate) if isinstance(column, AnyAxis) else column.at((coordinate,))
            count = k.mul(count, k.cast(own, x.dtype))
        return k.div(sums.at(index), count)

    return k.view(x.dtype, sums.shape, at, 8 + sum(8 if isinstance(t, AnyAxis) else t.cost for t in tables))


def elements_in(k: NativeBuilder, track: AnyAxis, window: Expr) -> Expr:
    """How many of its elements a window has on the axis."""
    start = k.sub(k.mul(window, k.const(track.stride)), k.length(track.begin))
    zero, last, step = k.const(0), k.const(track.dilation - 1), k.const(track.dilation)
    before = k.div(k.add(k.apply("max", k.sub(zero, start), zero), last), step)
    after = k.div(k.add(k.apply("max", k.sub(k.length(track.length), start), zero), last), step)
    return k.apply("max", k.sub(k.apply("min", after, k.const(track.kernel)), before), zero)


def plane_totals(k: NativeBuilder, x: View, how: str, finish: Callable[[Expr], Expr] | None = None) -> View:
    """The "sum" or "max" of each plane of x [N, C, axes...], with axes of length 1."""
    flat = reshape_view(k, x, (*x.shape[:2], dims.product(x.shape[2:])))
    totals = reduce_view(k, flat, (2,), how, finish=finish)
    return reshape_view(k, totals, (*x.shape[:2], *(1,) * (len(x.shape) - 2)))


def powered(k: NativeBuilder, x: View, p: int) -> View:
    """|x| ** p."""

    def function(v: Expr) -> Expr:
        return power(k, k.apply("abs", v), float(p), True)

    return k.view(x.dtype, x.shape, lambda index: function(x.at(index)), x.cost + 6)


def root(k: NativeBuilder, sums: View, p: int) -> View:
    """The p-th root of each element."""
    return k.view(sums.dtype, sums.shape, lambda index: power(k, sums.at(index), 1 / p, True), sums.cost + 6)


def power(k: NativeBuilder, base: Expr, exponent: float, is_positive: bool) -> Expr:
    """base ** exponent; few roots and products where they say the same of a base that is not negative."""
    if exponent in (1.0, 2.0):
        return base if exponent == 1 else k.mul(base, base)
    if is_positive and exponent in (0.5, 0.75):
        root = k.apply("sqrt", base)
        return root if exponent == 0.5 else k.mul(root, k.apply("sqrt", root))
    return k.apply("pow", base, k.const(exponent, base.dtype))


def written_out(k: NativeBuilder, count: int, first: Expr, step: Callable[[Expr, Index], Expr]) -> Expr:
    """`for i in range(count): total = step(total, (i,))`, without a loop where there are few."""
    if count > WRITTEN_OUT:
        return k.reduce((count,), first, step)
    total = first
    for number in range(count):
        total = step(total, (k.const(number),))
    return total
