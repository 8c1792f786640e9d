"""Constants through choices and pieces: Where, Concat, Split, Slice, Gather, and elementwise ops on what they give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, groupby

import numpy as np

from whorl.ir import dims
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Node, Value
from whorl.ops.core.base import Elementwise, known_ints, length_of
from whorl.ops.elementwise.comparison import Where
from whorl.ops.movement.axes import Concat, Slice, Split
from whorl.ops.movement.filling import Range
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.shapes import Squeeze, Unsqueeze
from whorl.passes.rules.conditions import elements, same_type, static_shape
from whorl.passes.rules.pattern import AnyRule, Match, NodeRule, is_constant, maker, tensor_type

_GROWTH = 4096
"""Elements that a table of results may have more than the table that it is made of."""


# ---- pieces put together -----------------------------------------------------------------------------------------


def _axis(node: Node) -> int | None:
    """The axis of a Concat or Split, counted from the front."""
    assert isinstance(node.op, (Concat, Split))
    rank = tensor_type(node.inputs[0]).rank
    return None if rank is None else node.op.axis % rank


def _flattened(m: Match) -> Value | None:
    """One Concat for nested ones, without empty pieces, neighbouring constants as one."""
    axis = _axis(m.node)
    pieces = [value for value in m.node.inputs if value is not None]
    if axis is None or len(pieces) < 2 or (m.result.known is not None and m.dtype == INT64):
        return None  # inference follows a vector of lengths, and what reads it no longer needs it
    flat: list[Value] = []
    for value in pieces:
        inner = maker(value)
        nested = inner is not None and isinstance(inner.op, Concat) and m.rewriter.uses(value) == 1
        is_same_concat = nested and inner is not None and _axis(inner) == axis
        flat += [v for v in inner.inputs if v is not None] if is_same_concat and inner is not None else [value]
    full = [value for value in flat if not _is_empty(value, axis)] or flat[:1]
    groups = [(fixed, list(group)) for fixed, group in groupby(full, is_constant)]
    if len(full) == len(pieces) and not any(fixed and len(group) > 1 for fixed, group in groups):
        return None
    if len(groups) == 1 and groups[0][0] and len(groups[0][1]) > 1:
        return None
    merged: list[Value] = []
    for fixed, group in groups:
        merged += [m.add(Concat(axis), *group)] if fixed and len(group) > 1 else group
    return merged[0] if len(merged) == 1 else m.add(Concat(axis), *merged)


def _is_empty(value: Value, axis: int) -> bool:
    shape = tensor_type(value).shape
    return isinstance(shape, tuple) and axis < len(shape) and isinstance(shape[axis], int) and shape[axis] == 0


def _rejoined(m: Match) -> Value | None:
    """A Concat of all parts of a Split in their order, as what was split."""
    first = maker(m.node.inputs[0])
    if first is None or not isinstance(first.op, Split) or _axis(first) != _axis(m.node) or _axis(first) is None:
        return None
    return first.inputs[0] if first.outputs == m.node.inputs and len(first.outputs) > 1 else None


def _parts(m: Match) -> Sequence[Value] | None:
    """A Split of a Concat at the borders of its pieces, as the pieces."""
    concat = maker(m.node.inputs[0])
    if concat is None or not isinstance(concat.op, Concat) or _axis(concat) != _axis(m.node):
        return None
    pieces = [value for value in concat.inputs if value is not None]
    if len(pieces) != len(m.node.outputs):
        return None
    pairs = zip(pieces, m.node.outputs, strict=True)
    return pieces if all(same_type(a.type, b.type) for a, b in pairs) else None


# ---- one piece of several ----------------------------------------------------------------------------------------


def _borders(concat: Node, axis: int) -> list[int] | None:
    """Where the pieces of a Concat begin, and where the last one ends."""
    shapes = [static_shape(value.type) for value in concat.inputs if value is not None]
    if any(shape is None for shape in shapes):
        return None
    return [0, *accumulate(shape[axis] for shape in shapes if shape is not None)]


def _gathered_piece(m: Match) -> Value | None:
    """One index into a Concat, as an index into the piece that holds it."""
    assert isinstance(m.node.op, Gather)
    concat, index = maker(m.node.inputs[0]), elements(m.node.inputs[1])
    if concat is None or not isinstance(concat.op, Concat) or index is None or index.ndim:
        return None
    axis = _axis(concat)
    borders = None if axis is None else _borders(concat, axis)
    if axis is None or borders is None or m.node.op.axis % (tensor_type(m.node.inputs[0]).rank or 1) != axis:
        return None
    position = int(index) + (borders[-1] if index < 0 else 0)
    piece_index = next((k for k in range(len(borders) - 1) if borders[k] <= position < borders[k + 1]), None)
    if piece_index is None:
        return None
    piece = concat.inputs[piece_index]
    if piece is not None and borders[piece_index + 1] - borders[piece_index] == 1:
        return m.add(Squeeze(), piece, m.constant(np.array([axis], INT64)))
    return m.add(Gather(axis), piece, m.constant(np.array(position - borders[piece_index], INT64)))


def _sliced_pieces(m: Match) -> Value | None:
    """A slice of a Concat that cuts between pieces, as the pieces."""
    concat, n = maker(m.node.inputs[0]), m.node.inputs
    if concat is None or not isinstance(concat.op, Concat):
        return None
    settings = [elements(value) for value in n[1:]]
    axis, rank = _axis(concat), tensor_type(n[0]).rank
    borders = None if axis is None else _borders(concat, axis)
    if borders is None or axis is None or rank is None:
        return None
    if any(a is None or a.size != 1 for a, v in zip(settings, n[1:], strict=True) if v is not None):
        return None
    start, end, *rest = (1 if a is None else int(a.reshape(-1)[0]) for a in settings)
    named = rest[0] if rest and n[3] is not None else 0
    if named % rank != axis or (len(rest) > 1 and rest[1] != 1):
        return None
    first, last, _ = slice(start, end).indices(borders[-1])
    if first not in borders or last not in borders or first >= last or last - first == borders[-1]:
        return None
    chosen = concat.inputs[borders.index(first) : borders.index(last)]
    return m.add(Concat(axis), *chosen) if len(chosen) > 1 else chosen[0]


def _squeezed_back(m: Match) -> Value | None:
    """Squeeze of Unsqueeze of the same axes."""
    inner = maker(m.node.inputs[0])
    if inner is None or not isinstance(inner.op, Unsqueeze) or len(m.node.inputs) < 2:
        return None
    a, b = elements(inner.inputs[1]), elements(m.node.inputs[1])
    rank = tensor_type(m.node.inputs[0]).rank
    if a is None or b is None or rank is None or sorted(a % rank) != sorted(b % rank):
        return None
    return inner.inputs[0]


# ---- elementwise ops on choices among constants ------------------------------------------------------------------


def _onto_constants(m: Match) -> Value | None:
    """f(Where(condition, c1, c2), c3) as Where(condition, f(c1, c3), f(c2, c3)); f(Gather(c1, i), c2) likewise.

    Only where every constant can be computed now: a division by zero that is not chosen must not fail.
    """
    operands = [(k, v) for k, v in enumerate(m.node.inputs) if v is not None and not is_constant(v)]
    if len(operands) != 1 or isinstance(m.node.op, Where) or tensor_type(m.result).rank is None:
        return None
    position, value = operands[0]
    chosen = maker(value)
    if chosen is None or m.rewriter.uses(value) != 1:
        return None
    if isinstance(chosen.op, Where) and all(is_constant(v) for v in chosen.inputs[1:]):
        sources = [1, 2]
    elif isinstance(chosen.op, Gather) and is_constant(chosen.inputs[0]) and _all_scalars(m, position):
        sources = [0]
    else:
        return None
    if any(_grows(m, chosen.inputs[k]) for k in sources):
        return None
    results: list[Value] = []
    for k in sources:
        source = chosen.inputs[k]
        results.append(m.add(m.node.op, *(source if j == position else v for j, v in enumerate(m.node.inputs))))
    if not all(is_constant(v) for v in results):
        return None
    replaced = dict(zip(sources, results, strict=True))
    return m.add(chosen.op, *(replaced.get(k, v) for k, v in enumerate(chosen.inputs)))


def _all_scalars(m: Match, position: int) -> bool:
    return all(k == position or v is None or static_shape(v.type) == () for k, v in enumerate(m.node.inputs))


def _grows(m: Match, table: Value | None) -> bool:
    """Whether the constant that takes a table's place is much larger, or the table is needed elsewhere as well."""
    before = static_shape(tensor_type(table))
    others = [static_shape(v.type) for v in m.node.inputs if v is not None and is_constant(v)]
    if before is None or table is None or any(shape is None for shape in others):
        return True
    after = np.broadcast_shapes(before, *(shape for shape in others if shape is not None))
    if math.prod(before) > _GROWTH and m.rewriter.uses(table) > 1:
        return True
    wider = m.dtype.itemsize > tensor_type(table).dtype.itemsize
    return math.prod(after) > _GROWTH and (wider or math.prod(after) > math.prod(before))


