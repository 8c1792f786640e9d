"""Native form of Unique, on the views that a kernel builder `k` makes: slices sorted, and numbered group by group.

A slice is a row of int64 keys, which compare as its elements do. The sort is stable, so of equal slices the first one
leads its group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import INT64
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr, Var
from whorl.ir.native.view import Index, View
from whorl.ops.native.heaps import key_of
from whorl.ops.native.index_maps import map_indices, replace_at, reshape_view, transpose_view

Compare = Callable[[Expr, Expr], Expr]
"""Below 0 where the first slice comes before the second one, 0 where they are equal."""


def find_unique(k: NativeBuilder, x: View, axis: int, is_sorted: bool) -> Sequence[View]:
    """The different slices along an axis, each one's first index, each slice's number among them, and their counts."""
    x, length = k.materialise_reread(x), x.shape[axis]
    first, counts, inverse = (k.temporary(INT64, (length,)) for _ in range(3))
    compare = _comparison(k, x, axis)
    order = _sort(k, length, compare)
    groups = k.variable(INT64, "groups", once=False)
    k.assign(groups, k.const(0))
    with k.loop(length) as step:
        here = k.let(order(step))
        before = k.let(order(k.apply("max", k.sub(step, k.const(1)), k.const(0))))
        is_new = k.apply("or", k.compare("eq", step, k.const(0)), k.compare("ne", compare(before, here), k.const(0)))
        with k.when(k.let(is_new)):
            k.store(first, (groups,), here)
            k.store(counts, (groups,), k.const(0))
            k.assign(groups, k.add(groups, k.const(1)))
        group = k.let(k.sub(groups, k.const(1)))
        k.store(inverse, (here,), group)
        k.store(counts, (group,), k.add(k.load(counts, (group,)), k.const(1)))
    total = k.variable(INT64, "count")
    k.assign(total, groups)
    count = k.new_length(total)
    rows = [k.view_of(first, (count,)), k.view_of(inverse, (length,)), k.view_of(counts, (count,))]
    if not is_sorted:
        rows = _as_first_seen(k, *rows)
    chosen = rows[0]

    def source(index: Index) -> Index:
        return replace_at(index, axis, chosen.at((index[axis],)))

    return map_indices(k, x, replace_at(x.shape, axis, count), source, 1), *rows


def _comparison(k: NativeBuilder, x: View, axis: int) -> Compare:
    """Compares two slices by their indices, element by element."""
    others = [n for n in range(len(x.shape)) if n != axis]
    size = dims.product(x.shape[n] for n in others)
    rows = reshape_view(k, transpose_view(k, x, (axis, *others)), (x.shape[axis], size))
    keys = k.materialise(k.view(INT64, rows.shape, lambda index: key_of(k, k.let(rows.at(index))), rows.cost + 4))

    def compare_at(a: Expr, b: Expr, element: Expr) -> Expr:
        left, right = k.let(keys.at((a, element))), k.let(keys.at((b, element)))
        above, below = k.compare("gt", left, right), k.compare("lt", left, right)
        return k.sub(k.cast(above, INT64), k.cast(below, INT64))

    def compare(a: Expr, b: Expr) -> Expr:
        if size == 1:
            return compare_at(a, b, k.const(0))
        sign, element = k.variable(INT64, "sign", once=False), k.variable(INT64, "element", once=False)
        k.assign(sign, k.const(0))
        k.assign(element, k.const(0))

        def is_undecided() -> Expr:
            is_inside = k.compare("lt", element, k.length(size))
            return k.apply("and", is_inside, k.compare("eq", sign, k.const(0)))

        with k.repeat_while(is_undecided):
            k.assign(sign, compare_at(a, b, element))
            k.assign(element, k.add(element, k.const(1)))
        return k.let(sign)

    return compare


def _sort(k: NativeBuilder, length: Dim, compare: Compare) -> Callable[[Expr], Expr]:
    """The indices of slices in their order: runs of 1, 2, 4, ... are merged, from one row of memory into the other."""
    memory, one, count = k.temporary(INT64, (2, length)), k.const(1), k.let(k.length(length))
    with k.nest((length,)) as (index,):
        k.store(memory, (k.const(0), index), index)
    row, width = k.variable(INT64, "row", once=False), k.variable(INT64, "width", once=False)
    k.assign(row, k.const(0))
    k.assign(width, one)
    with k.repeat_while(lambda: k.compare("lt", width, count)):
        pair = k.let(k.add(width, width))
        with k.loop(k.div(k.add(count, k.sub(pair, one)), pair)) as number:
            start = k.let(k.mul(number, pair))
            middle, end = (k.let(k.apply("min", k.add(start, size), count)) for size in (width, pair))
            _merge(k, lambda at: k.load(memory, (row, at)), (start, middle, end), compare,
                   lambda at, index: k.store(memory, (k.sub(one, row), at), index))  # fmt: skip
        k.assign(row, k.sub(one, row))
        k.assign(width, pair)
    return lambda at: k.load(memory, (row, at))


def _merge(
    k: NativeBuilder,
    load: Callable[[Expr], Expr],
    ends: tuple[Expr, Expr, Expr],
    compare: Compare,
    store: Callable[[Expr, Expr], None],
) -> None:
    """Two runs, one behind the other, in order; of equals, the one of the left run comes first."""
    start, middle, end = ends
    left, right = k.variable(INT64, "left", once=False), k.variable(INT64, "right", once=False)
    k.assign(left, start)
    k.assign(right, middle)
    with k.loop(k.sub(end, start)) as step:
        a, b = (
            k.let(load(k.apply("min", at, k.sub(bound, k.const(1))))) for at, bound in ((left, middle), (right, end))
        )
        is_over = k.compare("ge", right, end)
        is_first = k.apply("or", is_over, k.compare("le", compare(a, b), k.const(0)))
        is_left = k.let(k.apply("and", k.compare("lt", left, middle), is_first))
        store(k.add(start, step), k.select(is_left, a, b))
        _advance(k, left, is_left)
        _advance(k, right, k.apply("not", is_left))


def _advance(k: NativeBuilder, position: Var, is_taken: Expr) -> None:
    k.assign(position, k.add(position, k.cast(is_taken, INT64)))


def _as_first_seen(k: NativeBuilder, first: View, inverse: View, counts: View) -> list[View]:
    """Groups numbered in the order in which their first slices stand."""
    numbers, firsts, sizes = (k.temporary(INT64, first.shape) for _ in range(3))
    own, seen = k.temporary(INT64, inverse.shape), k.variable(INT64, "seen", once=False)
    k.assign(seen, k.const(0))
    with k.loop(inverse.shape[0]) as index:
        group = k.let(inverse.at((index,)))
        with k.when(k.compare("eq", first.at((group,)), index)):
            k.store(numbers, (group,), seen)
            k.store(firsts, (seen,), index)
            k.store(sizes, (seen,), counts.at((group,)))
            k.assign(seen, k.add(seen, k.const(1)))
        k.store(own, (index,), k.load(numbers, (group,)))
    return [k.view_of(firsts, first.shape), k.view_of(own, inverse.shape), k.view_of(sizes, first.shape)]
