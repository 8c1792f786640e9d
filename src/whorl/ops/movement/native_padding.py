"""Native forms of padding: a fill written around a tensor, and modes that read the tensor again."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.ir.dims import Dim, Linear
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, View
from whorl.ops.movement.lengths import bounds, nonnegative
from whorl.ops.native.index_maps import as_expr, as_length, clamp_index, map_indices, read_int64, slice_view

MOST_PADDING = 1 << 58
"""Elements that a number which only the run knows may add to an axis, or take away."""
Ends = Sequence[tuple[Dim | Expr, Dim | Expr]]
"""What is added before and after each axis; where it is negative, so much is cropped."""


def read_ends(k: NativeBuilder, pads: View, axes: Sequence[int], rank: int) -> list[tuple[Dim | Expr, Dim | Expr]]:
    """The ends that a row of numbers asks for: those before each of the axes listed, then those after them."""
    numbers = [_read_pad(k, pads, n) for n in range(2 * len(axes))]
    ends: list[tuple[Dim | Expr, Dim | Expr]] = [(0, 0)] * rank
    for n, axis in enumerate(axes):
        ends[axis % rank] = numbers[n], numbers[n + len(axes)]
    return ends


def _read_pad(k: NativeBuilder, pads: View, position: int) -> Dim | Expr:
    known = None if pads.known is None else pads.known.reshape(-1)[position]
    if isinstance(known, int | Linear):
        return known
    number = k.let(read_int64(k, pads, position))
    k.fail_unless(k.compare("ge", number, k.const(-MOST_PADDING)))
    k.fail_unless(k.compare("le", number, k.const(MOST_PADDING)))
    return number


def padded_shape(k: NativeBuilder, shape: Sequence[Dim], ends: Ends) -> list[Dim]:
    """The lengths of a padded tensor; the program fails where one would be negative."""
    result: list[Dim] = []
    for n, (before, after) in zip(shape, ends, strict=True):
        if isinstance(before, Expr) or isinstance(after, Expr):
            length = k.let(k.add(k.add(k.length(n), as_expr(k, before)), as_expr(k, after)))
            k.fail_unless(k.compare("ge", length, k.const(0)))
            result.append(as_length(k, length))
            continue
        result.append(n + before + after)
        require_nonnegative(k, result[-1])
    return result


def require_nonnegative(k: NativeBuilder, length: Dim) -> None:
    """End the program with a failure where a length would be negative."""
    if bounds(length)[0] < 0:
        k.fail_unless(k.compare("ge", k.length(length), k.const(0)))


def centre(k: NativeBuilder, length: Dim, target: Dim) -> tuple[Dim | Expr, Dim | Expr]:
    """What to add before and after an axis for another length; of an odd number, one more goes after it."""
    more = target - length
    if isinstance(more, int):
        before = more // 2 if more >= 0 else -(-more // 2)
        return before, more - before
    half = k.let(k.div(k.length(more), k.const(2)))
    return half, k.let(k.sub(k.length(more), half))


def pad_view(k: NativeBuilder, x: View, ends: Ends, fill: Expr, shape: Sequence[Dim] | None = None) -> View:
    """Native form of `pad_array`, of a known shape: the fill is written first, the elements of x over it."""
    shape = padded_shape(k, x.shape, ends) if shape is None else shape
    spans = [_span(k, n, *pair) for n, pair in zip(x.shape, ends, strict=True)]
    core = [count for _, count in spans]
    inside = slice_view(k, x, [low for low, _ in spans], [1] * len(core), core)
    if all(isinstance(n, int) and n <= 0 for pair in ends for n in pair):
        return inside
    buffer = k.temporary(x.dtype, shape)
    with k.nest(shape) as index:
        k.store(buffer, index, fill)
    with k.nest(core) as index:
        firsts = [k.apply("max", as_expr(k, before), k.const(0)) for before, _ in ends]
        k.store(buffer, tuple(k.add(i, first) for i, first in zip(index, firsts, strict=True)), inside.at(index))
    return k.view_of(buffer, shape)


def _span(k: NativeBuilder, length: Dim, before: Dim | Expr, after: Dim | Expr) -> tuple[Expr, Dim]:
    """Where what is left of an axis after cropping begins, and how many elements it has."""
    if isinstance(before, int) and isinstance(after, int):
        low = max(0, -before)
        return k.const(low), length if before >= 0 and after >= 0 else nonnegative(length - low - max(0, -after))
    low, high = (k.let(k.apply("max", k.sub(k.const(0), as_expr(k, n)), k.const(0))) for n in (before, after))
    return low, as_length(k, k.apply("max", k.sub(k.sub(k.length(length), low), high), k.const(0)))


def extend_view(k: NativeBuilder, x: View, ends: Ends, mode: str) -> Sequence[View] | None:
    """Native form of the modes that read x again; None where cropping surely leaves no element to read.

    The program fails where only the run can tell that.
    """
    shape = padded_shape(k, x.shape, ends)
    spans = [_span(k, n, *pair) for n, pair in zip(x.shape, ends, strict=True)]
    padded = [n for n, pair in enumerate(ends) if pair != (0, 0)]
    for axis in padded:
        count, length = spans[axis][1], shape[axis]
        if count == 0 and isinstance(length, int) and length:
            return None
        if not k.is_positive(count) and length != 0:
            is_empty = k.compare("eq", k.length(length), k.const(0))
            k.fail_unless(k.apply("or", is_empty, k.compare("gt", k.length(count), k.const(0))))

    def source(index: Index) -> list[Expr]:
        result = list(index)
        for axis in padded:
            (low, count), before = spans[axis], as_expr(k, ends[axis][0])
            inner = _source(k, k.sub(index[axis], k.add(before, low)), count, mode)
            result[axis] = k.add(inner, low)
        return result

    return [map_indices(k, k.materialise_reread(x), shape, source, 6)]


def _source(k: NativeBuilder, index: Expr, count: Dim, mode: str) -> Expr:
    """Which of `count` elements an index means that may lie before the first or behind the last."""
    zero, one = k.const(0), k.const(1)
    if mode == "edge" or count == 1:
        return clamp_index(k, index, 0, k.apply("max", k.sub(k.length(count), one), zero))
    full = k.length(count)
    period = full if mode == "wrap" else k.sub(k.add(full, full), k.const(2))
    period = k.apply("max", period, one)
    rest = k.apply("rem", index, period)
    turned = k.select(k.compare("lt", rest, zero), k.add(rest, period), rest)
    return turned if mode == "wrap" else k.apply("min", turned, k.sub(period, turned))
