"""Copies small constants into the regions that capture them: the opposite of loop-invariant code motion.

Regions are closed, so a captured constant is an argument, which no rule inside can fold. A large one remains captured:
a copy in every region would multiply it.
"""

from __future__ import annotations

import math

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.constants import Constant
from whorl.ir.graph import Node, Region
from whorl.ir.types import KNOWN_LIMIT
from whorl.ops.control.flow import If, first_captured
from whorl.passes.context import Context
from whorl.passes.rules.conditions import static_shape
from whorl.passes.rules.pattern import constant_of

_SMALL_MATRIX = 64
"""Elements up to which a constant of rank 2 or more is copied into a region; larger ones stay shared."""


def push_constants(node: Node, build: Builder, context: Context) -> None:
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
        _replace_arguments(region, constants, build)


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


def _replace_arguments(region: Region, constants: dict[int, Constant], build: Builder) -> None:
    """Constants in the place of arguments."""
    old, arguments = region.nodes, region.arguments
    region.nodes = []
    inner = Builder(region, build.inference)
    values = {arguments[k]: inner.add(constant, name=arguments[k].name) for k, constant in constants.items()}
    region.nodes += old
    region.replace_uses(values)
    region.set_arguments(value for k, value in enumerate(arguments) if k not in constants)
