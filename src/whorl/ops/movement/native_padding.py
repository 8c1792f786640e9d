"""Native forms of padding: a fill written around a tensor, and modes that read the tensor again."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, View
from whorl.ops.native.index_maps import clamp_index, map_indices, slice_view


def pad_view(k: NativeBuilder, x: View, ends: Sequence[tuple[int, int]], fill: Expr) -> View:
    """Native form of `pad_array`: the fill is written first, the elements of x over it."""
    lows = [max(0, -before) for before, _ in ends]
    core = [max(0, n - low - max(0, -after)) for n, low, (_, after) in zip(x.fixed_shape, lows, ends, strict=True)]
    inside = slice_view(k, x, [k.const(low) for low in lows], [1] * len(core), core)
    if all(before <= 0 and after <= 0 for before, after in ends):
        return inside
    shape = [n + before + after for n, (before, after) in zip(x.shape, ends, strict=True)]
    buffer = k.temporary(x.dtype, shape)
    with k.nest(shape) as index:
        k.store(buffer, index, fill)
    with k.nest(core) as index:
        firsts = [k.const(max(0, before)) for before, _ in ends]
        k.store(buffer, tuple(k.add(i, first) for i, first in zip(index, firsts, strict=True)), inside.at(index))
    return k.view_of(buffer)


def extend_view(
    k: NativeBuilder, x: View, ends: Sequence[tuple[int, int]], mode: str, shape: tuple[int, ...]
) -> Sequence[View] | None:
    """Native form of the modes that read x again; None where cropping leaves no element to read."""
    spans = [(max(0, -b), n - max(0, -b) - max(0, -a)) for n, (b, a) in zip(x.fixed_shape, ends, strict=True)]
    if any(count <= 0 and length for (_, count), length in zip(spans, shape, strict=True)):
        return None

    def source(index: Index) -> list[Expr]:
        result: list[Expr] = []
        for i, (before, after), (low, count) in zip(index, ends, spans, strict=True):
            inner = _source(k, k.sub(i, k.const(before + low)), count, before, mode)
            result.append(i if not before and not after else k.add(inner, k.const(low)))
        return result

    return [map_indices(k, k.materialise_reread(x), shape, source, 6)]


def _source(k: NativeBuilder, index: Expr, count: int, before: int, mode: str) -> Expr:
    """Which of `count` elements an index means that may lie before the first or behind the last."""
    if mode == "edge" or count <= 1:
        return clamp_index(k, index, 0, max(count - 1, 0))
    period = count if mode == "wrap" else 2 * count - 2
    ahead = k.const(max(0, -(-before // period)) * period)
    turned = k.apply("rem", k.add(index, ahead), k.const(period))
    return turned if mode == "wrap" else k.apply("min", turned, k.sub(k.const(period), turned))
