"""Finds closed forms: sums, extremes, conjunctions, what is overwritten, what goes with the best of keys, growth.

A recurrence is found by algebra: the update of a carried value is followed from its result back to the value, through
nodes that keep its form, and what they add to it on the way are terms that other iterations do not change.
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
from whorl.ops.elementwise.comparison import Greater, GreaterOrEqual, Less, LessOrEqual, Where
from whorl.ops.elementwise.logic import And, Not, Or
from whorl.ops.movement.axes import Concat
from whorl.ops.reduce.reductions import ArgMax, ArgMin, ReduceMax, ReduceMin, ReduceProd
from whorl.ops.sequence.sequences import SequenceEmpty, SequenceInsert
from whorl.passes.rules.conditions import same_type
from whorl.passes.rules.pattern import maker, tensor_type
from whorl.passes.vectorize.batched import Batched, align, lengths_of
from whorl.passes.vectorize.branches import selection_of
from whorl.passes.vectorize.forms import (
    AllOrAny,
    Appended,
    Beaten,
    Grown,
    Overwritten,
    OverwrittenWhere,
    Recurrence,
    Reduced,
    Sum,
)
from whorl.passes.vectorize.linear import Linear
from whorl.passes.vectorize.scattering import scattered

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
    others: Mapping[Value, tuple[Value, Value]]
    """The updates and the first values of all that the loop carries."""
    linear: bool = False
    """Whether linear recurrences of floats may become an LSTM of linear activations."""
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
        if (selection := selection_of(node)) is not None:
            return self._select(*selection, merge, none)
        if len(node.inputs) != 2:
            return None
        for k in (0, 1):
            inner, other = node.inputs[k], self.term(node.inputs[1 - k])
            term = None if other is None else merge(node.op, other, k == 0)
            before = None if term is None or inner is None else self.follow(inner, merge, none)
            if before is not None and term is not None:
                return [*before, term]
        return None

    def _select(self, condition: Value, then: Value, other: Value, merge: Merge, none: float) -> list[Batched] | None:
        """One side adds a term and the other leaves the state as it is: the term is added where the condition holds."""
        mask = self.term(condition)
        sides = [self.follow(value, merge, none) for value in (then, other)]
        if mask is None or sides[0] is None or sides[1] is None:
            return None
        return self._add_where(mask, sides[0], sides[1], none)

    def _add_where(self, mask: Batched, then: list[Batched], other: list[Batched], none: float) -> list[Batched] | None:
        if len(then) + len(other) != 1:
            return None
        (term,) = then or other
        neutral = Batched(self.build.constant(np.array(none, tensor_type(term.value).dtype)), is_mapped=False)
        parts = (mask, term, neutral) if then else (mask, neutral, term)
        rank = max(x.rank for x in parts)
        is_mapped = any(x.is_mapped for x in parts)
        return [Batched(self.build.add(Where(), *(align(x, rank, self.build) for x in parts)), is_mapped)]

    def select_state(self, result: Value) -> tuple[Batched, Value] | None:
        """Where the state stays as it is unless a condition holds, of one element: that, and what it becomes then."""
        selection = selection_of(result)
        if selection is None or self.state not in selection[1:]:
            return None
        condition, then, other = selection
        mask = self.term(condition)
        if mask is None or any(dim != 1 for dim in lengths_of(condition)):
            return None
        if then is self.state:
            mask = Batched(self.build.add(Not(), mask.value), mask.is_mapped)
        node = maker(result)
        assert node is not None
        self.nodes.add(node)
        return mask, other if then is self.state else then


def recurrence_of(chain: Chain, result: Value, first: Value) -> Recurrence | None:
    """The closed form of a carried value, by its update and its value before the loop; None where there is none, or
    where it needs terms that are not known yet."""
    if not isinstance(first.type, TensorType) or not isinstance(result.type, TensorType):
        return _appended(chain, result, first)
    for find in (_overwritten, _beaten, _grown, _scattered, _sum, _product, _extreme, _all_or_any, _linear):
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
        return Overwritten(chain.state, chain.nodes, term)
    selected = chain.select_state(result)
    if selected is None:
        return None
    mask, value = selected
    term = chain.term(value)
    return None if term is None else OverwrittenWhere(chain.state, chain.nodes, term, mask)


def _beaten(chain: Chain, result: Value, first: Value) -> Recurrence | None:
    """A key, or what goes with it, that is written where it beats another carried value, the best key so far."""
    selection = selection_of(result)
    if selection is None or chain.state not in selection[1:] or not _keeps_type(chain, result, first):
        return None
    condition, then, other = selection
    wins = other is chain.state
    term, comparison = chain.term(then if wins else other), _comparison(chain, condition, wins)
    if term is None or comparison is None:
        return None
    key, best, find = comparison
    first_key = chain.others[best][1]
    if not _is_best(chain, best, condition, key, wins) or lengths_of(first_key) != lengths_of(first):
        return None
    nodes = [maker(result), maker(condition) if best is chain.state else None]
    chain.nodes.update(node for node in nodes if node is not None)
    return Beaten(chain.state, chain.nodes, chain.known[key], first_key, term, find)


def _comparison(chain: Chain, condition: Value, wins: bool) -> tuple[Value, Value, ArgMax | ArgMin] | None:
    """A key, a carried value, and what finds the key that beats it where the condition holds, or where it does not.

    NaN is neither above nor below: floats are compared by what holds, and of equal ones the first wins.
    """
    node = maker(condition)
    if node is None or type(node.op) not in _MIRRORED:
        return None
    a, b = (value for value in node.inputs if value is not None)
    kind: type[Op] = type(node.op)
    if a in chain.others:
        a, b, kind = b, a, _MIRRORED[kind]
    if chain.term(a) is None or b not in chain.others:
        return None
    find = _BEATS[kind if wins else _NEGATED[kind]]
    if is_float(tensor_type(a).dtype) and not (wins and not find.select_last_index):
        return None
    return a, b, find


_MIRRORED: dict[type[Op], type[Op]] = {
    Greater: Less,
    Less: Greater,
    GreaterOrEqual: LessOrEqual,
    LessOrEqual: GreaterOrEqual,
}
_NEGATED: dict[type[Op], type[Op]] = {
    Greater: LessOrEqual,
    Less: GreaterOrEqual,
    GreaterOrEqual: Less,
    LessOrEqual: Greater,
}
_BEATS: dict[type[Op], ArgMax | ArgMin] = {
    Greater: ArgMax(0, 0),
    GreaterOrEqual: ArgMax(0, 0, 1),
    Less: ArgMin(0, 0),
    LessOrEqual: ArgMin(0, 0, 1),
}
"""What finds the element that stands last where it is written by such a comparison with the one before it."""


def _is_best(chain: Chain, best: Value, condition: Value, key: Value, wins: bool) -> bool:
    """Whether a carried value becomes the key where the condition holds, or does not, and else stays as it is."""
    selection = selection_of(chain.others[best][0])
    if selection is None or selection[0] is not condition:
        return False
    return selection[1:] == ((key, best) if wins else (best, key))


def _grown(chain: Chain, result: Value, first: Value) -> Recurrence | None:
    mask, result = chain.select_state(result) or (None, result)
    node = maker(result)
    if node is None or not isinstance(node.op, Concat) or len(node.inputs) != 2:
        return None
    a, b = node.inputs
    term = chain.term(b if a is chain.state else a)
    if (a is chain.state) is (b is chain.state) or term is None:
        return None
    chain.nodes.add(node)
    axis = node.op.axis % Batched(first, is_mapped=False).rank
    return Grown(chain.state, chain.nodes, term, axis, b is chain.state, mask)


def _appended(chain: Chain, result: Value, first: Value) -> Recurrence | None:
    mask, result = chain.select_state(result) or (None, result)
    node, empty = maker(result), maker(first)
    if node is None or empty is None or not isinstance(empty.op, SequenceEmpty):
        return None
    if not isinstance(node.op, SequenceInsert) or node.inputs[0] is not chain.state or None in node.inputs[1:2]:
        return None
    term = chain.term(node.inputs[1])
    if term is None or len([value for value in node.inputs if value is not None]) > 2:
        return None
    chain.nodes.add(node)
    return Appended(chain.state, chain.nodes, term, mask)


def _scattered(chain: Chain, result: Value, first: Value) -> Recurrence | None:
    if not _keeps_type(chain, result, first):
        return None
    return scattered(chain.state, result, dict(chain.known), chain.regroups)


def _linear(chain: Chain, result: Value, first: Value) -> Recurrence | None:
    """state * factor + term."""
    node = maker(result)
    if not chain.linear or tensor_type(first).dtype != FLOAT32 or not _keeps_type(chain, result, first):
        return None
    if node is None or not isinstance(node.op, Add):
        return None
    for product, term in (node.inputs, node.inputs[::-1]):
        factor = _factor(chain, product)
        if factor is not None and (known := chain.term(term)) is not None:
            chain.nodes.add(node)
            return Linear(chain.state, chain.nodes, factor, known)
    return None


def _factor(chain: Chain, product: Value | None) -> Batched | None:
    """What a product multiplies the state by."""
    node = None if product is None else maker(product)
    if node is None or not isinstance(node.op, Mul) or chain.state not in node.inputs:
        return None
    factor = chain.term(node.inputs[1 if node.inputs[0] is chain.state else 0])
    if factor is not None:
        chain.nodes.add(node)
    return factor


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
