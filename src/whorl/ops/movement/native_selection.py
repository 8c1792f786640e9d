"""Native forms of TopK, on the views that a kernel builder `k` makes: the best elements of each line, in order.

Of equals the one with the lower index comes first; NaN is above all numbers. Lines whose elements are far apart are
gone through side by side, without branches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, INT32, INT64, is_float
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Buffer, Expr
from whorl.ir.native.view import Index, View
from whorl.ops.native.heaps import Heap, entry_of, is_worse, key_of, position_of
from whorl.ops.native.index_maps import cast_view, insert_at, replace_at

MOST_SORTED = 32
"""Elements up to which the best are sorted while a line is read; more are put in a heap."""
MOST_SIDE_BY_SIDE = 16
"""Elements up to which the best of many lines are sorted at a time."""
LINES = 16
"""Lines that are worth reading at a time."""
LONGEST = (1 << 31) - 1
"""The length of a line that positions of 4 bytes can tell."""
Best = tuple[Buffer, Buffer]
"""The best elements of each line so far, in order, and their positions in the line."""


def select_best(k: NativeBuilder, x: View, axis: int, count: Dim, largest: bool) -> tuple[View, View]:
    """The `count` best elements along an axis, and their indices; the program fails for lines of 2 ** 31 elements."""
    x = k.materialise_reread(x)
    length = x.shape[axis]
    if not isinstance(length, int) or length > LONGEST:
        k.fail_unless(k.compare("le", k.length(length), k.const(LONGEST)))
    if not isinstance(count, int) or not 0 < count <= MOST_SORTED:
        return _by_heap(k, x, axis, count, largest)
    lane = _lane(k, x, axis) if count <= MOST_SIDE_BY_SIDE else None
    return _sorted(k, x, axis, lane, count, largest)


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


def _sorted(k: NativeBuilder, x: View, axis: int, lane: int | None, count: int, largest: bool) -> tuple[View, View]:
    """The best, sorted while lines are read: side by side along a lane where this has many, else one by one."""
    others = [n for n in range(len(x.shape)) if n not in (axis, lane)]
    order = [*others, axis, *(() if lane is None else (lane,))]
    shape = [count if n == axis else x.shape[n] for n in order]
    best = k.temporary(x.dtype, shape), k.temporary(INT32, shape)
    lines = 0 if lane is None else x.shape[lane]
    if not isinstance(lines, int):
        has_many = k.compare("ge", k.length(lines), k.const(LINES))
        with k.when(has_many):
            _side_by_side(k, x, order, best, count, largest)
        with k.when(k.apply("not", has_many)):
            _line_by_line(k, x, order, axis, best, count, largest)
    elif lines >= LINES:
        _side_by_side(k, x, order, best, count, largest)
    else:
        _line_by_line(k, x, order, axis, best, count, largest)
    sources = [k.view_of(buffer, shape) for buffer in best]

    def at(source: View) -> Callable[[Index], Expr]:
        return lambda index: source.at(tuple(index[n] for n in order))

    result = replace_at(x.shape, axis, count)
    values, winners = (k.view(source.dtype, result, at(source), 1) for source in sources)
    return values, cast_view(k, winners, INT64)


# ---- one line after the other --------------------------------------------------------------------------------


def _line_by_line(
    k: NativeBuilder, x: View, order: Sequence[int], axis: int, best: Best, count: int, largest: bool
) -> None:
    """`for x in line: if x precedes the worst: insert x`."""
    others = [n for n in range(len(x.shape)) if n != axis]
    with k.nest([x.shape[n] for n in others]) as line:

        def slot(n: Expr) -> Index:
            index = insert_at(line, axis, n)
            return tuple(index[each] for each in order)

        for n in range(count):
            _insert(k, x.at(insert_at(line, axis, k.const(n))), k.const(n), best, slot, n, largest)
        worst = k.variable(x.dtype, "worst", once=False)
        k.assign(worst, k.load(best[0], slot(k.const(count - 1))))
        with k.loop(x.shape[axis] - count) as before:
            position = k.add(before, k.const(count))
            value = k.let(x.at(insert_at(line, axis, position)))
            with k.when(precedes(k, value, worst, largest)):
                _insert(k, value, position, best, slot, count - 1, largest)
                k.assign(worst, k.load(best[0], slot(k.const(count - 1))))


def _insert(
    k: NativeBuilder,
    value: Expr,
    position: Expr,
    best: Best,
    slot: Callable[[Expr], Index],
    end: int,
    largest: bool,
) -> None:
    """Shift what a value precedes back by one, from `end` on, and store the value and its position before it."""
    value = k.let(value)
    free, one, zero = k.variable(INT64, "free", once=False), k.const(1), k.const(0)
    k.assign(free, k.const(end))

    def is_better() -> Expr:
        before = k.load(best[0], slot(k.apply("max", k.sub(free, one), zero)))
        return k.apply("and", k.compare("gt", free, zero), precedes(k, value, before, largest))

    if end:
        with k.repeat_while(is_better):
            for buffer in best:
                k.store(buffer, slot(free), k.load(buffer, slot(k.sub(free, one))))
            k.assign(free, k.sub(free, one))
    k.store(best[0], slot(free), value)
    k.store(best[1], slot(free), k.cast(position, INT32))


# ---- many lines at a time ------------------------------------------------------------------------------------


def _side_by_side(k: NativeBuilder, x: View, order: Sequence[int], best: Best, count: int, largest: bool) -> None:
    """`for step: for lines: the best that x precedes shift back by one`, without branches."""
    axis, lane = order[-2:]
    shape = [x.shape[n] for n in order[:-2]]
    with k.nest([*shape, count, x.shape[lane]]) as index:
        for buffer in best:
            k.store(buffer, index, k.const(0, buffer.dtype))
    with k.nest(shape) as outer:
        for first, steps in ((0, count), (count, x.shape[axis] - count)):
            with k.loop(steps) as before, k.loop(x.shape[lane], parallel=True) as column:
                step = k.add(before, k.const(first))
                index = [i for _, i in sorted(zip(order, (*outer, step, column), strict=True), key=lambda p: p[0])]
                value = k.let(x.at(tuple(index)))
                _shift_back(
                    k, value, step, best, lambda n, o=outer, c=column: (*o, k.const(n), c), first, largest, count
                )


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


# ---- many of a line ------------------------------------------------------------------------------------------


def _by_heap(k: NativeBuilder, x: View, axis: int, count: Dim, largest: bool) -> tuple[View, View]:
    """`for x in line: if x is better than the worst: replace it`, in a heap of the best, which is sorted at the end."""
    lines = (*x.shape[:axis], *x.shape[axis + 1 :])
    is_wide = x.dtype.itemsize > 4
    heaps = Heap.of_shape(k, (*lines, count), is_wide)
    size = k.length(count)

    def entry(line: Index, position: Expr) -> tuple[Expr, ...]:
        key = key_of(k, k.let(x.at(insert_at(line, axis, position))))
        key = key if largest else k.apply("not", key)
        return tuple(k.let(part) for part in entry_of(k, key, position, is_wide))

    with k.nest(lines) as line:
        heap = heaps.at(line)
        with k.loop(count) as position:
            heap.store(position, entry(line, position))
        heap.build(size)
        with k.when(k.compare("gt", size, k.const(0))), k.loop(x.shape[axis] - count) as rest:
            candidate = entry(line, k.add(rest, size))
            with k.when(is_worse(k, heap.load(k.const(0)), candidate)):
                heap.sift(k.const(0), candidate, size)
        heap.sort(size)
    shape = replace_at(x.shape, axis, count)

    def winner(index: Index) -> Expr:
        line = (*index[:axis], *index[axis + 1 :], index[axis])
        return position_of(k, tuple(k.load(buffer, line) for buffer in heaps.buffers))

    values = k.view(x.dtype, shape, lambda index: x.at(replace_at(index, axis, winner(index))), x.cost + 3)
    return values, k.view(INT64, shape, winner, 3)
