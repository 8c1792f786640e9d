"""Layers of one step inside a loop, as exporters write cells: over all iterations they are one layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from whorl.ir import dims
from whorl.ir.graph import Node, Value
from whorl.ops.movement.shapes import Reshape, Squeeze, Unsqueeze
from whorl.ops.recurrent.rnn import Recurrent
from whorl.passes.rules.pattern import maker, tensor_type
from whorl.passes.vectorize.batched import Batched, lengths_of
from whorl.passes.vectorize.layers import Layer, Mask
from whorl.passes.vectorize.stacks import Stacks


def layer_of_steps(
    states: Sequence[int],
    arguments: Sequence[Value],
    updates: Sequence[Value],
    known: Mapping[Value, Batched],
    stacks: Stacks,
    mask: Mask | None,
) -> Layer | None:
    """The layer whose one step updates these states, h first; None for others. Errors: CannotVectorize."""
    node = _layer_node(updates, len(arguments))
    if node is None:
        return None
    x, w, r, b, lengths, *starts = (*node.inputs, *(None,) * (8 - len(node.inputs)))
    weights = [None if value is None else known.get(value) for value in (w, r, b)]
    is_plain = lengths is None and not any(starts[len(arguments) :])
    if not is_plain or x is None or x not in known or not all(map(_is_state, starts, arguments)):
        return None
    if any(each is None or each.is_mapped for each in weights[: 3 if b is not None else 2]):
        return None
    build = stacks.build
    rows = build.add(Squeeze(), stacks.each(known[x]), build.int64(1), name=x.name)
    operands = [each.value for each in weights if each is not None]
    if b is None:
        _, gates, _ = lengths_of(operands[1])
        if not isinstance(gates, int):
            return None
        operands.append(build.constant(np.zeros((1, 2 * gates), tensor_type(x).dtype)))
    assert isinstance(node.op, Recurrent)
    return Layer(node.op, rows, operands, states, mask)


def _layer_node(updates: Sequence[Value], count: int) -> Node | None:
    """The layer of one forward step whose last states are the updates."""
    sources = [_without_axis(update) for update in updates]
    node = None if sources[0] is None else maker(sources[0])
    if node is None or not isinstance(node.op, Recurrent) or node.op.states != count:
        return None
    lasts = node.outputs[1 : 1 + count]
    if (
        node.op.layout
        or node.op.reversals() != (False,)
        or any(a is not b for a, b in zip(sources, lasts, strict=True))
    ):
        return None
    return node if dims.equal(lengths_of(node.outputs[0])[0], 1) else None


def _without_axis(value: Value) -> Value | None:
    """What a matrix is with one more axis of length 1 before it."""
    node = maker(value)
    if node is None or not isinstance(node.op, Squeeze | Reshape) or node.inputs[0] is None:
        return None
    return node.inputs[0] if _adds_axis(value, node.inputs[0]) else None


def _is_state(start: Value | None, state: Value) -> bool:
    """Whether a start of a layer is a carried value with one more axis of length 1 before it."""
    node = None if start is None else maker(start)
    if node is None or start is None or not isinstance(node.op, Unsqueeze | Reshape) or node.inputs[0] is not state:
        return False
    return _adds_axis(state, start)


def _adds_axis(matrix: Value, value: Value) -> bool:
    inner, outer = lengths_of(matrix), lengths_of(value)
    return len(inner) == 2 and len(outer) == 3 and all(map(dims.equal, (1, *inner), outer))
