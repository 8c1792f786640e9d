"""Closed forms of what a loop carries: sums, extremes, conjunctions, values that are overwritten, tensors that grow.

A recurrence is found by algebra: the update of a carried value is followed from its result back to the value, through
nodes that keep its form, and what they add to it on the way are terms that other iterations do not change. Each has
`final`, the value after the last iteration, and, where ops for that exist, `table`: the value before each iteration and
after the last, one under the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, FLOAT32, FLOAT64, INT32, INT64, is_float, is_integer
from whorl.ir.graph import Node, Op, Value
from whorl.ir.types import TensorType
from whorl.ops.elementwise.arithmetic import Add, Max, Min, Mul, Neg, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Equal, Where
from whorl.ops.elementwise.logic import And, Not, Or
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.selection import Compress
from whorl.ops.reduce.cumulative import CumSum
from whorl.ops.reduce.reductions import ReduceMax, ReduceMin, ReduceProd, ReduceSum
from whorl.passes.rules.conditions import same_type
from whorl.passes.rules.pattern import maker, tensor_type
from whorl.passes.vectorize.batched import Batched, CannotVectorize, align, lengths_of
from whorl.passes.vectorize.stacks import Stacks

SUMMED = frozenset((INT32, INT64, FLOAT32, FLOAT64))
"""Element types that runtimes have cumulative sums and reductions for."""
Terms = Mapping[Value, Batched]
"""What is known of a body's values for all iterations."""


Merge = Callable[[Op, Batched, bool], "Batched | None"]
"""The term that an operand of a node stands for, beside the state as its first operand or as its second; None for an op
that does not keep the form."""


class Chain(Struct):
    """The nodes from a carried value to its update, and what they add to it."""

    state: Value
    known: Terms
    build: Builder
    regroups: bool
    nodes: set[Node] = field(default_factory=set[Node])

    def term(self, value: Value | None) -> Batched | None:
        return None if value is None else self.known.get(value)

    def follow(self, value: Value, merge: Merge, none: float) -> list[Batched] | None:
        """The terms that take the state to a value by ops that `merge` knows; None where others are between.

        `none` is the element that changes nothing, for iterations that leave the state as it is.
        """
        if value is self.state:
            return []
        node = maker(value)
        if node is None:
            return None
        self.nodes.add(node)
        if isinstance(node.op, Where):
            return self._select(node, merge, none)
        if len(node.inputs) != 2:
            return None
        for k in (0, 1):
            inner, other = node.inputs[k], self.term(node.inputs[1 - k])
            term = None if other is None else merge(node.op, other, k == 0)
            before = None if term is None or inner is None else self.follow(inner, merge, none)
            if before is not None and term is not None:
                return [*before, term]
        return None

    def _select(self, node: Node, merge: Merge, none: float) -> list[Batched] | None:
        """One side adds a term and the other leaves the state as it is: the term is added where the condition holds."""
        condition = self.term(node.inputs[0])
        sides = [self.follow(value, merge, none) for value in node.inputs[1:] if value is not None]
        if condition is None or None in sides:
            return None
        then, other = sides
        assert then is not None and other is not None
        if len(then) + len(other) != 1:
            return None
        (term,) = then or other
        neutral = Batched(self.build.constant(np.array(none, tensor_type(term.value).dtype)), is_mapped=False)
        parts = (condition, term, neutral) if then else (condition, neutral, term)
        rank = max(x.rank for x in parts)
        is_mapped = any(x.is_mapped for x in parts)
        return [Batched(self.build.add(Where(), *(align(x, rank, self.build) for x in parts)), is_mapped)]


class Recurrence(Struct):
    """The closed form of a carried value; `state` is the value in the body, `nodes` those that update it."""

    state: Value
    nodes: set[Node]

    def table(self, stacks: Stacks, first: Value) -> Value:
        """The value before each iteration and after the last. Errors: CannotVectorize."""
        raise CannotVectorize("no op gives all of its values")

    def final(self, stacks: Stacks, first: Value) -> Value:
        """The value after the last iteration."""
        return stacks.at(self.table(stacks, first), -1)


