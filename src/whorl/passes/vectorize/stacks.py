"""Stacks of rows as values: what scanned values are row by row, rows joined again, rows before others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Node, Value
from whorl.ops.control.flow import Collected, Loop, Scanned, known_bool
from whorl.ops.core.base import known_dims
from whorl.ops.elementwise.arithmetic import Div, Max, Min
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Where
from whorl.ops.movement.axes import Concat, Slice
from whorl.ops.movement.filling import Range
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.lengths import bounds
from whorl.ops.movement.shapes import Expand, Reshape, Shape, Unsqueeze
from whorl.ops.reduce.reductions import ReduceProd
from whorl.passes.rules.pattern import tensor_type
from whorl.passes.vectorize.batched import (
    Batched,
    CannotVectorize,
    align,
    as_scalar,
    give_all_rows,
    lengths_of,
    move_axis,
)

LAST = np.iinfo(np.int64).min
"""Where a slice ends that goes backwards to the first element."""


FAR = np.iinfo(np.int64).max
"""Where a slice ends that goes to the last element."""


class Stacks:
    """Adds the nodes for the iterations of one loop; `count` is their number, a vector of one."""

    def __init__(self, node: Node, build: Builder) -> None:
        assert isinstance(node.op, Loop)
        self.node, self.op, self.build = node, node.op, build
        self.has_trip = False
        self.count = self._count()

    # ---- how many --------------------------------------------------------------------------------------------

    def _count(self) -> Value:
        build = self.build
        trip, condition, _, scanned, _ = self.op.split(self.node.inputs)
        counts = [self._slices(x, how) for x, how in zip(scanned, self.op.scanned, strict=True)]
        self._require_one_length(counts)
        counts = counts[:1]
        if trip is not None:
            number = build.add(Reshape(), trip, build.int64(1), name="trips")
            if tensor_type(number).dtype != INT64:
                number = build.add(Cast(INT64), number, name="trips")
            if not is_at_least(number, 0):
                number = build.add(Max(), number, build.int64(0), name="trips")
            if not counts or known_dims(counts[0]) != known_dims(number) or known_dims(number) is None:
                counts.append(number)
                self.has_trip = bool(scanned)
        if not counts:
            raise CannotVectorize("only its condition ends it")
        count = counts[0] if len(counts) == 1 else build.add(Min(), *counts, name="iterations")
        if condition is not None and known_bool(condition) is not True:
            self.has_trip = bool(scanned)
            condition = build.add(Reshape(), condition, build.int64(1), name="begins")
            count = build.add(Where(), condition, count, build.int64(0), name="iterations")
        return count

    def _slices(self, value: Value, how: Scanned) -> Value:
        """The number of slices of a scanned value, a vector of one."""
        axis = Batched(value, is_mapped=False).axis(how.axis)
        length = self.build.add(Shape(axis, axis + 1), value, name="length")
        return length if how.part == 1 else self.build.add(Div(), length, self.build.int64(how.part), name="parts")

    def _require_one_length(self, counts: Sequence[Value]) -> None:
        lengths = [(known_dims(count) or (dims.UNKNOWN,))[0] for count in counts]
        if any(not dims.equal(lengths[0], n) for n in lengths[1:]):
            raise CannotVectorize("its scanned inputs may differ in length")
        _, _, _, scanned, _ = self.op.split(self.node.inputs)
        for value, how in zip(scanned, self.op.scanned, strict=True):
            length = lengths_of(value)[how.axis]
            if how.part > 1 and not (isinstance(length, int) and length % how.part == 0):
                raise CannotVectorize("its scanned inputs may not fall into whole parts")
        if self.op.slices_suffice:
            raise CannotVectorize("its scanned inputs may end before it does")

    @property
    def is_some(self) -> bool:
        """Whether there surely is an iteration."""
        return is_at_least(self.count, 1)

    # ---- what iterations see ---------------------------------------------------------------------------------

    def numbers(self, argument: Value) -> Batched:
        """The iteration numbers, of the rank that the body takes them in."""
        build = self.build
        limit = build.add(Reshape(), self.count, build.int64(), name="iterations")
        zero, one = (build.constant(np.array(n, np.int64)) for n in (0, 1))
        numbers = build.add(Range(), zero, limit, one, name=argument.name)
        rank = tensor_type(argument).rank
        return Batched(build.add(Unsqueeze(), numbers, build.int64(1), name=argument.name) if rank else numbers)

    def goes_on(self, argument: Value) -> Batched:
        """That the loop goes on."""
        return Batched(self.build.constant(np.full((1,) * (tensor_type(argument).rank or 0), True)), is_mapped=False)

    def slices(self, value: Value, how: Scanned) -> Batched:
        """What iterations see of a scanned value."""
        build, axis = self.build, Batched(value, is_mapped=False).axis(how.axis)
        rows = move_axis(value, axis, 0, build)
        if how.keep_axis:
            rest = build.add(Shape(1), rows, name="shape")
            parts = build.add(Concat(0), self._slices(value, how), build.int64(how.part), rest, name="shape")
            rows = move_axis(build.add(Reshape(), rows, parts, name=value.name), 1, 1 + axis, build)
        if how.reverse:
            rows = self.reversed(rows, 0)
        return Batched(self.first(rows, self.count) if self.has_trip else rows)

    # ---- rows ------------------------------------------------------------------------------------------------

    def first(self, rows: Value, count: Value) -> Value:
        """The first rows, so many."""
        return self.build.add(Slice(), rows, self.build.int64(0), count, self.build.int64(0), name=rows.name)

    def without_first(self, rows: Value) -> Value:
        """All rows but the first."""
        numbers = (self.build.int64(n) for n in (1, FAR, 0))
        return self.build.add(Slice(), rows, *numbers, name=rows.name)

    def reversed(self, value: Value, axis: int) -> Value:
        """The value with the order along an axis turned round."""
        numbers = (self.build.int64(n) for n in (-1, LAST, axis, -1))
        return self.build.add(Slice(), value, *numbers, name=value.name)

    def after(self, first: Value, rows: Value) -> Value:
        """One row and then others."""
        row = self.build.add(Unsqueeze(), first, self.build.int64(0), name=first.name)
        return self.build.add(Concat(0), row, rows, name=rows.name)

    def at(self, rows: Value, index: int) -> Value:
        """One row."""
        return self.build.add(Gather(0), rows, self.build.constant(np.array(index, np.int64)), name=rows.name)

    def last(self, first: Value, rows: Value) -> Value:
        """The last row, or another value where there is none."""
        if self.is_some:
            return self.at(rows, -1)
        numbers = (self.build.int64(n) for n in (-1, FAR, 0))
        return self.at(self.after(first, self.build.add(Slice(), rows, *numbers, name=rows.name)), -1)

    def flags(self, mask: Batched) -> Value:
        """A bool for each iteration."""
        return give_all_rows(as_scalar(mask, self.build), self.count, self.build)

    def each(self, value: Batched) -> Value:
        """A row for each iteration."""
        return give_all_rows(value, self.count, self.build)

    def all_rows(self, value: Batched, like: Value) -> Value:
        """A row for each iteration, in the shape of a value that it broadcasts to."""
        rank, build = Batched(like, is_mapped=False).rank, self.build
        rows = Batched(align(value, rank, build), value.is_mapped)
        own, target = lengths_of(rows.value)[rows.is_mapped :], lengths_of(like)
        if not rank or (len(own) == rank and all(map(dims.equal, own, target))):
            return give_all_rows(rows, self.count, build)
        shape = build.add(Concat(0), self.count, build.add(Shape(), like), name="shape")
        return build.add(Expand(), rows.value, shape, name=value.value.name)

    def collected(self, value: Batched, how: Collected, name: str) -> Value:
        """The rows joined as a loop joins what it collects."""
        build, rows = self.build, give_all_rows(value, self.count, self.build)
        if how.stacks(value.rank):
            axis = how.axis % (value.rank + 1)
            result = move_axis(rows, 0, axis, build)
        else:
            axis = how.axis % value.rank
            result = self.merged(self.reversed(rows, 0) if how.reverse else rows, axis)
        if how.reverse and how.stacks(value.rank):
            result = self.reversed(result, axis)
        if result is not value.value:
            result.name = name
        return result

    def merged(self, rows: Value, axis: int) -> Value:
        """The rows one after the other along one of their axes."""
        build = self.build
        moved = move_axis(rows, 0, axis, build)
        pair = build.add(Shape(axis, axis + 2), moved, name="pair")
        total = build.add(ReduceProd(), pair, build.int64(0), name="length")
        before, after = build.add(Shape(0, axis), moved), build.add(Shape(axis + 2), moved)
        return build.add(Reshape(allowzero=1), moved, build.add(Concat(0), before, total, after, name="shape"))


def is_at_least(number: Value, least: int) -> bool:
    """Whether the one element of a value surely is as large."""
    (dim,) = known_dims(number) or (dims.UNKNOWN,)
    low: float = dim if isinstance(dim, int) else bounds(dim)[0] if not isinstance(dim, dims.Unknown) else -1
    return low >= least
