"""Closed forms of what a loop carries: its value after the last iteration, and the table of all of its values.

The table has the value before each iteration and after the last, one under the other. Not every form has ops for one.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from msgspec import Struct

from whorl.ir.dtypes import BOOL, INT32, INT64, is_float
from whorl.ir.graph import Node, Op, Value
from whorl.ops.elementwise.arithmetic import Add, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Equal, IsNaN, Where
from whorl.ops.elementwise.logic import Not
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.filling import Range
from whorl.ops.movement.indexing import Gather, GatherElements
from whorl.ops.movement.selection import Compress
from whorl.ops.movement.shapes import Squeeze, Unsqueeze
from whorl.ops.reduce.cumulative import CumSum
from whorl.ops.reduce.reductions import ArgMax, ArgMin, ReduceMax, ReduceMin, ReduceSum
from whorl.ops.sequence.sequences import SplitToSequence
from whorl.passes.rules.conditions import elements as elements_of
from whorl.passes.rules.pattern import maker, tensor_type
from whorl.passes.vectorize.batched import Batched, CannotVectorize, align
from whorl.passes.vectorize.extremes import extremes_so_far
from whorl.passes.vectorize.stacks import Stacks


class Recurrence(Struct):
    """The closed form of a carried value; `state` is the value in the body, `nodes` those that update it."""

    title: ClassVar[str]

    state: Value
    nodes: set[Node]

    def table(self, stacks: Stacks, first: Value) -> Value:
        """The value before each iteration and after the last. Errors: CannotVectorize."""
        raise CannotVectorize("no op gives all of its values")

    def before(self, stacks: Stacks, first: Value) -> Value:
        """The value before each iteration. Errors: CannotVectorize."""
        return stacks.first(self.table(stacks, first), stacks.count)

    def after(self, stacks: Stacks, first: Value) -> Value:
        """The value after each iteration. Errors: CannotVectorize."""
        return stacks.without_first(self.table(stacks, first))

    def final(self, stacks: Stacks, first: Value) -> Value:
        """The value after the last iteration."""
        return stacks.at(self.table(stacks, first), -1)


class Sum(Recurrence):
    """state + term, in the order of the iterations unless sums may be regrouped.

    The sum of floats begins with the first value, but for 0: no sum that begins with 0 is -0, so that adding 0 to a sum
    without it gives the same.
    """

    title = "a sum"

    terms: list[Batched]
    regroups: bool

    def _rows(self, stacks: Stacks, first: Value) -> Value:
        total = self.terms[0]
        for term in self.terms[1:]:
            rank = max(total.rank, term.rank)
            both = (align(x, rank, stacks.build) for x in (total, term))
            total = Batched(stacks.build.add(Add(), *both), total.is_mapped or term.is_mapped)
        return stacks.all_rows(total, first)

    def table(self, stacks: Stacks, first: Value) -> Value:
        rows = stacks.after(first, self._rows(stacks, first))
        return stacks.build.add(CumSum(), rows, stacks.build.constant(np.array(0, np.int64)), name=self.state.name)

    def before(self, stacks: Stacks, first: Value) -> Value:
        return self._totals(stacks, first, CumSum(exclusive=1)) or super().before(stacks, first)

    def after(self, stacks: Stacks, first: Value) -> Value:
        return self._totals(stacks, first, CumSum()) or super().after(stacks, first)

    def _totals(self, stacks: Stacks, first: Value, op: CumSum) -> Value | None:
        """The sums of the terms, and the first value; None where order forbids that, or it takes longer."""
        build = stacks.build
        if not is_zero(first) and not (self.regroups and Batched(first, is_mapped=False).rank == 0):
            return None
        totals = build.add(op, self._rows(stacks, first), build.constant(np.array(0, np.int64)), name=self.state.name)
        dtype = tensor_type(first).dtype
        if is_zero(first):
            return build.add(Add(), totals, build.constant(np.zeros((), dtype)), name=self.state.name)
        return build.add(Add(), totals, first, name=self.state.name)

    def final(self, stacks: Stacks, first: Value) -> Value:
        if not self.regroups:
            after = self._totals(stacks, first, CumSum())
            return super().final(stacks, first) if after is None else stacks.last(first, after)
        build = stacks.build
        total = build.add(ReduceSum(keepdims=0), self._rows(stacks, first), build.int64(0), name=self.state.name)
        return build.add(Add(), first, total, name=self.state.name)


class Reduced(Recurrence):
    """op(state, term) for an op of which every order gives the same."""

    title = "a reduction"

    term: Batched
    op: Op

    def table(self, stacks: Stacks, first: Value) -> Value:
        if not isinstance(self.op, ReduceMax | ReduceMin):
            return super().table(stacks, first)
        return extremes_so_far(stacks.build, stacks.after(first, stacks.all_rows(self.term, first)), self.op)

    def final(self, stacks: Stacks, first: Value) -> Value:
        build, rows = stacks.build, stacks.after(first, stacks.all_rows(self.term, first))
        dtype = tensor_type(first).dtype
        if dtype != BOOL:
            return build.add(self.op, rows, build.int64(0), name=self.state.name)
        return build.add(Cast(BOOL), build.add(self.op, build.add(Cast(INT32), rows), build.int64(0)))


class AllOrAny(Reduced):
    """A conjunction or disjunction, whose table counts the terms that decide it."""

    title = "a count of what decides it"

    def table(self, stacks: Stacks, first: Value) -> Value:
        build, is_all = stacks.build, isinstance(self.op, ReduceMin)
        rows = stacks.after(first, stacks.all_rows(self.term, first))
        deciding = build.add(Cast(INT32), build.add(Not(), rows) if is_all else rows)
        count = build.add(CumSum(), deciding, build.constant(np.array(0, np.int64)))
        none = build.add(Equal(), count, build.constant(np.array(0, np.int32)), name=self.state.name)
        return none if is_all else build.add(Not(), none, name=self.state.name)


class Overwritten(Recurrence):
    """A value that no iteration computes from itself."""

    title = "a shift"

    term: Batched

    def table(self, stacks: Stacks, first: Value) -> Value:
        return stacks.after(first, stacks.all_rows(self.term, first))

    def final(self, stacks: Stacks, first: Value) -> Value:
        return stacks.last(first, stacks.all_rows(self.term, first))


class OverwrittenWhere(Recurrence):
    """A value that iterations overwrite where a mask of one element holds."""

    title = "the last that was written"

    term: Batched
    mask: Batched

    def table(self, stacks: Stacks, first: Value) -> Value:
        build, flags = stacks.build, stacks.flags(self.mask)
        ones = stacks.after(build.constant(np.array(0, np.int64)), build.add(Cast(INT64), flags))
        count = build.add(CumSum(), ones, build.constant(np.array(0, np.int64)), name="writes")
        return build.add(Gather(0), self._values(stacks, first), count, name=self.state.name)

    def final(self, stacks: Stacks, first: Value) -> Value:
        return stacks.at(self._values(stacks, first), -1)

    def _values(self, stacks: Stacks, first: Value) -> Value:
        """The first value and those that overwrite it."""
        rows = stacks.all_rows(self.term, first)
        written = stacks.build.add(Compress(0), rows, stacks.flags(self.mask), name=self.state.name)
        return stacks.after(first, written)


class Grown(Recurrence):
    """A tensor that gets more along an axis, behind or in front; with a `mask`, in some iterations."""

    title = "one concatenation"

    term: Batched
    axis: int
    in_front: bool
    mask: Batched | None

    def final(self, stacks: Stacks, first: Value) -> Value:
        build = stacks.build
        rows = stacks.each(self.term)
        if self.mask is not None:
            rows = build.add(Compress(0), rows, stacks.flags(self.mask))
        parts = [first, stacks.merged(stacks.reversed(rows, 0) if self.in_front else rows, self.axis)]
        return build.add(Concat(self.axis), *(parts[::-1] if self.in_front else parts), name=self.state.name)


class Appended(Recurrence):
    """A sequence that gets an element at its end; with a `mask`, in some iterations. At first it is empty."""

    title = "one tensor"

    term: Batched
    mask: Batched | None

    def final(self, stacks: Stacks, first: Value) -> Value:
        rows = stacks.each(self.term)
        if self.mask is not None:
            rows = stacks.build.add(Compress(0), rows, stacks.flags(self.mask))
        return stacks.build.add(SplitToSequence(0, 0), rows, name=self.state.name)


class Beaten(Recurrence):
    """What goes with the first key that beats all before it, or with the last that is not beaten: `find` says which."""

    title = "what goes with the best"

    key: Batched
    first_key: Value
    term: Batched
    find: ArgMax | ArgMin

    def final(self, stacks: Stacks, first: Value) -> Value:
        build = stacks.build
        best = build.add(self.find, self._keys(stacks), name="best")
        if _counts_from_0(self.term):
            zero, one = (build.constant(np.array(n, np.int64)) for n in (0, 1))
            number, is_first = build.add(Sub(), best, one), build.add(Equal(), best, zero)
            return build.add(Where(), is_first, first, number, name=self.state.name)
        rows = stacks.after(first, stacks.all_rows(self.term, first))
        if not Batched(first, is_mapped=False).rank:
            return build.add(Gather(0), rows, best, name=self.state.name)
        at = build.add(Unsqueeze(), best, build.int64(0))
        return build.add(Squeeze(), build.add(GatherElements(0), rows, at), build.int64(0), name=self.state.name)

    def _keys(self, stacks: Stacks) -> Value:
        """The first key and all others; NaN beats nothing, and nothing beats a first key that is NaN."""
        build, rows = stacks.build, stacks.all_rows(self.key, self.first_key)
        first, dtype = self.first_key, tensor_type(self.first_key).dtype
        if is_float(dtype):
            sign = 1 if isinstance(self.find, ArgMax) else -1
            best, worst = (build.constant(np.array(x, dtype)) for x in (sign * np.inf, -sign * np.inf))
            first = build.add(Where(), build.add(IsNaN(), first), best, first, name=first.name)
            rows = build.add(Where(), build.add(IsNaN(), rows), worst, rows, name=rows.name)
        return stacks.after(first, rows)


def _counts_from_0(term: Batched) -> bool:
    """Whether a value of each iteration is its number."""
    node = maker(term.value)
    if node is None or not isinstance(node.op, Range):
        return False
    start, step = (None if value is None else elements_of(value) for value in node.inputs[::2])
    return start is not None and step is not None and not np.any(start) and bool(np.all(step == 1))


def is_zero(value: Value) -> bool:
    """Whether a value is a constant of zeros, none of them -0."""
    elements = elements_of(value)
    return elements is not None and not np.any(elements) and not np.any(np.signbit(elements))
