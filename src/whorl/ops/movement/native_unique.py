"""Native form of Unique, on the views that a kernel builder `k` makes: slices numbered as they come, by a hash table.

A slice is a row of int64 keys, equal where its elements are, and in their order. Only the different ones are sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import INT64
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Buffer, Expr, Var
from whorl.ir.native.view import Index, View
from whorl.ops.native.heaps import key_of
from whorl.ops.native.index_maps import map_indices, replace_at, reshape_view, transpose_view

_FACTOR, _HALF = -7046029254386353131, 32
"""What spreads keys over 64 bits, the upper ones best: 2 ** 64 over the golden ratio, an odd number."""
Compare = Callable[[Expr, Expr], Expr]
"""Below 0 where the first slice comes before the second one, 0 where they are equal."""


def find_unique(k: NativeBuilder, x: View, axis: int, is_sorted: bool) -> Sequence[View]:
    """The different slices along an axis, each one's first index, each slice's number among them, and their counts."""
    x = k.materialise_reread(x)
    slices = _slices(k, x, axis)
    rows = _number_slices(k, slices)
    if is_sorted:
        rows = _in_order(k, slices, *rows)
    chosen = rows[0]

    def source(index: Index) -> Index:
        return replace_at(index, axis, chosen.at((index[axis],)))

    return map_indices(k, x, replace_at(x.shape, axis, chosen.shape[0]), source, 1), *rows


class _Slices(Struct, frozen=True):
    """Slices by their keys, a row each."""

    k: NativeBuilder
    keys: View

    @property
    def count(self) -> Dim:
        return self.keys.shape[0]

    @property
    def size(self) -> Dim:
        return self.keys.shape[1]

    def hash(self, index: Expr) -> Expr:
        """A number that equal slices share."""
        k, factor = self.k, self.k.const(_FACTOR)

        def mix(total: Expr, element: Expr) -> Expr:
            product = k.mul(k.apply("xor", total, self.keys.at((index, element))), factor)
            return k.apply("xor", product, k.apply("shr", product, k.const(_HALF)))

        if self.size == 1:
            return k.let(mix(k.const(0), k.const(0)))
        return k.reduce([self.size], k.const(0), lambda total, element: mix(total, element[0]))

    def compare(self, a: Expr, b: Expr) -> Expr:
        """Two slices element by element, as `Compare`."""
        k = self.k
        if self.size == 1:
            return self._compare_at(a, b, k.const(0))
        sign, element = k.variable(INT64, "sign", once=False), k.variable(INT64, "element", once=False)
        k.assign(sign, k.const(0))
        k.assign(element, k.const(0))

        def is_undecided() -> Expr:
            is_inside = k.compare("lt", element, k.length(self.size))
            return k.apply("and", is_inside, k.compare("eq", sign, k.const(0)))

        with k.repeat_while(is_undecided):
            k.assign(sign, self._compare_at(a, b, element))
            k.assign(element, k.add(element, k.const(1)))
        return k.let(sign)

    def _compare_at(self, a: Expr, b: Expr, element: Expr) -> Expr:
        k = self.k
        left, right = (k.let(self.keys.at((n, element))) for n in (a, b))
        above, below = k.compare("gt", left, right), k.compare("lt", left, right)
        return k.sub(k.cast(above, INT64), k.cast(below, INT64))


def _slices(k: NativeBuilder, x: View, axis: int) -> _Slices:
    others = [n for n in range(len(x.shape)) if n != axis]
    size = dims.product(x.shape[n] for n in others)
    rows = reshape_view(k, transpose_view(k, x, (axis, *others)), (x.shape[axis], size))
    return _Slices(k, k.materialise(k.view(INT64, rows.shape, lambda index: key_of(k, k.let(rows.at(index))), 8)))


def _number_slices(k: NativeBuilder, slices: _Slices) -> list[View]:
    """The first index of each different slice, each slice's number, and their counts; as slices are first seen."""
    length, one = slices.count, k.const(1)
    first, counts, inverse = (k.temporary(INT64, (length,)) for _ in range(3))
    table, last = _empty_table(k, length)
    groups = k.variable(INT64, "groups", once=False)
    slot, leader = k.variable(INT64, "slot", once=False), k.variable(INT64, "leader", once=False)
    k.assign(groups, k.const(0))

    def look(position: Expr) -> None:
        k.assign(slot, k.apply("and", position, last))
        k.assign(leader, k.load(table, (slot,)))

    with k.loop(length) as index:
        look(slices.hash(index))
        is_free = k.compare("lt", leader, k.const(0))
        with k.repeat_while(
            lambda: k.compare("ne", slices.compare(k.let(k.select(is_free, index, leader)), index), k.const(0))
        ):
            look(k.add(slot, one))
        with k.when(is_free):
            k.store(table, (slot,), index)
            k.store(first, (groups,), index)
            k.store(counts, (groups,), k.const(0))
            k.store(inverse, (index,), groups)
            k.assign(groups, k.add(groups, one))
            k.assign(leader, index)
        group = k.let(k.load(inverse, (leader,)))
        k.store(inverse, (index,), group)
        k.store(counts, (group,), k.add(k.load(counts, (group,)), one))
    total = k.variable(INT64, "count")
    k.assign(total, groups)
    count = k.new_length(total)
    return [k.view_of(first, (count,)), k.view_of(inverse, (length,)), k.view_of(counts, (count,))]


def _empty_table(k: NativeBuilder, length: Dim) -> tuple[Buffer, Expr]:
    """A hash table of free slots, a power of two and more than twice as many as slices, and the last one's number."""
    table, slots = k.temporary(INT64, (length * 4 + 4,)), k.variable(INT64, "slots", once=False)
    k.assign(slots, k.const(2))
    with k.repeat_while(lambda: k.compare("le", slots, k.mul(k.length(length), k.const(2)))):
        k.assign(slots, k.add(slots, slots))
    count = k.let(slots)
    with k.loop(count, parallel=True) as slot:
        k.store(table, (slot,), k.const(-1))
    return table, k.let(k.sub(count, k.const(1)))


def _in_order(k: NativeBuilder, slices: _Slices, first: View, inverse: View, counts: View) -> list[View]:
    """Groups numbered in the order of their slices."""
    order = _sort(k, first.shape[0], lambda a, b: slices.compare(first.at((a,)), first.at((b,))))
    numbers, firsts, sizes = (k.temporary(INT64, first.shape) for _ in range(3))
    with k.loop(first.shape[0]) as number:
        group = k.let(order(number))
        k.store(numbers, (group,), number)
        k.store(firsts, (number,), first.at((group,)))
        k.store(sizes, (number,), counts.at((group,)))
    own = k.view(INT64, inverse.shape, lambda index: k.load(numbers, (inverse.at(index),)), 2)
    return [k.view_of(firsts, first.shape), own, k.view_of(sizes, first.shape)]


def _sort(k: NativeBuilder, length: Dim, compare: Compare) -> Callable[[Expr], Expr]:
    """The numbers of groups in their order: runs of 1, 2, 4, ... are merged, from one row of memory into the other."""
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
