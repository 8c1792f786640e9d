"""Rows of a batch that stop: updates that are selected while the iteration number is below the length of the row."""

from __future__ import annotations

from collections.abc import Mapping

from whorl.ir.dtypes import is_integer
from whorl.ir.graph import Value
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Greater, GreaterOrEqual, Less, LessOrEqual
from whorl.ops.elementwise.logic import Not
from whorl.ops.movement.shapes import Reshape, Squeeze, Unsqueeze
from whorl.passes.rules.pattern import maker, tensor_type
from whorl.passes.vectorize.batched import Batched
from whorl.passes.vectorize.branches import selection_of
from whorl.passes.vectorize.layers import Mask


def masked_update(
    state: Value, update: Value, number: Value, known: Mapping[Value, Batched]
) -> tuple[Mask, Value] | None:
    """What a state becomes in the rows that go on, where it stays as it is in all others."""
    selection = selection_of(update)
    if selection is None or state not in selection[1:]:
        return None
    condition, then, other = selection
    lengths = _lengths(condition, number, known, other is state)
    type = tensor_type(condition)
    is_for_rows = type.rank == tensor_type(state).rank and isinstance(type.shape, tuple) and type.shape[-1:] == (1,)
    if lengths is None or not (is_for_rows or type.rank == 0):
        return None
    return Mask(condition, lengths, other is state), then if other is state else other


def _lengths(condition: Value, number: Value, known: Mapping[Value, Batched], goes_on: bool) -> Value | None:
    """What the iteration number is below where a condition holds, or where it does not."""
    node = maker(condition)
    while node is not None and isinstance(node.op, Reshape | Unsqueeze | Squeeze | Not) and node.inputs[0] is not None:
        goes_on = goes_on is not isinstance(node.op, Not)
        node = maker(node.inputs[0])
    kinds = (Less, Greater) if goes_on else (GreaterOrEqual, LessOrEqual)
    if node is None or not isinstance(node.op, kinds):
        return None
    a, b = node.inputs if isinstance(node.op, kinds[0]) else node.inputs[::-1]
    if a is None or b is None or _source(a) is not number or not is_integer(tensor_type(b).dtype):
        return None
    lengths = known.get(b)
    return None if lengths is None or lengths.is_mapped else lengths.value


def _source(value: Value) -> Value:
    """What a value is but for its axes and its integer type."""
    node = maker(value)
    if node is None or not isinstance(node.op, Cast | Reshape | Unsqueeze | Squeeze) or node.inputs[0] is None:
        return value
    return _source(node.inputs[0]) if is_integer(tensor_type(value).dtype) else value
