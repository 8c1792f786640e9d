"""Sequences that are the parts of one tensor: what is read of them is read of the tensor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.ir.graph import Value
from whorl.ops.core.base import known_ints
from whorl.ops.elementwise.arithmetic import Add, Div
from whorl.ops.movement.axes import Concat, Transpose
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.shapes import Reshape, Shape, Squeeze, Unsqueeze
from whorl.ops.reduce.reductions import ReduceProd
from whorl.ops.sequence.sequences import ConcatFromSequence, SequenceAt, SequenceLength, SplitToSequence
from whorl.passes.rules.pattern import AnyRule, Match, NodeRule, maker, tensor_type


def split_of(sequence: Value | None) -> tuple[Value, int, int | None] | None:
    """The tensor that a sequence is cut from, the axis, and the length of its parts, None where they lack the axis.

    None where the sequence is no such one: where lengths differ, or are known only at run time.
    """
    node = maker(sequence)
    if node is None or not isinstance(node.op, SplitToSequence) or node.inputs[0] is None:
        return None
    rank = tensor_type(node.inputs[0]).rank
    if not rank:
        return None
    axis, split = node.op.axis % rank, node.inputs[1] if len(node.inputs) > 1 else None
    if split is None:
        return node.inputs[0], axis, 1 if node.op.keepdims else None
    lengths = known_ints(split)
    if lengths is None or tensor_type(split).rank or lengths[0] < 1:
        return None
    return node.inputs[0], axis, lengths[0]


def _length(m: Match) -> Value | None:
    """The number of parts: the length of the axis, in parts that are whole but for the last."""
    split = split_of(m.node.inputs[0])
    if split is None:
        return None
    x, axis, part = split
    length = m.add(Squeeze(), m.add(Shape(axis, axis + 1), x), _vector(m, 0))
    if part is None or part == 1:
        return length
    larger = m.add(Add(), length, m.constant(np.array(part - 1, np.int64)))
    return m.add(Div(), larger, m.constant(np.array(part, np.int64)))


def _element(m: Match) -> Value | None:
    """One part: its row, where parts have one."""
    split = split_of(m.node.inputs[0])
    if split is None or (split[2] or 1) != 1 or m.rewriter.context.options.keep_errors:
        return None
    x, axis, part = split
    position = m.node.inputs[1]
    if tensor_type(position).rank:
        position = m.add(Reshape(), position, _vector(m))
    row = m.add(Gather(axis), x, position)
    return row if part is None else m.add(Unsqueeze(), row, _vector(m, axis))


def _whole(m: Match) -> Value | None:
    """All parts together: the tensor, in another order of axes. No parts at all are then no error."""
    split, op = split_of(m.node.inputs[0]), m.node.op
    if split is None or m.rewriter.context.options.keep_errors:
        return None
    assert isinstance(op, ConcatFromSequence)
    x, axis, part = split
    rank = tensor_type(x).rank or 0
    if part is not None and not op.new_axis:
        return x if op.axis % rank == axis else None
    if part is not None:
        return None
    return _stacked(m, x, axis, op.axis % rank) if op.new_axis else _merged(m, x, axis, op.axis % (rank - 1))


def _stacked(m: Match, x: Value, axis: int, target: int) -> Value:
    """The tensor with an axis in another place."""
    rank = tensor_type(x).rank or 0
    order = [k for k in range(rank) if k != axis]
    order.insert(target, axis)
    return x if order == sorted(order) else m.add(Transpose(tuple(order)), x)


def _merged(m: Match, x: Value, axis: int, target: int) -> Value:
    """The rows along an axis one after the other along one of theirs."""
    moved = _stacked(m, x, axis, target)
    total = m.add(ReduceProd(), m.add(Shape(target, target + 2), moved), _vector(m, 0))
    lengths = m.add(Concat(0), m.add(Shape(0, target), moved), total, m.add(Shape(target + 2), moved))
    return m.add(Reshape(allowzero=1), moved, lengths)


def _vector(m: Match, *numbers: int) -> Value:
    return m.constant(np.array(numbers, np.int64))


RULES: Sequence[AnyRule] = (
    NodeRule("LengthOfSplit", (SequenceLength,), _length),
    NodeRule("ElementOfSplit", (SequenceAt,), _element),
    NodeRule("ConcatOfSplitToSequence", (ConcatFromSequence,), _whole),
)
