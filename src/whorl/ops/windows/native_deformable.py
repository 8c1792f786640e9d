"""Native form of windows that read at moved positions, on the views that a kernel builder `k` makes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from whorl.ir.dtypes import INT64
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, View
from whorl.kernels.windows import WindowAxis
from whorl.ops.image.native_sampling import within_reach

DEEPEST = 3
"""Spatial axes up to which the neighbours of a position are written out."""
Neighbour = tuple[Expr, Expr, Expr]
"""An element along an axis: where it is, whether it lies on the axis, and its weight."""


def deformed_columns(
    k: NativeBuilder, x: View, offset: View, mask: View | None, tracks: Sequence[WindowAxis], groups: int
) -> View:
    """[N, C, taps..., windows...], kept in memory: what every tap of every window reads of x [N, C, axes...].

    The position is moved by offset [N, groups * taps * axes, windows...] and the number found there, interpolated
    linearly and 0 outside, is multiplied by mask [N, groups * taps, windows...] if there is one.
    """
    kernel, counts = [t.kernel for t in tracks], [t.count for t in tracks]
    each, taps, rank = x.shape[1] // groups, math.prod(kernel), len(tracks)

    def at(index: Index) -> Expr:
        n, c, *rest = index
        tap, window = rest[:rank], tuple(rest[rank:])
        number = k.const(0)
        for coordinate, length in zip(tap, kernel, strict=True):
            number = k.add(k.mul(number, k.const(length)), coordinate)
        number = k.add(k.mul(k.div(c, k.const(each)), k.const(taps)), number)
        axes = []
        for axis, (track, t, o) in enumerate(zip(tracks, tap, window, strict=True)):
            moved = offset.at((n, k.add(k.mul(number, k.const(rank)), k.const(axis)), *window))
            start = k.sub(k.mul(o, k.const(track.stride)), k.const(track.begin))
            home = k.cast(k.add(start, k.mul(t, k.const(track.dilation))), x.dtype)
            axes.append(_neighbours(k, within_reach(k, k.add(home, moved)), track.length))
        value = _interpolated(k, x, (n, c), axes)
        return value if mask is None else k.mul(value, mask.at((n, number, *window)))

    return k.materialise(k.view(x.dtype, (*x.shape[:2], *kernel, *counts), at, 100))


def _neighbours(k: NativeBuilder, position: Expr, length: int) -> list[Neighbour]:
    """The two elements around a position on an axis: where, whether there is one, and its weight."""
    dtype, neighbours = position.dtype, []
    for step in range(2):
        element = k.add(k.apply("floor", position), k.const(step, dtype))
        weight = k.sub(k.const(1, dtype), k.apply("abs", k.sub(element, position)))
        inside = k.apply(
            "and",
            k.compare("ge", element, k.const(0, dtype)),
            k.compare("lt", element, k.const(length, dtype)),
        )
        where = k.cast(k.select(inside, element, k.const(0, dtype)), INT64)
        neighbours.append((where, inside, k.apply("max", weight, k.const(0, dtype))))
    return neighbours


def _interpolated(k: NativeBuilder, x: View, before: Index, axes: Sequence[Sequence[Neighbour]]) -> Expr:
    """The weighted sum of the elements that the neighbours on all axes cross at."""
    total, zero = None, k.const(0, x.dtype)
    for crossing in itertools.product(*axes):
        inside, weight = crossing[0][1], crossing[0][2]
        for _, is_there, share in crossing[1:]:
            inside, weight = k.apply("and", inside, is_there), k.mul(weight, share)
        value = x.at((*before, *(where for where, _, _ in crossing)))
        term = k.mul(k.select(inside, value, zero), weight)
        total = term if total is None else k.add(total, term)
    assert total is not None  # each axis has two neighbours
    return total
