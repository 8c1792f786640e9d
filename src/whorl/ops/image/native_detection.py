"""Native form of NonMaxSuppression: boxes by falling score out of a queue, each beside those kept before it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Buffer, Expr, Var
from whorl.ir.native.view import Index, View
from whorl.ops.movement.lengths import minimum
from whorl.ops.native.heaps import entry_of, key_of, position_of

_BLOCK = 32
"""Entries of which one is the best."""
_TILE = 16
"""Boxes that one is compared with side by side."""
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
    best = k.temporary(FLOAT32, (5, dims.call("floor", most + (_TILE - 1), _TILE) * _TILE))
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
            with k.when(k.apply("not", _overlaps(k, own, best, chosen, how.allowed))):
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
    """The boxes of a class whose scores are high enough, by falling score.

    `entries` has those boxes in blocks, `numbers` which of them each box is, and `bests` the best entry of each block
    that is to come. Entries come in falling order, so what is to come of a block is what is below the entry that came
    last. Behind the last entry there are some of none, so that all blocks are whole.
    """

    k: NativeBuilder
    scores: View
    least: Expr | None
    entries: Buffer
    numbers: Buffer
    bests: Buffer
    count: Var

    @classmethod
    def of(cls, k: NativeBuilder, scores: View, least: Expr | None) -> _Queue:
        """Memory for the boxes of any class."""
        count = scores.shape[2]
        blocks = dims.call("floor", count + (_BLOCK - 1), _BLOCK)
        entries, numbers, bests = (k.temporary(INT64, (n,)) for n in (_BLOCK * (blocks + 1), count, blocks))
        return cls(k, scores, least, entries, numbers, bests, k.variable(INT64, "entries", once=False))

    def fill(self, prefix: Index) -> Expr:
        """Begin with a class; returns its best entry, `_NONE` where no score is high enough."""
        k = self.k
        k.assign(self.count, k.const(0))
        whole = dims.call("floor", self.scores.shape[2], _TILE)
        with k.loop(whole) as tile:
            first = k.let(k.mul(tile, k.const(_TILE)))
            with k.when(self._has_high(prefix, first)), k.loop(_TILE) as n:
                self._append_high(prefix, k.let(k.add(first, n)))
        with k.loop(self.scores.shape[2] - _TILE * whole) as n:
            self._append_high(prefix, k.let(k.add(k.length(_TILE * whole), n)))
        with k.loop(_BLOCK) as n:
            k.store(self.entries, (k.add(self.count, n),), k.const(_NONE))
        every = k.const(np.iinfo(np.int64).max)
        best = k.variable(INT64, "best", once=False)
        k.assign(best, self._best_of(k.const(0), every))
        with k.when(self._has_several()):
            with k.loop(self._blocks()) as number:
                k.store(self.bests, (number,), self._best_of(number, every))
            k.assign(best, self._best())
        return best

    def _has_high(self, prefix: Index, first: Expr) -> Expr:
        """Whether a score of the tile that begins there is high enough."""
        k, least = self.k, self.least
        if least is None:
            return k.const(True, BOOL)

        def step(is_high: Expr, index: Index) -> Expr:
            score = self.scores.at((*prefix, k.add(first, *index)))
            return k.apply("or", is_high, k.compare("gt", score, least))

        return k.reduce((_TILE,), k.const(False, BOOL), step)

    def _append_high(self, prefix: Index, box: Expr) -> None:
        k = self.k
        score = k.let(self.scores.at((*prefix, box)))
        if self.least is None:
            self._append(score, box)
            return
        with k.when(k.compare("gt", score, self.least)):
            self._append(score, box)

    def _append(self, score: Expr, box: Expr) -> None:
        k = self.k
        key = key_of(k, score)
        if self.least is None:
            key = k.select(k.apply("isnan", score, dtype=BOOL), k.const(_NOTHING), key)
        k.store(self.entries, (self.count,), entry_of(k, key, box, False)[0])
        k.store(self.numbers, (box,), self.count)
        k.assign(self.count, k.add(self.count, k.const(1)))

    def next(self, entry: Expr, box: Expr) -> Expr:
        """The best entry below one, which is that of a box."""
        k = self.k
        number = k.let(k.div(k.load(self.numbers, (box,)), k.const(_BLOCK)))
        best = k.variable(INT64, "best", once=False)
        k.assign(best, self._best_of(number, entry))
        with k.when(self._has_several()):
            k.store(self.bests, (number,), best)
            k.assign(best, self._best())
        return best

    def _has_several(self) -> Expr:
        """Whether there are entries for more than one block."""
        return self.k.compare("gt", self.count, self.k.const(_BLOCK))

    def _blocks(self) -> Expr:
        k = self.k
        return k.let(k.div(k.add(self.count, k.const(_BLOCK - 1)), k.const(_BLOCK)))

    def _best(self) -> Expr:
        k = self.k

        def step(best: Expr, index: Index) -> Expr:
            return k.apply("max", best, k.load(self.bests, index))

        return k.reduce((k.new_length(self._blocks()),), k.const(_NONE), step)

    def _best_of(self, number: Expr, below: Expr) -> Expr:
        """The best entry of a block that is below one that came before."""
        k = self.k

        def step(best: Expr, index: Index) -> Expr:
            entry = k.load(self.entries, (k.add(k.mul(number, k.const(_BLOCK)), *index),))
            return k.apply("max", best, k.select(k.compare("lt", entry, below), entry, k.const(_NONE)))

        return k.reduce((_BLOCK,), k.const(_NONE), step)


def _overlaps(k: NativeBuilder, own: list[Expr], best: Buffer, count: Expr, allowed: Expr) -> Expr:
    """Whether the intersection over union of a box with one of so many that are kept is more than allowed.

    It is 0 where an area is not positive.
    """
    zero = k.const(0.0, FLOAT32)

    def step(overlaps: Expr, index: Index) -> Expr:
        number = k.add(k.mul(index[0], k.const(_TILE)), index[1])
        other = [k.load(best, (k.const(n), number)) for n in range(5)]
        sides = [k.sub(k.apply("min", own[n + 2], other[n + 2]), k.apply("max", own[n], other[n])) for n in (0, 1)]
        common = k.mul(*(k.apply("max", side, zero) for side in sides))
        union = k.sub(k.add(own[4], other[4]), common)
        is_large = k.compare("gt", k.div(common, union), allowed)
        for part in (common, own[4], other[4], union):
            is_large = k.apply("and", is_large, k.compare("gt", part, zero))
        return k.apply("or", overlaps, k.apply("and", k.compare("lt", number, count), is_large))

    blocks = k.let(k.div(k.add(count, k.const(_TILE - 1)), k.const(_TILE)))
    return k.reduce((k.new_length(blocks), _TILE), k.const(False, BOOL), step)
