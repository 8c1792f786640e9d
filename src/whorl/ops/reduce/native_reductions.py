"""Native forms of reductions, on the views that a kernel builder `k` makes: totals, extremes, positions of extremes.

A position comes with its extreme in one pass over rows, also for a ReduceMax beside an ArgMax of the same tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TypeVar

import numpy as np

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, INT32, INT64, is_float
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, View
from whorl.ops.native.index_maps import broadcast_scalar, cast_view, replace_at

D = TypeVar("D", bound=Dim)

ROW = 8
"""Elements along the last axis from which a reduction over other axes goes row by row."""

BLOCK = 1024
"""Elements of a line that are searched for the position of its extreme."""
_SHORT = 8
"""Elements below which a sum goes from the first to the last: the optimiser would take some lines by vectors and
others not, as what else it has to compute costs, and a model would give other bits once it is rewritten."""

_MOST_ROWS = 1 << 31
"""Rows whose numbers an int32 does not hold."""
_ON_BOOL = {"max": "or", "min": "and"}
_IN_ANY_ORDER = {"max": "maximum", "min": "minimum"}


def map_elements(k: NativeBuilder, function: Callable[..., Expr], *views: View, cost: int = 1) -> View:
    """A tensor of the first view's shape and type: a function of the elements that broadcasting puts at an index."""
    first = views[0]
    operands = [first, *(x if x.size == first.size else k.materialise_reread(x) for x in views[1:])]

    def at(index: Index) -> Expr:
        return function(*(k.broadcast_element(x, index) for x in operands))

    return k.view(first.dtype, first.shape, at, cost + sum(x.cost for x in operands))


def reduced_shape(shape: Sequence[D], axes: Sequence[int], keepdims: bool = True) -> tuple[D | int, ...]:
    """The shape after a reduction: the axes have length 1, or are gone."""
    if keepdims:
        return tuple(1 if axis in axes else n for axis, n in enumerate(shape))
    return tuple(n for axis, n in enumerate(shape) if axis not in axes)


def reduce_view(
    k: NativeBuilder,
    x: View,
    axes: Sequence[int],
    how: str,
    keepdims: bool = True,
    finish: Callable[[Expr], Expr] | None = None,
) -> View:
    """The "sum", product ("mul") or extreme ("max", "min") along axes, each put through `finish(total)`, materialised.

    `for lines: total = start; for elements: total = how(total, x)`. A sum along lines that include the last axis, and
    are not short, may be taken in any order: error bound (n - 1) units of the last place of the sum of absolute values.
    The rest goes from the first element to the last. No elements: 0, 1, or the value that loses against all.
    """
    axes = sorted(axes)
    shape = reduced_shape(x.shape, axes, keepdims)
    count = dims.product(x.shape[axis] for axis in axes)
    if how == "sum" and isinstance(count, int) and count < _SHORT:
        how = "add"
    start = k.const(_start(how, x.dtype), x.dtype)
    step = (_ON_BOOL if x.dtype == BOOL else _IN_ANY_ORDER).get(how, how)
    rows = x.shape[-1:]
    is_wide = bool(rows) and (not isinstance(rows[0], int) or rows[0] >= ROW)
    if is_wide and len(x.shape) - 1 not in axes and x.size != dims.product(shape):
        return _by_rows(k, x, axes, shape, start, "add" if how == "sum" else step, finish)

    def at(index: Index) -> Expr:
        def add(total: Expr, inner: Index) -> Expr:
            return k.apply(step, total, x.at(_merge_index(index, inner, axes, keepdims)))

        total = k.reduce([x.shape[axis] for axis in axes], start, add)
        return total if finish is None else finish(total)

    return k.materialise(k.view(x.dtype, shape, at, 1))


def _start(how: str, dtype: np.dtype) -> float:
    if how in ("sum", "add", "mul"):
        return 1 if how == "mul" else 0
    if dtype == BOOL:
        return how == "min"
    if is_float(dtype):
        return -np.inf if how == "max" else np.inf
    return np.iinfo(dtype).min if how == "max" else np.iinfo(dtype).max


def _merge_index(outer: Index, inner: Index, axes: Sequence[int], keepdims: bool) -> Index:
    """An index of the reduced tensor and one along the axes as an index of the tensor."""
    others = [i for axis, i in enumerate(outer) if not (keepdims and axis in axes)]
    rest, along = iter(others), iter(inner)
    return tuple(next(along) if axis in axes else next(rest) for axis in range(len(others) + len(axes)))


