"""Native forms of TopK, on the views that a kernel builder `k` makes: the best elements of each line, in order.

Of equals the one with the lower index comes first; NaN is above all numbers. Lines whose elements are far apart are
gone through side by side, without branches.
"""

from __future__ import annotations

from collections.abc import Callable

from whorl.ir.dtypes import BOOL, INT32, INT64, is_float
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Buffer, Expr
from whorl.ir.native.view import Index, View
from whorl.ops.native.index_maps import cast_view, insert_at, transpose_view

MOST_SORTED = 64
"""Elements up to which the best are sorted while a line is read; for more, sorting the line is faster."""
MOST_SIDE_BY_SIDE = 16
"""Elements up to which the best of many lines are sorted at a time."""
LINES = 16
"""Lines that are worth reading at a time."""
Best = tuple[Buffer, Buffer]
"""The best elements of each line so far, in order, and their positions in the line."""


def select_best(k: NativeBuilder, x: View, axis: int, count: int, largest: bool) -> tuple[View, View]:
    """The `count` best elements along an axis, at least one and at most `MOST_SORTED`, and their indices."""
    x = k.materialise_reread(x)
    lane = _lane(k, x, axis)
    shape = x.fixed_shape
    if lane is not None and count <= MOST_SIDE_BY_SIDE and shape[lane] >= LINES and shape[axis] < 1 << 31:
        return _side_by_side(k, x, axis, lane, count, largest)
    return _line_by_line(k, x, axis, count, largest)


def _lane(k: NativeBuilder, x: View, axis: int) -> int | None:
    """The axis whose elements are neighbours in memory, if it is another one than `axis`."""
    index = tuple(k.variable(INT64, "probe") for _ in x.shape)
    with k.into([]):
        last = k.last_index(x.at(index))
    return next((n for n, i in enumerate(index) if i is last and n != axis), None)


def precedes(k: NativeBuilder, value: Expr, other: Expr, largest: bool) -> Expr:
    """Whether a value comes before another one that stood before it in the line."""
    if not is_float(value.dtype):
        return k.compare("gt" if largest else "lt", value, other)
    beats = k.apply("not", k.compare("le" if largest else "ge", value, other))
    return k.apply("and", beats, k.apply("not", k.apply("isnan", other if largest else value, dtype=BOOL)))


# ---- one line after the other --------------------------------------------------------------------------------


def _line_by_line(k: NativeBuilder, x: View, axis: int, count: int, largest: bool) -> tuple[View, View]:
    """`for x in line: if x precedes the worst: insert x`."""
    shape = (*x.shape[:axis], *x.shape[axis + 1 :])
    values, winners = k.temporary(x.dtype, (*shape, count)), k.temporary(INT64, (*shape, count))
    with k.nest(shape) as line:
        for n in range(count):
            _insert(k, x.at(insert_at(line, axis, k.const(n))), k.const(n), (values, winners), line, n, largest)
        worst = k.variable(x.dtype, "worst", once=False)
        k.assign(worst, k.load(values, (*line, k.const(count - 1))))
        with k.loop(x.fixed_shape[axis] - count) as before:
            position = k.add(before, k.const(count))
            value = k.let(x.at(insert_at(line, axis, position)))
            with k.when(precedes(k, value, worst, largest)):
                _insert(k, value, position, (values, winners), line, count - 1, largest)
                k.assign(worst, k.load(values, (*line, k.const(count - 1))))
    back = [*range(axis), len(shape), *range(axis, len(shape))]
    return transpose_view(k, k.view_of(values), back), transpose_view(k, k.view_of(winners), back)


def _insert(k: NativeBuilder, value: Expr, position: Expr, best: Best, line: Index, end: int, largest: bool) -> None:
    """Shift what a value precedes back by one, from `end` on, and store the value and its position before it."""
    value = k.let(value)
    free, one, zero = k.variable(INT64, "free", once=False), k.const(1), k.const(0)
    k.assign(free, k.const(end))

    def is_better() -> Expr:
        before = k.load(best[0], (*line, k.apply("max", k.sub(free, one), zero)))
        return k.apply("and", k.compare("gt", free, zero), precedes(k, value, before, largest))

    if end:
        with k.repeat_while(is_better):
            for buffer in best:
                k.store(buffer, (*line, free), k.load(buffer, (*line, k.sub(free, one))))
            k.assign(free, k.sub(free, one))
    k.store(best[0], (*line, free), value)
    k.store(best[1], (*line, free), position)


# ---- many lines at a time ------------------------------------------------------------------------------------


def _side_by_side(k: NativeBuilder, x: View, axis: int, lane: int, count: int, largest: bool) -> tuple[View, View]:
    """`for step: for lines: the best that x precedes shift back by one`, without branches."""
    others = [n for n in range(len(x.shape)) if n not in (axis, lane)]
    shape = [*(x.shape[n] for n in others), count, x.shape[lane]]
    best = k.temporary(x.dtype, shape), k.temporary(INT32, shape)
    with k.nest(shape) as index:
        for buffer in best:
            k.store(buffer, index, k.const(0, buffer.dtype))
    order = [*others, axis, lane]
    with k.nest(shape[: len(others)]) as outer:
        for first, steps in ((0, count), (count, x.fixed_shape[axis] - count)):
            with k.loop(steps) as before, k.loop(x.shape[lane], parallel=True) as column:
                step = k.add(before, k.const(first))
                index = [i for _, i in sorted(zip(order, (*outer, step, column), strict=True), key=lambda p: p[0])]
                value = k.let(x.at(tuple(index)))
                _shift_back(
                    k, value, step, best, lambda n, o=outer, c=column: (*o, k.const(n), c), first, largest, count
                )
    back = [order.index(n) for n in range(len(order))]
    winners = cast_view(k, k.view_of(best[1]), INT64)
    return transpose_view(k, k.view_of(best[0]), back), transpose_view(k, winners, back)


def _shift_back(
    k: NativeBuilder,
    value: Expr,
    step: Expr,
    best: Best,
    at: Callable[[int], Index],
    filled: int,
    largest: bool,
    count: int,
) -> None:
    """One step of every line: `best[n] = best[n - 1] if x precedes that else x if it precedes best[n] else best[n]`."""
    old = [[k.let(k.load(buffer, at(n))) for buffer in best] for n in range(count)]
    wins = [precedes(k, value, other, largest) for other, _ in old]
    if not filled:
        wins = [k.apply("or", won, k.compare("le", step, k.const(n))) for n, won in enumerate(wins)]
    wins = [k.let(won) for won in wins]
    new = (value, k.cast(step, INT32))
    for n in range(count):
        for part, buffer in enumerate(best):
            entered = k.select(wins[n], new[part], old[n][part])
            moved = k.select(wins[n - 1], old[n - 1][part], entered) if n else entered
            k.store(buffer, at(n), moved)
