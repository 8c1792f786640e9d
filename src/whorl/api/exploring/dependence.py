"""What the values of a loop's body depend on: nothing of the loop, the iteration alone, or earlier iterations."""

from __future__ import annotations

from collections.abc import Mapping

from whorl.ir.dims import UNKNOWN
from whorl.ir.graph import Node, Region, Value, walk
from whorl.ir.infer import escape, names_of
from whorl.ir.types import AnyShape, TensorType
from whorl.ops.control.flow import If, Loop, first_captured

INVARIANT, BATCHED, CARRIED = range(3)
"""The same in all iterations; may be computed for all iterations at once; needs what an earlier iteration gave."""


def of_arguments(node: Node, operands: Mapping[Value, int]) -> dict[int, int]:
    """What each argument of the regions of a node depends on, by its index."""
    if isinstance(node.op, Loop):
        end = 2 + node.op.carried
        states = dict.fromkeys(range(2, end), CARRIED)
        slices = dict.fromkeys(range(end, end + len(node.op.scanned)), BATCHED)
        # Inside a body the condition is true.
        return {0: BATCHED, 1: INVARIANT} | states | slices
    first = first_captured(node)
    return {k: operands.get(value, INVARIANT) for k, value in enumerate(node.inputs[first:]) if value is not None}


def of_values(region: Region, arguments: Mapping[int, int]) -> dict[Value, int]:
    """What each value of a region depends on; `arguments` says it of arguments by index, others are invariant."""
    depends = {value: arguments.get(value.index, INVARIANT) for value in region.arguments}
    for node in region.nodes:
        worst = max((depends[value] for value in node.inputs if value is not None), default=INVARIANT)
        # Draws of random numbers follow one another.
        depends |= dict.fromkeys(node.outputs, worst if _is_pure(node) else CARRIED)
    return depends


def _is_pure(node: Node) -> bool:
    inner = (each for region in node.regions for each in walk(region))
    return node.op.pure and all(each.op.pure for each in inner)


def is_varying(value: Value, visible: set[str]) -> bool:
    """Whether the lengths of a tensor in a body may differ from iteration to iteration.

    `visible`: the names of lengths that are fixed outside the loop.
    """
    type = value.type
    if not isinstance(type, TensorType):
        return False
    escaped = escape(type, visible)
    assert isinstance(escaped, TensorType)
    return isinstance(escaped.shape, AnyShape) or UNKNOWN in escaped.shape


def visible_names(node: Node, outer: set[str]) -> set[str]:
    """The names of lengths that are fixed in the regions of a node: for a loop those from outside, else as around."""
    return outer if isinstance(node.op, If) else names_of(node.inputs)