def _by_rows(
    k: NativeBuilder,
    x: View,
    axes: Sequence[int],
    shape: tuple[Dim, ...],
    start: Expr,
    how: str,
    finish: Callable[[Expr], Expr] | None,
) -> View:
    """Totals in memory, to which one row of elements after the other is added."""
    buffer = k.temporary(x.dtype, shape)
    k.fill(buffer, broadcast_scalar(k, start, shape))
    with _in_order(k, x.shape, axes) as index:
        target = tuple(k.const(0) if axis in axes else i for axis, i in enumerate(index))
        if len(shape) < len(target):
            target = tuple(i for axis, i in enumerate(index) if axis not in axes)
        k.store(buffer, target, k.apply(how, k.load(buffer, target), x.at(index)))
    if finish is not None:
        with k.nest(shape) as index:
            k.store(buffer, index, finish(k.load(buffer, index)))
    return k.view_of(buffer, shape)


@contextmanager
def _in_order(k: NativeBuilder, shape: Sequence[Dim], axes: Sequence[int]) -> Iterator[Index]:
    """A nest over every index, in which the steps along some axes follow one another."""
    with ExitStack() as stack:
        yield tuple(stack.enter_context(k.loop(n, parallel=axis not in axes)) for axis, n in enumerate(shape))


def mean(k: NativeBuilder, x: View, axes: Sequence[int]) -> View:
    """The mean along axes, which stay with length 1; NaN for no elements."""
    count = k.const(dims.product(x.shape[axis] for axis in axes), x.dtype)
    return reduce_view(k, x, axes, "sum", finish=lambda total: k.div(total, count))


def standardize_view(k: NativeBuilder, x: View, axes: Sequence[int], epsilon: float) -> tuple[View, View, View]:
    """(x - mean) / sqrt(variance + epsilon) along axes, the mean, and the reciprocal of that root."""
    x = k.materialise_reread(x)
    centre = mean(k, x, axes)
    variance = mean(k, map_elements(k, lambda v, m: k.mul(k.sub(v, m), k.sub(v, m)), x, centre, cost=2), axes)
    one, small = k.const(1, x.dtype), k.const(epsilon, x.dtype)
    reciprocal = k.materialise(
        map_elements(k, lambda v: k.div(one, k.apply("sqrt", k.add(v, small))), variance, cost=8)
    )
    normal = map_elements(k, lambda v, m, r: k.mul(k.sub(v, m), r), x, centre, reciprocal, cost=2)
    return normal, centre, reciprocal


def find_extremes(k: NativeBuilder, x: View, axis: int, largest: bool, last: bool = False) -> View:
    """The index of the first (or last) extreme along an axis that is not empty and stays with length 1; NaN wins."""
    if is_row_reduction(x, axis):
        return find_extremes_by_rows(k, x, axis, largest, last)[1]
    x = k.materialise_reread(x)
    how, loses = "max" if last else "min", k.const(-1 if last else BLOCK, INT32)

    def at(index: Index) -> Expr:
        def element(position: Expr) -> Expr:
            return x.at(replace_at(index, axis, position))

        best, first, count = _best_block(k, element, x.shape[axis], largest, last)

        def choose(winner: Expr, inner: Index) -> Expr:
            value = element(k.add(first, inner[0]))
            is_best = k.compare("eq", value, best)
            if is_float(x.dtype):
                is_best = k.apply("or", is_best, k.apply("isnan", value, dtype=BOOL))
            return k.apply(how, winner, k.select(is_best, k.cast(inner[0], INT32), loses))

        return k.add(first, k.cast(k.reduce([count], loses, choose), INT64))

    return k.materialise(k.view(INT64, reduced_shape(x.shape, (axis,)), at, 1))


def _best_block(
    k: NativeBuilder, element: Callable[[Expr], Expr], length: Dim, largest: bool, last: bool
) -> tuple[Expr, Expr, Dim]:
    """The extreme of a line, and the first index and the length of the block in which its position is.

    So that is searched in one block, with indices of 32 bits.
    """
    how, dtype = "max" if largest else "min", element(k.const(0)).dtype
    start = k.const(_start(how, dtype), dtype)

    def extreme(first: Expr, count: Dim) -> Expr:
        step = _IN_ANY_ORDER[how]
        return k.reduce([count], start, lambda best, inner: k.apply(step, best, element(k.add(first, inner[0]))))

    if isinstance(length, int) and length <= BLOCK:
        return extreme(k.const(0), length), k.const(0), length
    best, chosen = k.variable(dtype, "best", once=False), k.variable(INT64, "chosen", once=False)
    k.assign(best, start)
    k.assign(chosen, k.const(0))
    number = k.length(length)

    def count_from(first: Expr) -> Dim:
        return k.new_length(k.let(k.apply("min", k.const(BLOCK), k.sub(number, first))))

    with k.loop(dims.call("floor", length + BLOCK - 1, BLOCK)) as block:
        first = k.let(k.mul(block, k.const(BLOCK)))
        value = extreme(first, count_from(first))
        wins = k.let(_wins(k, value, best, largest, last))
        k.assign(chosen, k.select(wins, first, chosen))
        k.assign(best, k.select(wins, value, best))
    result, first = k.variable(dtype, "best"), k.variable(INT64, "first")
    k.assign(result, best)
    k.assign(first, chosen)
    return result, first, count_from(first)


