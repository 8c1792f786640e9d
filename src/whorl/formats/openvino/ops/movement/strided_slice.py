"""StridedSlice: slices whose masks leave ends open, drop axes, insert axes, and skip axes."""

from __future__ import annotations

import numpy as np
from msgspec import Struct, field

from whorl.errors import LoadError
from whorl.formats.openvino.ops.movement.axes import FIRST, LAST
from whorl.formats.openvino.ops.nodes import emit, integers_of, length_of, listed
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.ir.build import Builder
from whorl.ir.graph import Value
from whorl.ops.elementwise.arithmetic import Add, Identity
from whorl.ops.elementwise.comparison import Equal, Less, Where
from whorl.ops.movement.axes import Slice
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.shapes import Squeeze, Unsqueeze


class _Plan(Struct):
    """Which entry cuts which axis of the input, which axes go, and where new ones come in the result.

    Axes behind an ellipsis are counted from the end.
    """

    entries: list[int] = field(default_factory=list)
    axes: list[int] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)
    new: list[int] = field(default_factory=list)


@importer("StridedSlice", 1)
def strided_slice_1(node: IrNode, build: Builder) -> list[Value]:
    """Cut, then drop axes, then insert new ones."""
    x, begin, end = node.required(0), listed(build, node.required(1)), listed(build, node.required(2))
    stride_input = node.input(3)
    count = length_of(begin)
    if count is None:
        raise LoadError("the number of slices is not known", node.title, "give begin a fixed length")
    strides = build.int64(*(1,) * count) if stride_input is None else listed(build, stride_input)
    plan = _planned(node, count)
    if plan.entries:
        rows = _ends(node, build, plan, begin, end, strides)
        x = build.add(Slice(), x, rows[0], rows[1], build.int64(*plan.axes, name="axes"), rows[2])
    if plan.dropped:
        x = build.add(Squeeze(), x, build.int64(*plan.dropped, name="axes"))
    if plan.new:
        x = build.add(Unsqueeze(), x, build.int64(*plan.new, name="axes"))
    return emit(node, build, Identity(), x)


def _mask(node: IrNode, name: str, count: int) -> list[bool]:
    bits = node.integers(name, ())
    return [k < len(bits) and bool(bits[k]) for k in range(count)]


def _planned(node: IrNode, count: int) -> _Plan:
    new, shrink, ellipsis = (_mask(node, f"{name}_mask", count) for name in ("new_axis", "shrink_axis", "ellipsis"))
    if sum(ellipsis) > 1:
        raise LoadError("has more than one ellipsis", node.title)
    middle = ellipsis.index(True) if any(ellipsis) else count
    plan = _Plan()
    for k in range(middle):
        _add_entry(plan, k, new[k], shrink[k], len(plan.axes), len(plan.axes) - len(plan.dropped) + len(plan.new))
    behind = _Plan()
    for k in range(count - 1, middle, -1):
        behind_count = len(behind.axes) - len(behind.dropped) + len(behind.new)
        _add_entry(behind, k, new[k], shrink[k], -1 - len(behind.axes), -1 - behind_count)
    return _Plan(*(getattr(plan, name) + getattr(behind, name) for name in ("entries", "axes", "dropped", "new")))


def _add_entry(plan: _Plan, entry: int, is_new: bool, shrinks: bool, axis: int, position: int) -> None:
    if is_new:
        plan.new.append(position)
        return
    plan.entries.append(entry)
    plan.axes.append(axis)
    if shrinks:
        plan.dropped.append(axis)


def _ends(node: IrNode, build: Builder, plan: _Plan, begin: Value, end: Value, strides: Value) -> list[Value]:
    """Starts, ends and steps of the entries that cut; a masked end is open, a dropped axis keeps one element."""
    total = length_of(begin) or 0
    open_begin, open_end = (_mask(node, f"{name}_mask", total) for name in ("begin", "end"))
    dropped = [axis in plan.dropped for axis in plan.axes]
    no_begin = [open_begin[k] and not drop for k, drop in zip(plan.entries, dropped, strict=True)]
    no_end = [open_end[k] and not drop for k, drop in zip(plan.entries, dropped, strict=True)]
    fixed = [integers_of(row) for row in (begin, end, strides)]
    picked = [None if row is None else [row[k] for k in plan.entries if k < len(row)] for row in fixed]
    steps = picked[2]
    if steps is None or len(steps) < len(plan.entries):
        steps = None if steps is None else steps + [1] * (len(plan.entries) - len(steps))
    if steps is None and not any(no_begin) and not any(no_end) and not any(dropped):
        return [_picked(build, row, plan) for row in (begin, end, strides)]
    if steps is None:
        strides = _picked(build, strides, plan)
        if any(dropped):
            strides = build.add(Where(), build.constant(np.array(dropped)), build.int64(1), strides)
        falling = build.add(Less(), strides, build.int64(0))
        open_ends = [build.add(Where(), falling, build.int64(a), build.int64(b)) for a, b in ((LAST, 0), (FIRST, LAST))]
    else:
        steps = [1 if drop else step for step, drop in zip(steps, dropped, strict=True)]
        strides = build.int64(*steps, name="steps")
        open_ends = [build.int64(*(a if s < 0 else b for s in steps)) for a, b in ((LAST, 0), (FIRST, LAST))]
    starts = _row(build, picked[0], begin, plan, no_begin, open_ends[0])
    ends = _row(build, picked[1], end, plan, no_end, open_ends[1])
    if any(dropped):
        ends = _after(build, starts, ends, dropped)
    return [starts, ends, strides]


def _picked(build: Builder, row: Value, plan: _Plan) -> Value:
    """The elements of the entries that cut."""
    if plan.entries == list(range(length_of(row) or -1)):
        return row
    return build.add(Gather(), row, build.int64(*plan.entries))


def _row(build: Builder, fixed: list[int] | None, row: Value, plan: _Plan, is_open: list[bool], ends: Value) -> Value:
    """The starts or ends, with the open ones filled in."""
    open_ends = integers_of(ends)
    if fixed is not None and open_ends is not None:
        chosen = zip(is_open, open_ends, fixed, strict=True)
        return build.int64(*(free if opened else number for opened, free, number in chosen))
    chosen_rows = _picked(build, row, plan)
    return build.add(Where(), build.constant(np.array(is_open)), ends, chosen_rows) if any(is_open) else chosen_rows


def _after(build: Builder, starts: Value, ends: Value, dropped: list[bool]) -> Value:
    """Ends one behind the start where an axis goes; behind the last element that is the end of the axis."""
    fixed, others = integers_of(starts), integers_of(ends)
    if fixed is not None and others is not None:
        chosen = zip(dropped, fixed, others, strict=True)
        return build.int64(*((LAST if a == -1 else a + 1) if drop else b for drop, a, b in chosen))
    after = build.add(Add(), starts, build.int64(1))
    after = build.add(Where(), build.add(Equal(), starts, build.int64(-1)), build.int64(LAST), after)
    return build.add(Where(), build.constant(np.array(dropped)), after, ends)
