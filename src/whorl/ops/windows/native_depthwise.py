"""Depthwise convolutions of an image whose channels lie side by side, as a Transpose leaves it: channels are lanes.

for n, windows: for c: y = sum over taps of w[tap, c] * x[window * stride - begin + tap * dilation, c] + bias[c], in
ascending order of taps, each step fused where the machine can; x is 0 outside. The result lies as the image does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

from whorl.ir.dtypes import INT64
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import TRUE, Apply, Expr
from whorl.ir.native.view import Index, View, fixed
from whorl.ops.native.index_maps import reshape_view, transpose_view
from whorl.ops.windows.run_time_layout import Axis

MOST_TAPS = 16
"""Taps up to which a window is one expression."""


def has_channels_as_lanes(k: NativeBuilder, x: View, tracks: Sequence[Axis]) -> bool:
    """Whether neighbours along the channels of X [N, C, axes...] are neighbours in memory, and windows are small."""
    if math.prod(axis.kernel for axis in tracks) > MOST_TAPS or not all(k.is_positive(axis.length) for axis in tracks):
        return False
    index = tuple(k.variable(INT64, "probe") for _ in x.shape)
    with k.into([]):
        last = k.last_index(x.at(index))
    match last:
        case Apply(op="add", args=(_, end)):
            return end is index[1]
        case _:
            return last is index[1]


def depthwise_convolution(k: NativeBuilder, x: View, filters: View, bias: View | None, tracks: Sequence[Axis]) -> View:
    """Windows over X times filters [C, taps], a filter a channel."""
    channels, kernel = fixed(x.shape[1]), [axis.kernel for axis in tracks]
    x = k.materialise_reread(x)
    weights = k.copy(transpose_view(k, reshape_view(k, filters, (channels, *kernel)), _channels_last(len(tracks))))
    result = k.temporary(x.dtype, (x.shape[0], *(axis.count for axis in tracks), channels))
    with k.nest((x.shape[0], *(axis.count for axis in tracks), channels)) as (n, *windows, c):
        total = k.const(0, x.dtype)
        for tap in product(*map(range, kernel)):
            weight = weights.at((*map(k.const, tap), c))
            total = k.apply("sum", total, k.mul(weight, _element(k, x, (n, c), windows, tap, tracks)))
        k.store(result, (n, *windows, c), total if bias is None else k.add(total, bias.at((c,))))
    return transpose_view(k, k.view_of(result), _channels_first(len(tracks)))


def _channels_last(rank: int) -> tuple[int, ...]:
    return (*range(1, rank + 1), 0)


def _channels_first(rank: int) -> tuple[int, ...]:
    return (0, rank + 1, *range(1, rank + 1))


def _element(
    k: NativeBuilder, x: View, channel: Index, windows: Sequence[Expr], tap: Sequence[int], tracks: Sequence[Axis]
) -> Expr:
    """The element of X that a tap of a window meets; 0 outside, where one inside is read instead."""
    is_inside, at = TRUE, list[Expr]()
    for window, i, axis in zip(windows, tap, tracks, strict=True):
        shift = i * axis.dilation - axis.begin
        position, end = k.add(k.mul(window, k.const(axis.stride)), k.const(shift)), k.const(axis.length)
        last = (axis.count - 1) * axis.stride + shift - axis.length
        if not (isinstance(shift, int) and shift >= 0):
            is_inside = k.apply("and", is_inside, k.compare("ge", position, k.const(0)))
            position = k.apply("max", position, k.const(0))
        if not (isinstance(last, int) and last < 0):
            is_inside = k.apply("and", is_inside, k.compare("lt", position, end))
            position = k.apply("min", position, k.sub(end, k.const(1)))
        at.append(position)
    return k.select(is_inside, x.at((*channel, *at)), k.const(0, x.dtype))