def is_row_reduction(x: View, axis: int) -> bool:
    """Whether extremes along an axis are searched for many columns at a time; their indices then are int32."""
    if axis >= len(x.shape) - 1:
        return False
    columns, rows = x.shape[-1], x.shape[axis]
    is_wide = not isinstance(columns, int) or columns >= ROW
    return is_wide and (not isinstance(rows, int) or 1 < rows < _MOST_ROWS)


def find_extremes_by_rows(k: NativeBuilder, x: View, axis: int, largest: bool, last: bool = False) -> tuple[View, View]:
    """The extremes along an axis that is not the last, and their indices; the axis stays with length 1. NaN wins.

    `for rows: for columns: if x is better: best, winner = x, row`. Once for each tensor and block of statements.
    """

    def write() -> tuple[View, View]:
        shape = reduced_shape(x.shape, (axis,))
        if not isinstance(x.shape[axis], int):
            k.fail_unless(k.compare("lt", k.length(x.shape[axis]), k.const(_MOST_ROWS)))
        best, winner = k.temporary(x.dtype, shape), k.temporary(INT32, shape)
        with k.nest(shape) as index:
            k.store(best, index, k.const(_start("max" if largest else "min", x.dtype), x.dtype))
            k.store(winner, index, k.const(x.shape[axis] - 1 if last else 0, INT32))
        with _in_order(k, x.shape, (axis,)) as index:
            target = replace_at(index, axis, k.const(0))
            value, before = k.let(x.at(index)), k.load(best, target)
            wins = k.let(_wins(k, value, before, largest, last))
            k.store(winner, target, k.select(wins, k.cast(index[axis], INT32), k.load(winner, target)))
            k.store(best, target, k.select(wins, value, before))
        return k.view_of(best, shape), cast_view(k, k.view_of(winner, shape), INT64)

    return k.share(("extremes", x, axis, largest, last), write)


def _wins(k: NativeBuilder, value: Expr, before: Expr, largest: bool, last: bool) -> Expr:
    """Whether an element replaces the best so far."""
    if not is_float(value.dtype):
        return k.compare(("ge" if last else "gt") if largest else ("le" if last else "lt"), value, before)
    worse = ("lt" if last else "le") if largest else ("gt" if last else "ge")
    nan_wins = k.apply("isnan", before, dtype=BOOL)
    if last:
        nan_wins = k.apply("and", nan_wins, k.apply("not", k.apply("isnan", value, dtype=BOOL)))
    return k.apply("and", k.apply("not", k.compare(worse, value, before)), k.apply("not", nan_wins))


def accumulate_view(k: NativeBuilder, x: View, axis: int, how: str, start: int, exclusive: bool, reverse: bool) -> View:
    """Running totals along an axis: `total[i] = how(total[i - 1], x[i])`, one step of all lines after the other.

    `exclusive` leaves out the element itself, so that totals begin with `start`; `reverse` runs from the end.
    """
    length, buffer, shift = x.shape[axis], k.temporary(x.dtype, x.shape), int(exclusive)
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    if not x.size:
        return k.view_of(buffer, x.shape)

    def at(outer: Index, step: Expr, inner: Index) -> Index:
        return (*outer, k.sub(k.const(length - 1), step) if reverse else step, *inner)

    with k.nest(before) as outer:
        if exclusive:
            with k.nest((_at_most(length, 1), *after)) as (first, *inner):
                k.store(buffer, at(outer, first, tuple(inner)), k.const(start, x.dtype))
        with k.nest((_at_most(_less(length, shift), 1), *after)) as (first, *inner):
            target = at(outer, k.add(first, k.const(shift)), tuple(inner))
            k.store(buffer, target, x.at(at(outer, first, tuple(inner))))
        with k.loop(_less(length, 1 + shift)) as done, k.nest(after) as inner:
            step = k.add(done, k.const(1))
            total = k.load(buffer, at(outer, k.add(done, k.const(shift)), inner))
            value = k.apply(how, total, x.at(at(outer, step, inner)))
            k.store(buffer, at(outer, k.add(step, k.const(shift)), inner), value)
    return k.view_of(buffer, x.shape)


def _less(length: Dim, count: int) -> Dim:
    """A length without some elements; 0 where it has fewer."""
    return dims.call("max", length - count, 0)


def _at_most(length: Dim, most: int) -> Dim:
    return dims.call("min", length, most)