def _all_gathered(m: Match) -> Value | None:
    """The tensor of which each row is taken, in order."""
    x, indices = m.node.inputs
    numbers = maker(indices)
    if numbers is None or not isinstance(numbers.op, Range) or indices is None or x is None:
        return None
    rank = tensor_type(x).rank
    start, _, delta = (known_ints(value) for value in numbers.inputs)
    assert isinstance(m.node.op, Gather)
    if not rank or start != (0,) or delta != (1,) or not same_type(m.result.type, x.type):
        return None
    length, count = length_of(x, m.node.op.axis % rank), length_of(indices, 0)
    return x if dims.equal(length, count) else None


RULES: tuple[AnyRule, ...] = (
    NodeRule("GatherOfRange", (Gather,), _all_gathered),
    NodeRule("ConcatOfConcat", (Concat,), _flattened),
    NodeRule("ConcatOfSplit", (Concat,), _rejoined),
    NodeRule("SplitOfConcat", (Split,), _parts),
    NodeRule("GatherOfConcat", (Gather,), _gathered_piece),
    NodeRule("SliceOfConcat", (Slice,), _sliced_pieces),
    NodeRule("SqueezeOfUnsqueeze", (Squeeze,), _squeezed_back),
    NodeRule("OntoChosenConstants", (Elementwise,), _onto_constants),
)
