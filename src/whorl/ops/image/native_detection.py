"""Native form of NonMaxSuppression: boxes by falling score out of a heap, each beside those kept before it."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Buffer, Expr, Var
from whorl.ir.native.view import Index, View
from whorl.ops.movement.lengths import minimum
from whorl.ops.native.heaps import Heap, entry_of, key_of, position_of

_NOTHING = np.iinfo(np.int32).min
"""The key of a score that is no number, below all others."""


class Suppression(Struct, frozen=True):
    """What NonMaxSuppression is asked for: at most `limit` boxes of a class, none that overlaps another by more than
    `allowed`, and only scores above `least`, if it says one."""

    limit: Dim
    allowed: Expr
    least: Expr | None
    is_centred: bool


def suppress_overlaps(k: NativeBuilder, boxes: View, scores: View, how: Suppression) -> View:
    """Rows (image, class, box) of int64: `for image, class: for box by falling score: keep it unless it overlaps`."""
    images, classes, count = scores.shape
    most = minimum(how.limit, count)
    rows = k.temporary(INT64, (dims.product((images, classes, most)), 3))
    corners = _corners(k, boxes, how.is_centred)
    heap, best = Heap.of_shape(k, (count,), False, gives_best=True), k.temporary(FLOAT32, (5, most))
    total = k.variable(INT64, "total", once=False)
    k.assign(total, k.const(0))
    with k.nest((images, classes), parallel=False) as (image, kind):
        left = _fill(k, heap, scores, (image, kind), how.least)
        chosen = k.variable(INT64, "chosen", once=False)
        k.assign(chosen, k.const(0))

        def goes_on(left: Var = left, chosen: Var = chosen) -> Expr:
            is_below = k.compare("lt", chosen, k.length(how.limit))
            return k.apply("and", k.compare("gt", left, k.const(0)), is_below)

        with k.repeat_while(goes_on):
            box = k.let(position_of(k, heap.load(k.const(0))))
            _remove_root(k, heap, left)
            own = [k.let(k.load(corners, (image, k.const(n), box))) for n in range(5)]
            with k.when(k.apply("not", k.compare("gt", _largest_overlap(k, own, best, chosen), how.allowed))):
                for n, part in enumerate(own):
                    k.store(best, (k.const(n), chosen), part)
                for n, part in enumerate((image, kind, box)):
                    k.store(rows, (total, k.const(n)), part)
                for number in (chosen, total):
                    k.assign(number, k.add(number, k.const(1)))
    return k.view_of(rows, (k.new_length(k.let(k.add(total, k.const(0)))), 3))


def _corners(k: NativeBuilder, boxes: View, is_centred: bool) -> Buffer:
    """[images, 5, boxes]: the least coordinates of both axes, the largest ones, and the area."""
    images, count = boxes.shape[:2]
    corners = k.temporary(FLOAT32, (images, 5, count))
    with k.nest((images, count)) as (image, box):
        first, second = ([k.let(boxes.at((image, box, k.const(n)))) for n in pair] for pair in ((0, 1), (2, 3)))
        if is_centred:
            half = [k.div(x, k.const(2.0, FLOAT32)) for x in second]
            ends = [(k.sub(x, h), k.add(x, h)) for x, h in zip(first, half, strict=True)]
        else:
            ends = [(k.apply("min", a, b), k.apply("max", a, b)) for a, b in zip(first, second, strict=True)]
        parts = [k.let(end) for pair in zip(*ends, strict=True) for end in pair]
        area = k.mul(k.sub(parts[2], parts[0]), k.sub(parts[3], parts[1]))
        for n, part in enumerate((*parts, area)):
            k.store(corners, (image, k.const(n), box), part)
    return corners


def _fill(k: NativeBuilder, heap: Heap, scores: View, prefix: Index, least: Expr | None) -> Var:
    """Put the boxes of a class whose scores are high enough into the heap; how many they are."""
    left = k.variable(INT64, "left", once=False)
    k.assign(left, k.const(0))
    with k.loop(scores.shape[2]) as box:
        score = k.let(scores.at((*prefix, box)))
        with k.when(k.const(True, BOOL) if least is None else k.compare("gt", score, least)):
            is_nan = k.apply("isnan", score, dtype=BOOL)
            key = k.select(is_nan, k.const(_NOTHING), key_of(k, score))
            heap.store(left, entry_of(k, key, box, False))
            k.assign(left, k.add(left, k.const(1)))
    heap.build(left)
    return left


def _remove_root(k: NativeBuilder, heap: Heap, left: Var) -> None:
    """The heap without its root."""
    k.assign(left, k.sub(left, k.const(1)))
    with k.when(k.compare("gt", left, k.const(0))):
        heap.sift(k.const(0), heap.load(left), left)


def _largest_overlap(k: NativeBuilder, own: list[Expr], best: Buffer, count: Expr) -> Expr:
    """The largest intersection over union of a box with so many that are kept; 0 where an area is not positive."""
    zero = k.const(0.0, FLOAT32)

    def step(largest: Expr, index: Index) -> Expr:
        other = [k.load(best, (k.const(n), *index)) for n in range(5)]
        sides = [k.sub(k.apply("min", own[n + 2], other[n + 2]), k.apply("max", own[n], other[n])) for n in (0, 1)]
        common = k.mul(*(k.apply("max", side, zero) for side in sides))
        union = k.sub(k.add(own[4], other[4]), common)
        is_proper = k.const(True, BOOL)
        for part in (common, own[4], other[4], union):
            is_proper = k.apply("and", is_proper, k.compare("gt", part, zero))
        return k.apply("maximum", largest, k.select(is_proper, k.div(common, union), zero))

    return k.reduce((k.new_length(count),), zero, step)
