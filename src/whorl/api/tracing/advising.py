"""What would make a node faster."""

from __future__ import annotations

from whorl.ir.graph import Node, Region, Value
from whorl.ir.types import AnyShape, TensorType
from whorl.ops.control.flow import Loop, first_captured
from whorl.ops.linear.products import Gemm, MatMul
from whorl.ops.movement.axes import Concat
from whorl.passes.expose.isolating import constant_of
from whorl.passes.expose.scopes import Scope

PACKED = 16
"""Columns of a right operand from which a product with a constant one is faster."""


def advise(scope: Scope, node: Node, reason: str, calls_back: bool) -> str:
    """Why a node of a region is as slow as it is, and what would make it faster; empty where nothing is known."""
    if calls_back:
        return f"{node.op.name} has no native form for these types and shapes: NumPy runs it"
    if reason:
        return reason
    match node.op:
        case MatMul() | Gemm() if (name := _fixed_operand(scope, node)) and _is_wide(node):
            return f"{name!r} is an input of the model: a constant one would be laid out for the product once"
        case Concat() if _grows(scope, node):
            return "grows by what it appends, which is not copied again"
        case _:
            return ""


def _fixed_operand(scope: Scope, node: Node) -> str:
    """The name of the input of the model that the right operand is, which is no constant."""
    value = node.inputs[1]
    if value is None or constant_of(scope, value) is not None:
        return ""
    while scope.around is not None and scope.node is not None and isinstance(value.owner, Region):
        index = value.index + len(scope.node.inputs) - len(scope.region.arguments)
        operand = scope.node.inputs[index]
        if index < first_captured(scope.node) or operand is None:
            return ""
        value, scope = operand, scope.around
    return value.name if isinstance(value.owner, Region) and scope.around is None else ""


def _is_wide(node: Node) -> bool:
    value = node.inputs[1]
    type = None if value is None else value.type
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape) or not type.shape:
        return False
    width = type.shape[-1]
    return not isinstance(width, int) or width >= PACKED


def _grows(scope: Scope, node: Node) -> bool:
    """Whether a Concat makes the next value of what it appends to."""
    first: Value | None = node.inputs[0]
    if scope.node is None or not isinstance(scope.node.op, Loop) or first is None or first.owner is not scope.region:
        return False
    position = first.index - 1
    results = scope.region.results
    return 1 <= position <= scope.node.op.carried and results[position] in node.outputs
