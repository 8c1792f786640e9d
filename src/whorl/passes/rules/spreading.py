"""Constants and elementwise ops past movements: constants of two ops meet, and nothing is spread out to be combined."""

from __future__ import annotations

from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, TensorType
from whorl.ops.core.base import Elementwise, broadcast_shapes
from whorl.ops.elementwise.arithmetic import Add, Mul
from whorl.ops.elementwise.comparison import Where
from whorl.ops.elementwise.logic import And, BitwiseAnd, BitwiseOr, BitwiseXor, Or, Xor
from whorl.ops.movement.axes import Slice, Transpose
from whorl.ops.movement.filling import ConstantOfShape
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.shapes import Expand, Reshaping
from whorl.passes.rules.conditions import elements, may_regroup, same_shape, static_shape
from whorl.passes.rules.pattern import AnyRule, Match, NodeRule, is_constant, maker, tensor_type

_REGROUPED = (Add, Mul, And, Or, Xor, BitwiseAnd, BitwiseOr, BitwiseXor)
_MOVES = (Transpose, Reshaping, Slice, Gather, Expand)


def _past_movement(m: Match) -> Value | None:
    """f(move(f(x, c1)), c2) as f(move(x), f(c1', c2)), where c1' is c1 moved likewise."""
    kind = type(m.node.op)
    if len(m.node.inputs) != 2 or (kind in (Add, Mul) and not may_regroup(m)) or not is_constant(m.node.inputs[1]):
        return None
    move = _once(m, m.node.inputs[0])
    inner = None if move is None or not isinstance(move.op, _MOVES) else _once(m, move.inputs[0])
    if move is None or inner is None or type(inner.op) is not kind or len(inner.inputs) != 2:
        return None
    x, constant = inner.inputs
    if x is None or is_constant(x) or not is_constant(constant) or not all(is_constant(v) for v in move.inputs[1:]):
        return None
    if not same_shape(tensor_type(x), tensor_type(move.inputs[0])):
        return None
    moved = _moved_constant(m, constant, tensor_type(x), move)
    if moved is None:
        return None
    value = m.add(move.op, x, *move.inputs[1:])
    return m.add(m.node.op, value, m.add(m.node.op, moved, m.node.inputs[1]))


def _once(m: Match, value: Value | None) -> Node | None:
    """The node that makes a value, if nothing else reads it."""
    return maker(value) if value is not None and m.rewriter.uses(value) == 1 else None


def _moved_constant(m: Match, constant: Value | None, type: TensorType, move: Node) -> Value | None:
    """A constant as it is after a movement of what it was combined with: one element, or a tensor of that shape."""
    array = elements(constant)
    if array is None or constant is None:
        return None
    if array.size == 1:
        return m.constant(array.reshape(()))
    if static_shape(type) != array.shape:
        return None
    return m.add(move.op, constant, *move.inputs[1:])


def _unspread(m: Match) -> Value | None:
    """An elementwise op on what is spread out to a shape that the other operands have, on what it was before."""
    shape, broadcasts = tensor_type(m.result).shape, type(m.node.op).infer in (Elementwise.infer, Where.infer)
    if len(m.node.inputs) < 2 or not broadcasts or isinstance(shape, AnyShape):
        return None
    for k, value in enumerate(m.node.inputs):
        source = maker(value)
        if source is None or not isinstance(source.op, (Expand, ConstantOfShape)):
            continue
        shapes = [tensor_type(v).shape for j, v in enumerate(m.node.inputs) if j != k and v is not None]
        before = () if isinstance(source.op, ConstantOfShape) else tensor_type(source.inputs[0]).shape
        shape = broadcast_shapes(*shapes, before)
        if same_shape(TensorType(m.dtype, shape), tensor_type(m.result)):
            is_filled = isinstance(source.op, ConstantOfShape)
            small = m.constant(source.op.element.reshape(())) if is_filled else source.inputs[0]  # type: ignore[attr-defined]
            return m.add(m.node.op, *(small if j == k else v for j, v in enumerate(m.node.inputs)))
    return None


RULES: tuple[AnyRule, ...] = (
    NodeRule("ConstantPastMovement", _REGROUPED, _past_movement),
    NodeRule("SpreadOperand", (Elementwise,), _unspread),
)
