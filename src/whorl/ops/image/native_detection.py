"""Native form of NonMaxSuppression: boxes by falling score out of a queue, each beside those kept before it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Buffer, Expr
from whorl.ir.native.view import Index, View
from whorl.ops.movement.lengths import minimum
from whorl.ops.native.heaps import entry_of, key_of, position_of

_BLOCK = 64
"""Entries of which one is the best."""
_NOTHING = np.iinfo(np.int32).min
"""The key of a score that is no number, below all others."""
_NONE = np.iinfo(np.int64).min
"""Below every entry."""


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
    boxes, queue = k.materialise(boxes), _Queue.of(k, k.materialise(scores), how.least)
    best = k.temporary(FLOAT32, (5, most))
    total, chosen, entry = (k.variable(INT64, name, once=False) for name in ("total", "chosen", "entry"))
    k.assign(total, k.const(0))
    with k.nest((images, classes), parallel=False) as (image, kind):
        k.assign(entry, queue.fill((image, kind)))
        k.assign(chosen, k.const(0))

        def goes_on() -> Expr:
            is_below = k.compare("lt", chosen, k.length(how.limit))
            return k.apply("and", k.compare("gt", entry, k.const(_NONE)), is_below)

        with k.repeat_while(goes_on):
            box = k.let(position_of(k, (entry,)))
            own = _corners(k, [k.let(boxes.at((image, box, k.const(n)))) for n in range(4)], how.is_centred)
            with k.when(k.apply("not", k.compare("gt", _largest_overlap(k, own, best, chosen), how.allowed))):
                for n, part in enumerate(own):
                    k.store(best, (k.const(n), chosen), part)
                for n, part in enumerate((image, kind, box)):
                    k.store(rows, (total, k.const(n)), part)
                for number in (chosen, total):
                    k.assign(number, k.add(number, k.const(1)))
            k.assign(entry, queue.next(entry, box))
    return k.view_of(rows, (k.new_length(k.let(k.add(total, k.const(0)))), 3))


def _corners(k: NativeBuilder, box: Sequence[Expr], is_centred: bool) -> list[Expr]:
    """The least coordinates of both axes, the largest ones, and the area."""
    first, second = box[:2], box[2:]
    if is_centred:
        half = [k.div(x, k.const(2.0, FLOAT32)) for x in second]
        ends = [(k.sub(x, h), k.add(x, h)) for x, h in zip(first, half, strict=True)]
    else:
        ends = [(k.apply("min", a, b), k.apply("max", a, b)) for a, b in zip(first, second, strict=True)]
    parts = [k.let(end) for pair in zip(*ends, strict=True) for end in pair]
    return [*parts, k.let(k.mul(k.sub(parts[2], parts[0]), k.sub(parts[3], parts[1])))]


class _Queue(Struct, frozen=True):
    """The boxes of a class by falling score: `bests` has the best entry of each block of `entries` that is to come.

    Entries come in falling order, so what is to come of a block is what is below the entry that came last. Behind the
    entries of all boxes, and behind the bests of all blocks, there are some of none, so that all blocks are whole.
    """

    k: NativeBuilder
    scores: View
    least: Expr | None
    entries: Buffer
    bests: Buffer

    @classmethod
    def of(cls, k: NativeBuilder, scores: View, least: Expr | None) -> _Queue:
        """Memory for the boxes of any class."""
        count = scores.shape[2]
        blocks = _ceiling(count)
        entries, bests = (k.temporary(INT64, (_BLOCK * n,)) for n in (blocks, _ceiling(blocks)))
        for buffer, start, end in ((entries, count, blocks), (bests, blocks, _ceiling(blocks))):
            with k.loop(k.sub(k.mul(k.length(end), k.const(_BLOCK)), k.length(start))) as n:
                k.store(buffer, (k.add(k.length(start), n),), k.const(_NONE))
        return cls(k, scores, least, entries, bests)

    def fill(self, prefix: Index) -> Expr:
        """Begin with a class; returns its best entry, `_NONE` where no score is high enough."""
        k, count = self.k, self.scores.shape[2]
        with k.loop(count) as box:
            k.store(self.entries, (box,), self._entry(self.scores.at((*prefix, box)), box))
        with k.loop(_ceiling(count)) as number:
            k.store(self.bests, (number,), self._best_of(number, k.const(np.iinfo(np.int64).max)))
        return self._best()

    def next(self, entry: Expr, box: Expr) -> Expr:
        """The best entry below one, which is that of a box."""
        number = self.k.let(self.k.div(box, self.k.const(_BLOCK)))
        self.k.store(self.bests, (number,), self._best_of(number, entry))
        return self._best()

    def _entry(self, score: Expr, box: Expr) -> Expr:
        k = self.k
        key = k.select(k.apply("isnan", score, dtype=BOOL), k.const(_NOTHING), key_of(k, score))
        (entry,) = entry_of(k, key, box, False)
        return entry if self.least is None else k.select(k.compare("gt", score, self.least), entry, k.const(_NONE))

    def _best(self) -> Expr:
        k, blocks = self.k, _ceiling(_ceiling(self.scores.shape[2]))

        def step(best: Expr, index: Index) -> Expr:
            return k.apply("max", best, k.load(self.bests, (_flat(k, *index),)))

        return k.reduce((blocks, _BLOCK), k.const(_NONE), step)

    def _best_of(self, number: Expr, below: Expr) -> Expr:
        """The best entry of a block that is below one that came before."""
        k = self.k

        def step(best: Expr, index: Index) -> Expr:
            entry = k.load(self.entries, (_flat(k, number, *index),))
            return k.apply("max", best, k.select(k.compare("lt", entry, below), entry, k.const(_NONE)))

        return k.reduce((_BLOCK,), k.const(_NONE), step)


def _ceiling(count: Dim) -> Dim:
    return dims.call("floor", count + (_BLOCK - 1), _BLOCK)


def _flat(k: NativeBuilder, block: Expr, inside: Expr) -> Expr:
    return k.add(k.mul(block, k.const(_BLOCK)), inside)


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
