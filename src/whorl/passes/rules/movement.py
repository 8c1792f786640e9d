"""Transposes and reshapes: one for several in a row, none where they undo each other; target shapes as constants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, TensorType
from whorl.ops.core.base import Elementwise
from whorl.ops.movement.axes import Transpose
from whorl.ops.movement.lengths import bounds
from whorl.ops.movement.shapes import Expand, Reshape, Reshaping
from whorl.passes.rules.conditions import same_shape, same_type, static_shape
from whorl.passes.rules.pattern import AnyRule, Match, NodeRule, is_constant, maker, tensor_type


def permutation(node: Node) -> tuple[int, ...] | None:
    """The axes that a Transpose takes, None where it reverses axes of unknown number."""
    assert isinstance(node.op, Transpose)
    rank = tensor_type(node.inputs[0]).rank
    if node.op.perm is not None:
        return node.op.perm
    return None if rank is None else tuple(reversed(range(rank)))


def _transposed_twice(m: Match) -> Value | None:
    """One Transpose for two; without one where they undo each other."""
    inner = maker(m.node.inputs[0])
    if inner is None or not isinstance(inner.op, Transpose) or inner.inputs[0] is None:
        return None
    first, second = permutation(inner), permutation(m.node)
    if first is None or second is None or len(first) != len(second):
        return None
    both = tuple(first[axis] for axis in second)
    if both == tuple(range(len(both))):
        return inner.inputs[0]
    return m.add(Transpose(both), inner.inputs[0])


# ---- reshapes ----------------------------------------------------------------------------------------------------


def target_of(shape: Sequence[Dim], source: TensorType) -> list[int] | None:
    """Numbers with which Reshape gives a shape that is proved of what it gives; None where they cannot say it.

    A named length is 0 where the source has it on that axis, else -1, at most once and beside nothing that may be 0.
    """
    source_shape = () if isinstance(source.shape, AnyShape) else source.shape
    target: list[int] = []
    for axis, dim in enumerate(shape):
        if isinstance(dim, int):
            target.append(dim)
        else:
            target.append(0 if axis < len(source_shape) and dims.equal(dim, source_shape[axis]) else -1)
    if any(dim == 0 for dim in shape if isinstance(dim, int)) or target.count(-1) > 1:
        return None
    if -1 in target and any(bounds(dim)[0] < 1 for dim, n in zip(shape, target, strict=True) if n != -1):
        return None
    return target


def _reshaped(m: Match, source: Value) -> Value | None:
    """A Reshape of the source into the root's shape, nothing where it has that shape already."""
    if same_type(source.type, m.result.type):
        return source
    shape = tensor_type(m.result).shape
    if isinstance(shape, AnyShape) or not isinstance(source.type, TensorType):
        return None
    target = target_of(shape, source.type)
    return None if target is None else m.add(Reshape(), source, m.constant(np.array(target, np.int64)))


def _reshaped_twice(m: Match) -> Value | None:
    """One Reshape for two ops that leave elements in row-major order."""
    inner = maker(m.node.inputs[0])
    if inner is None or not isinstance(inner.op, Reshaping) or inner.inputs[0] is None:
        return None
    return _reshaped(m, inner.inputs[0])


def _known_target(m: Match) -> Value | None:
    """A Reshape whose target is computed, but known, with the target as a constant."""
    source, target = m.node.inputs
    if source is None or target is None or is_constant(target):
        return None
    shape = tensor_type(m.result).shape
    if isinstance(shape, AnyShape) or target.known is None or not _agrees(shape, target.known):
        return None
    return _reshaped(m, source)


def _agrees(shape: Sequence[Dim], known: np.ndarray) -> bool:
    """Whether every length of a proved shape is what was asked for, or a number."""
    pairs = zip(shape, known.flat, strict=False)
    return known.size == len(shape) and all(isinstance(a, int) or dims.equal(a, b) for a, b in pairs)


def _known_expansion(m: Match) -> Value | None:
    """An Expand to a computed shape of known numbers, with the shape as a constant."""
    source, target = m.node.inputs
    shape = static_shape(m.result.type)
    if shape is None or is_constant(target):
        return None
    return m.add(Expand(), source, m.constant(np.array(shape, np.int64)))


# ---- elementwise ops between movements ---------------------------------------------------------------------------


def _past_elementwise(m: Match) -> Value | None:
    """Bring two movements together that only elementwise ops part, where they then undo or become each other."""
    kind = Transpose if isinstance(m.node.op, Transpose) else Reshaping
    no_match = m.rewriter.no_match_above.setdefault(kind, set())
    chain: list[tuple[Node, int]] = []
    passed: list[Value] = []
    value = m.node.inputs[0]
    while value is not None and value not in no_match and m.rewriter.uses(value) == 1:
        node = maker(value)
        if node is None:
            break
        if isinstance(node.op, kind):
            return _after_movements(m, node, chain) if chain else None
        index = moved_operand(node)
        if index is None:
            break
        chain.append((node, index))
        passed.append(value)
        value = node.inputs[index]
    no_match.update(passed)
    return None


def moved_operand(node: Node) -> int | None:
    """Which operand gives an elementwise node its shape, where all others are scalars."""
    if not isinstance(node.op, Elementwise) or len(node.outputs) != 1:
        return None
    shaped = [k for k, v in enumerate(node.inputs) if v is not None and static_shape(v.type) != ()]
    if len(shaped) != 1:
        return None
    return shaped[0] if same_shape(tensor_type(node.inputs[shaped[0]]), tensor_type(node.outputs[0])) else None


def _after_movements(m: Match, first: Node, chain: Sequence[tuple[Node, int]]) -> Value | None:
    """The elementwise ops after both movements."""
    source = first.inputs[0]
    if source is None:
        return None
    if isinstance(first.op, Transpose):
        a, b = permutation(first), permutation(m.node)
        if a is None or b is None or len(a) != len(b):
            return None
        both = tuple(a[axis] for axis in b)
        value = source if both == tuple(range(len(both))) else m.add(Transpose(both), source)
    else:
        shape = tensor_type(m.result).shape
        type = TensorType(tensor_type(source).dtype, shape)
        if isinstance(shape, AnyShape):
            return None
        target = target_of(shape, tensor_type(source))
        if same_type(type, source.type):
            value = source
        elif target is None:
            return None
        else:
            value = m.add(Reshape(), source, m.constant(np.array(target, np.int64)))
    for node, index in reversed(chain):
        value = m.add(node.op, *(value if k == index else other for k, other in enumerate(node.inputs)))
    return value


RULES: tuple[AnyRule, ...] = (
    NodeRule("TransposeOfTranspose", (Transpose,), _transposed_twice),
    NodeRule("ReshapeOfReshape", (Reshaping,), _reshaped_twice),
    NodeRule("MovementPastElementwise", (Transpose, Reshaping), _past_elementwise),
    NodeRule("ReshapeToKnownShape", (Reshape,), _known_target),
    NodeRule("ExpandToKnownShape", (Expand,), _known_expansion),
)
