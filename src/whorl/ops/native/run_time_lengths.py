"""Native forms whose results have lengths that only the run knows, by the statements of a kernel builder `k`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from whorl.ir.dtypes import INT64
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Index
from whorl.ops.native.index_maps import flat_element, map_indices, replace_at, slice_view


def compact_indices(k: NativeBuilder, length: Any, is_chosen: Callable[[Any], Any]) -> Any:
    """The places below `length` that are chosen, in order, as a row of int64."""
    buffer, count = k.temporary(INT64, (length,)), k.variable(INT64, "count", once=False)
    k.assign(count, k.const(0))
    with k.loop(length) as place, k.when(is_chosen(place)):
        k.store(buffer, (count,), place)
        k.assign(count, k.add(count, k.const(1)))
    found = k.variable(INT64, "count")
    k.assign(found, count)
    return k.view_of(buffer, (k.new_length(found),))


def find_nonzero(k: NativeBuilder, x: Any) -> Any:
    """The index of each element that is not zero, an axis a row: int64 [rank, count]."""
    zero, flat = k.const(0, x.dtype), flat_element(k, x)
    places = compact_indices(k, x.size, lambda place: k.compare("ne", flat(place), zero))
    rank = len(x.shape)

    def at(index: Index) -> Any:
        rest, rows = places.at(index[1:]), []
        for length in x.shape[:0:-1]:
            rows.append(k.apply("rem", rest, k.const(length)))
            rest = k.div(rest, k.const(length))
        rows = [rest, *rows[::-1]]
        found = rows[-1]
        for axis in range(rank - 2, -1, -1):
            found = k.select(k.compare("eq", index[0], k.const(axis)), rows[axis], found)
        return found

    return k.view(INT64, (rank, *places.shape), at, 1 + 4 * (rank - 1))


def compress_view(k: NativeBuilder, x: Any, condition: Any, axis: int) -> Any:
    """The slices of x along an axis whose condition holds; one beyond the axis ends the program with a failure."""
    length = k.let(k.length(x.shape[axis]))

    def is_chosen(place: Any) -> Any:
        chosen = k.let(condition.at((place,)))
        k.fail_unless(k.apply("or", k.apply("not", chosen), k.compare("lt", place, length)))
        return chosen

    places = compact_indices(k, condition.shape[0], is_chosen)
    shape = replace_at(x.shape, axis, places.shape[0])
    return map_indices(
        k, k.materialise_reread(x), shape, lambda index: replace_at(index, axis, places.at((index[axis],))), 1
    )


def slice_at_run_time(k: NativeBuilder, x: Any, axes: Sequence[int], ends: Sequence[tuple[Any, Any, int]]) -> Any:
    """x[start:end:step] on axes, for starts and ends that only the run knows."""
    shape, firsts, steps = list(x.shape), [k.const(0)] * len(x.shape), [1] * len(x.shape)
    for axis, (start, end, step) in zip(axes, ends, strict=True):
        firsts[axis], count = _extent(k, start, end, step, k.let(k.length(x.shape[axis])))
        steps[axis], shape[axis] = step, k.new_length(count)
    return slice_view(k, x, firsts, steps, shape)


def _extent(k: NativeBuilder, start: Any, end: Any, step: int, length: Any) -> tuple[Any, Any]:
    """Where `start:end:step` begins on an axis, and how many elements it takes."""
    last = k.sub(length, k.const(1))
    low, high = (k.const(0), length) if step > 0 else (k.const(-1), last)
    first = _between(k, _counted(k, start, length), low if step > 0 else k.const(0), high)
    stop = _between(k, _counted(k, end, length), low, high)
    span = k.sub(stop, first) if step > 0 else k.sub(first, stop)
    count = k.div(k.add(k.apply("max", span, k.const(0)), k.const(abs(step) - 1)), k.const(abs(step)))
    return k.let(first), k.let(count)


def _counted(k: NativeBuilder, place: Any, length: Any) -> Any:
    """A place counted from the front; a negative one counts from the back."""
    return k.select(k.compare("lt", place, k.const(0)), k.add(place, length), place)


def _between(k: NativeBuilder, value: Any, low: Any, high: Any) -> Any:
    return k.apply("min", k.apply("max", value, low), high)


def count_range(k: NativeBuilder, start: Any, limit: Any, step: Any) -> Any:
    """How many whole numbers lie from start on, before limit, at a distance of step; a step of 0 is a failure."""
    k.fail_unless(k.compare("ne", step, k.const(0)))
    rises = k.compare("gt", step, k.const(0))
    gap = k.apply("max", k.select(rises, k.sub(limit, start), k.sub(start, limit)), k.const(0))
    size = k.select(rises, step, k.sub(k.const(0), step))
    return k.let(k.div(k.add(gap, k.sub(size, k.const(1))), size))
