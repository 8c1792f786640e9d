"""Native forms whose results have lengths that only the run knows, by the statements of a kernel builder `k`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import FLOAT64, INT64, is_float
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, View
from whorl.ops.native.index_maps import (
    as_length,
    clamp_index,
    flat_element,
    map_indices,
    normalise_index,
    read_int64,
    replace_at,
    reshape_view,
    slice_view,
)

LONGEST, LARGEST = 1 << 28, 1 << 34
"""A length, and a number of elements, that a shape may ask for in a program: their products do not overflow."""

MOST_STEPS = 1 << 58
"""Numbers that a range may have."""


def compact(
    k: NativeBuilder, dtype: np.dtype, length: Dim, is_selected: Callable[[Expr], Expr], value: Callable[[Expr], Expr]
) -> View:
    """The values at the indices below `length` that are selected, in order.

    `for index: buffer[count] = value; count += is_selected`. All are written, and what is not selected is overwritten:
    a branch would be guessed wrong as often as selections change.
    """
    buffer, count = k.temporary(dtype, (length,)), k.variable(INT64, "count", once=False)
    k.assign(count, k.const(0))
    with k.loop(length) as index:
        k.store(buffer, (count,), value(index))
        k.assign(count, k.add(count, k.cast(is_selected(index), INT64)))
    total = k.variable(INT64, "count")
    k.assign(total, count)
    return k.view_of(buffer, (k.new_length(total),))


def find_nonzero(k: NativeBuilder, x: View) -> View:
    """The index of each element that is not zero, an axis a row: int64 [rank, count]."""
    zero, flat = k.const(0, x.dtype), flat_element(k, x)
    positions = compact(k, INT64, x.size, lambda position: k.compare("ne", flat(position), zero), lambda i: i)
    rank = len(x.shape)

    def at(index: Index) -> Expr:
        rest = positions.at(index[1:])
        rows: list[Expr] = []
        for length in x.shape[:0:-1]:
            rows.append(k.apply("rem", rest, k.const(length)))
            rest = k.div(rest, k.const(length))
        rows = [rest, *rows[::-1]]
        result = rows[-1]
        for axis in range(rank - 2, -1, -1):
            result = k.select(k.compare("eq", index[0], k.const(axis)), rows[axis], result)
        return result

    return k.view(INT64, (rank, *positions.shape), at, 1 + 4 * (rank - 1))


def compress_view(k: NativeBuilder, x: View, condition: View, axis: int) -> View:
    """The slices of x along an axis whose condition is true; one beyond the axis ends the program with a failure."""
    x, condition, length = k.materialise_reread(x), k.materialise_reread(condition), condition.shape[0]
    if length != x.shape[axis]:
        length = dims.call("min", length, x.shape[axis])
        with k.loop(condition.shape[0] - length) as index:
            beyond = k.add(index, k.length(length))
            k.fail_unless(k.apply("not", condition.at((beyond,))))

    def is_selected(index: Expr) -> Expr:
        return condition.at((index,))

    if dims.product(replace_at(x.shape, axis, 1)) == 1 and (not is_float(x.dtype) or x.dtype.itemsize >= 4):
        zeros = (k.const(0),) * len(x.shape)
        row = compact(k, x.dtype, length, is_selected, lambda index: x.at(replace_at(zeros, axis, index)))
        return reshape_view(k, row, replace_at(x.shape, axis, row.shape[0]))
    indices = compact(k, INT64, length, is_selected, lambda index: index)

    def source(index: Index) -> Index:
        return replace_at(index, axis, indices.at((index[axis],)))

    return map_indices(k, x, replace_at(x.shape, axis, indices.shape[0]), source, 1)


def slice_at_run_time(k: NativeBuilder, x: View, axes: Sequence[int], ends: Sequence[tuple[Expr, Expr, int]]) -> View:
    """x[start:end:step] on axes, for starts and ends that only the run knows."""
    shape, firsts, steps = [*x.shape], [k.const(0)] * len(x.shape), [1] * len(x.shape)
    for axis, (start, end, step) in zip(axes, ends, strict=True):
        firsts[axis], count = _extent(k, start, end, step, k.let(k.length(x.shape[axis])))
        steps[axis], shape[axis] = step, k.new_length(count)
    return slice_view(k, x, firsts, steps, shape)


def _extent(k: NativeBuilder, start: Expr, end: Expr, step: int, length: Expr) -> tuple[Expr, Expr]:
    """Where `start:end:step` begins on an axis, and how many elements it takes."""
    low, high = (k.const(0), length) if step > 0 else (k.const(-1), k.sub(length, k.const(1)))
    first = clamp_index(k, normalise_index(k, start, length), 0, high)
    stop = clamp_index(k, normalise_index(k, end, length), low, high)
    span = k.sub(stop, first) if step > 0 else k.sub(first, stop)
    count = k.div(k.add(k.apply("max", span, k.const(0)), k.const(abs(step) - 1)), k.const(abs(step)))
    return k.let(first), k.let(count)


def count_range(k: NativeBuilder, start: Expr, limit: Expr, step: Expr) -> Expr:
    """How many whole numbers lie from start on, before limit, at a distance of step; a step of 0 is a failure."""
    start, limit, step = (k.cast(number, INT64) for number in (start, limit, step))
    rises = k.compare("gt", step, k.const(0))
    gap = k.let(k.select(rises, k.sub(limit, start), k.sub(start, limit)))
    is_ahead = k.select(rises, k.compare("lt", start, limit), k.compare("gt", start, limit))
    size = k.let(k.apply("abs", step))
    fits = k.apply("or", k.apply("not", is_ahead), k.compare("gt", gap, k.const(0)))
    k.fail_unless(k.apply("and", k.compare("gt", size, k.const(0)), fits))
    more = k.cast(k.compare("ne", k.apply("rem", gap, size), k.const(0)), INT64)
    return k.select(is_ahead, k.add(k.div(gap, size), more), k.const(0))


def count_steps(k: NativeBuilder, start: Expr, limit: Expr, step: Expr) -> Expr:
    """How many numbers lie from start on, before limit, at a distance of step: a quotient of float64, rounded up.

    The program fails where it is no number, and where it is far too large.
    """
    quotient = k.let(k.div(k.cast(k.sub(limit, start), FLOAT64), k.cast(step, FLOAT64)))
    for compare, bound in (("gt", -MOST_STEPS), ("lt", MOST_STEPS)):
        k.fail_unless(k.compare(compare, quotient, k.const(bound, FLOAT64)))
    return k.cast(k.apply("max", k.apply("ceil", quotient), k.const(0.0, FLOAT64)), INT64)


def read_shape(k: NativeBuilder, own: Sequence[Dim], shape: View, full: Sequence[Dim], allowzero: bool) -> list[Dim]:
    """The lengths that a shape asks of a Reshape of a tensor of lengths `own`; `full` has those that are proved.

    The program fails where the shape is refused, but for the number of elements.
    """
    numbers = [k.let(_copied(k, read_int64(k, shape, n), own[n : n + 1], allowzero)) for n in range(len(full))]
    frees = [k.compare("eq", number, k.const(-1)) for number in numbers]
    count, known = k.const(0), k.const(1)
    for number, is_free in zip(numbers, frees, strict=True):
        inside = k.apply("and", k.compare("ge", number, k.const(-1)), k.compare("le", number, k.const(LONGEST)))
        k.fail_unless(inside)
        count = k.add(count, k.cast(is_free, INT64))
        known = k.let(k.mul(known, k.select(is_free, k.const(1), number)))
        k.fail_unless(k.compare("le", known, k.const(LARGEST)))
    has_rest = k.apply("or", k.compare("eq", count, k.const(0)), k.compare("ne", known, k.const(0)))
    k.fail_unless(k.apply("and", k.compare("le", count, k.const(1)), has_rest))
    rest = k.let(k.div(k.const(dims.product(own)), k.apply("max", known, k.const(1))))
    return [_proved(k, dim, k.select(f, rest, n)) for dim, f, n in zip(full, frees, numbers, strict=True)]


def _copied(k: NativeBuilder, number: Expr, own: Sequence[Dim], allowzero: bool) -> Expr:
    """A number of a shape, or the length that a 0 copies."""
    if allowzero:
        return number
    is_zero = k.compare("eq", number, k.const(0))
    if own:
        return k.select(is_zero, k.length(own[0]), number)
    k.fail_unless(k.apply("not", is_zero))
    return number


def read_broadcast(k: NativeBuilder, own: Sequence[Dim], shape: View, full: Sequence[Dim]) -> list[Dim]:
    """The lengths of a tensor of lengths `own` broadcast with a shape; `full` has those that are proved.

    Only a length that is surely 1 takes that of the shape.
    """
    own = (*(1,) * (len(full) - len(own)), *own)
    first, result = len(full) - shape.fixed_size, list(own)
    for axis in range(first, len(full)):
        number = k.let(read_int64(k, shape, axis - first))
        if own[axis] == 1:
            k.fail_unless(k.compare("ge", number, k.const(0)))
            result[axis] = _proved(k, full[axis], number)
        else:
            fits = k.compare("eq", number, k.length(own[axis]))
            k.fail_unless(k.apply("or", fits, k.compare("eq", number, k.const(1))))
    return result


def read_lengths(k: NativeBuilder, numbers: View, full: Sequence[Dim]) -> list[Dim]:
    """The lengths in a row of numbers; `full` has those that are proved. The program fails where one is negative."""
    result: list[Dim] = []
    for n, dim in enumerate(full):
        number = k.let(read_int64(k, numbers, n))
        k.fail_unless(k.compare("ge", number, k.const(0)))
        result.append(_proved(k, dim, number))
    return result


def _proved(k: NativeBuilder, dim: Dim, value: Expr) -> Dim:
    """The dim, if it is a length of the program that the value must be; else a new one for the value."""
    if not k.is_available(dim):
        return as_length(k, value)
    k.fail_unless(k.compare("eq", k.length(dim), value))
    return dim