class Sum(Recurrence):
    """state + term, in the order of the iterations unless sums may be regrouped."""

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

    def final(self, stacks: Stacks, first: Value) -> Value:
        if not self.regroups:
            return super().final(stacks, first)
        build = stacks.build
        total = build.add(ReduceSum(keepdims=0), self._rows(stacks, first), build.int64(0), name=self.state.name)
        return build.add(Add(), first, total, name=self.state.name)


class Reduced(Recurrence):
    """op(state, term) for an op of which every order gives the same."""

    term: Batched
    op: Op

    def final(self, stacks: Stacks, first: Value) -> Value:
        build, rows = stacks.build, stacks.after(first, stacks.all_rows(self.term, first))
        dtype = tensor_type(first).dtype
        if dtype != BOOL:
            return build.add(self.op, rows, build.int64(0), name=self.state.name)
        return build.add(Cast(BOOL), build.add(self.op, build.add(Cast(INT32), rows), build.int64(0)))


class AllOrAny(Reduced):
    """A conjunction or disjunction, whose table counts the terms that decide it."""

    def table(self, stacks: Stacks, first: Value) -> Value:
        build, is_all = stacks.build, isinstance(self.op, ReduceMin)
        rows = stacks.after(first, stacks.all_rows(self.term, first))
        deciding = build.add(Cast(INT32), build.add(Not(), rows) if is_all else rows)
        count = build.add(CumSum(), deciding, build.constant(np.array(0, np.int64)))
        none = build.add(Equal(), count, build.constant(np.array(0, np.int32)), name=self.state.name)
        return none if is_all else build.add(Not(), none, name=self.state.name)


class Overwritten(Recurrence):
    """A value that no iteration computes from itself; with a `mask`, of one element, some leave it as it is."""

    term: Batched
    mask: Batched | None

    def table(self, stacks: Stacks, first: Value) -> Value:
        build, rows = stacks.build, stacks.all_rows(self.term, first)
        if self.mask is None:
            return stacks.after(first, rows)
        values = stacks.after(first, self._writes(stacks, rows))
        return build.add(Gather(0), values, self._count(stacks), name=self.state.name)

    def final(self, stacks: Stacks, first: Value) -> Value:
        rows = stacks.all_rows(self.term, first)
        if self.mask is not None:
            return stacks.at(stacks.after(first, self._writes(stacks, rows)), -1)
        return stacks.last(first, rows)

    def _flags(self, stacks: Stacks) -> Value:
        assert self.mask is not None
        scalar = stacks.build.constant(np.array(False))
        flat = self.mask if self.mask.rank == 0 else Batched(stacks.flat(self.mask), self.mask.is_mapped)
        return stacks.all_rows(flat, scalar)

    def _writes(self, stacks: Stacks, rows: Value) -> Value:
        """The rows that are written."""
        return stacks.build.add(Compress(0), rows, self._flags(stacks), name=self.state.name)

    def _count(self, stacks: Stacks) -> Value:
        """How often it was written before each iteration and after the last."""
        build = stacks.build
        ones = stacks.after(build.constant(np.array(0, np.int64)), build.add(Cast(INT64), self._flags(stacks)))
        return build.add(CumSum(), ones, build.constant(np.array(0, np.int64)), name="writes")


class Grown(Recurrence):
    """A tensor that gets more along an axis, behind or in front; with a `mask`, in some iterations."""

    term: Batched
    axis: int
    in_front: bool
    mask: Batched | None

    def final(self, stacks: Stacks, first: Value) -> Value:
        build = stacks.build
        rows = stacks.each(self.term)
        if self.mask is not None:
            scalar = build.constant(np.array(False))
            flat = self.mask if self.mask.rank == 0 else Batched(stacks.flat(self.mask), self.mask.is_mapped)
            rows = build.add(Compress(0), rows, stacks.all_rows(flat, scalar))
        parts = [first, stacks.merged(stacks.reversed(rows, 0) if self.in_front else rows, self.axis)]
        return build.add(Concat(self.axis), *(parts[::-1] if self.in_front else parts), name=self.state.name)


def recurrence_of(chain: Chain, result: Value, first: Value) -> Recurrence | None:
    """The closed form of a carried value, by its update and its value before the loop; None where there is none, or
    where it needs terms that are not known yet."""
    if not isinstance(first.type, TensorType) or not isinstance(result.type, TensorType):
        return None
    for find in (_overwritten, _grown, _sum, _product, _extreme, _all_or_any):
        before = len(chain.build.region.nodes)
        form = find(replace(chain, nodes=set()), result, first)
        if form is not None:
            return form
        del chain.build.region.nodes[before:]
    return None


