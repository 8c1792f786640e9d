"""Copies small constants into the regions that capture them: the opposite of loop-invariant code motion.

Regions are closed, so a captured constant is an argument, which no rule inside can fold. A large one remains captured:
a copy in every region would multiply it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from whorl.ir.constants import Constant
from whorl.ir.graph import Node, Region, Value
from whorl.ir.types import KNOWN_LIMIT
from whorl.ops.control.flow import If, first_captured
from whorl.passes.context import Context
from whorl.passes.rules.conditions import static_shape
from whorl.passes.rules.pattern import constant_of

_SMALL_MATRIX = 64
"""Elements up to which a constant of rank 2 or more is copied into a region; larger ones stay shared."""


def push_constants(node: Node, context: Context) -> None:
    """Put small constants that regions capture into the regions; in branches the condition is one too."""
    first = first_captured(node)
    moved: dict[int, list[Constant]] = {}
    for k in range(first, len(node.inputs)):
        constants = _copies(node, k)
        if constants and context.may_edit("push_constants"):
            moved[k] = constants
    if not moved:
        return
    count = len(node.inputs) - first
    node.inputs = [value for k, value in enumerate(node.inputs) if k not in moved]
    for number, region in enumerate(node.regions):
        offset = len(region.arguments) - count - first
        constants = {offset + k: copies[number] for k, copies in moved.items()}
        replace_arguments(region, constants)


def _copies(node: Node, k: int) -> list[Constant]:
    """The constant that a captured operand is, for each region; none for an operand that remains."""
    value = node.inputs[k]
    if value is None:
        return []
    constant = constant_of(value)
    if constant is not None and _is_small(constant):
        return [constant] * len(node.regions)
    shape = static_shape(value.type)
    if isinstance(node.op, If) and value is node.inputs[0] and shape is not None:
        return [Constant(np.full(shape, True)), Constant(np.full(shape, False))]
    return []


def _is_small(constant: Constant) -> bool:
    shape = constant.value.shape
    return math.prod(shape) <= (KNOWN_LIMIT if len(shape) < 2 else _SMALL_MATRIX)


def replace_arguments(region: Region, constants: Mapping[int, Constant]) -> None:
    """Let nodes of a region give what some of its arguments, by position, were."""
    used = region.used_values()
    values: dict[Value, Value] = {}
    for argument, op in ((region.arguments[k], op) for k, op in constants.items()):
        if argument in used:
            node = Node(op, ())
            node.outputs = [Value(argument.name, op.infer(), node, 0, op.infer_known()[0])]
            values[argument] = node.outputs[0]
    region.replace_uses(values)
    region.nodes[:0] = [value.owner for value in values.values() if isinstance(value.owner, Node)]
    region.set_arguments(value for k, value in enumerate(region.arguments) if k not in constants)