def _keeps_type(chain: Chain, result: Value, first: Value) -> bool:
    return same_type(chain.state.type, result.type) and same_type(first.type, chain.state.type)


def _overwritten(chain: Chain, result: Value, first: Value) -> Recurrence | None:
    term = chain.term(result)
    if not same_type(first.type, result.type):
        return None
    if term is not None:
        return Overwritten(chain.state, chain.nodes, term, None)
    node = maker(result)
    if node is None or not isinstance(node.op, Where):
        return None
    condition, then, other = node.inputs
    mask, term = chain.term(condition), chain.term(then)
    if mask is None or term is None or other is not chain.state or not _is_one(condition):
        return None
    chain.nodes.add(node)
    return Overwritten(chain.state, chain.nodes, term, mask)


def _is_one(value: Value | None) -> bool:
    return value is not None and all(dim == 1 for dim in lengths_of(value))


def _grown(chain: Chain, result: Value, first: Value) -> Recurrence | None:
    node = maker(result)
    if node is None or not isinstance(node.op, Concat) or len(node.inputs) != 2:
        return None
    a, b = node.inputs
    term = chain.term(b if a is chain.state else a)
    if (a is chain.state) is (b is chain.state) or term is None:
        return None
    chain.nodes.add(node)
    axis = node.op.axis % Batched(first, is_mapped=False).rank
    return Grown(chain.state, chain.nodes, term, axis, b is chain.state, None)


def _sum(chain: Chain, result: Value, first: Value) -> Recurrence | None:
    dtype = tensor_type(first).dtype
    if dtype not in SUMMED or not _keeps_type(chain, result, first):
        return None

    def merge(op: Op, term: Batched, is_first: bool) -> Batched | None:
        if isinstance(op, Sub) and is_first:
            return Batched(chain.build.add(Neg(), term.value), term.is_mapped)
        return term if isinstance(op, Add) else None

    terms = chain.follow(result, merge, -0.0 if is_float(dtype) else 0)
    regroups = chain.regroups or is_integer(dtype)
    if not terms or (len(terms) > 1 and not regroups):
        return None
    return Sum(chain.state, chain.nodes, terms, regroups)


def _product(chain: Chain, result: Value, first: Value) -> Recurrence | None:
    dtype = tensor_type(first).dtype
    if not (chain.regroups or is_integer(dtype)):
        return None
    return _reduced(chain, result, first, Mul, ReduceProd(keepdims=0), 1)


def _extreme(chain: Chain, result: Value, first: Value) -> Recurrence | None:
    dtype = tensor_type(first).dtype
    if dtype not in SUMMED:
        return None
    least, most = (-np.inf, np.inf) if is_float(dtype) else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return _reduced(chain, result, first, Max, ReduceMax(keepdims=0), least) or _reduced(
        chain, result, first, Min, ReduceMin(keepdims=0), most
    )


def _reduced(chain: Chain, result: Value, first: Value, kind: type[Op], op: Op, none: float) -> Reduced | None:
    """The closed form of a chain of one op with one term."""
    if tensor_type(first).dtype not in SUMMED or not _keeps_type(chain, result, first):
        return None
    term = _one_term(chain, result, kind, none)
    return None if term is None else Reduced(chain.state, chain.nodes, term, op)


def _one_term(chain: Chain, result: Value, kind: type[Op], none: float) -> Batched | None:
    chain.nodes.clear()
    terms = chain.follow(result, lambda op, term, is_first: term if type(op) is kind else None, none)
    return terms[0] if terms and len(terms) == 1 else None


def _all_or_any(chain: Chain, result: Value, first: Value) -> Recurrence | None:
    if tensor_type(first).dtype != BOOL or not _keeps_type(chain, result, first):
        return None
    if (term := _one_term(chain, result, And, True)) is not None:
        return AllOrAny(chain.state, chain.nodes, term, ReduceMin(keepdims=0))
    term = _one_term(chain, result, Or, False)
    return None if term is None else AllOrAny(chain.state, chain.nodes, term, ReduceMax(keepdims=0))
