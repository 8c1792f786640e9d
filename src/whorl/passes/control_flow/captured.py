"""Loop-invariant code motion, and its opposite for small constants, which are copied into regions that capture them.

What depends on captured values alone is hoisted out of a loop, if it cannot fail or an iteration surely runs it: a node
that fails in a loop of no iterations would otherwise fail a model that is right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.constants import Constant
from whorl.ir.dtypes import STRING, is_integer
from whorl.ir.graph import Node, Region, Value
from whorl.ir.types import KNOWN_LIMIT, TensorType
from whorl.ops.control.flow import If, Loop, first_captured
from whorl.ops.core.base import Elementwise
from whorl.ops.movement.rearranging import Rearranging
from whorl.passes.context import Context
from whorl.passes.control_flow.loops import iterations
from whorl.passes.rules.conditions import static_shape
from whorl.passes.rules.pattern import constant_of, is_constant

_SMALL_MATRIX = 64
"""Elements up to which a constant of rank 2 or more is copied into a region; larger ones stay shared."""


def push_constants(node: Node, build: Builder, context: Context) -> None:
    """Put small constants that regions capture into the regions; in branches the condition is one too."""
    first = first_captured(node)
    moved: dict[int, list[Constant]] = {}
    for k in range(first, len(node.inputs)):
        constants = _inside(node, k)
        if constants and context.may_edit("push_constants"):
            moved[k] = constants
    if not moved:
        return
    count = len(node.inputs) - first
    node.inputs = [value for k, value in enumerate(node.inputs) if k not in moved]
    for number, region in enumerate(node.regions):
        offset = len(region.arguments) - count - first
        constants = {offset + k: found[number] for k, found in moved.items()}
        _replace_arguments(region, constants, build)


def _inside(node: Node, k: int) -> list[Constant]:
    """The constants that a captured operand is in each region; none where it stays an operand."""
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
    replace_values(region, values)
    region.arguments = [value for k, value in enumerate(arguments) if k not in constants]
    for index, value in enumerate(region.arguments):
        value.index = index


def replace_values(region: Region, values: dict[Value, Value]) -> None:
    """Let the nodes and results of a region read other values."""
    for node in region.nodes:
        node.inputs = [None if value is None else values.get(value, value) for value in node.inputs]
    region.results = [values.get(value, value) for value in region.results]


# ---- out of loops ------------------------------------------------------------------------------------------------


def hoist_invariants(node: Node, build: Builder, context: Context) -> None:
    """Compute once, before a loop, what is the same in all its iterations; before an If only what is constant.

    A node that might fail is moved only where an iteration surely runs it.
    """
    for region in node.regions:
        moved = _invariants(node, region)
        if moved and context.may_edit("hoist_invariants"):
            _move_out(node, region, moved, build)


def _invariants(node: Node, region: Region) -> list[Node]:
    """The nodes to move: they read captured values (all constant, for branches) and constants."""
    first = first_captured(node)
    offset = len(region.arguments) - len(node.inputs)
    is_loop = isinstance(node.op, Loop)
    surely_runs = is_loop and iterations(node)[0] > 0
    captured = region.arguments[first + offset :]
    outer = {argument for argument in captured if is_loop or is_constant(node.inputs[argument.index - offset])}
    moved: list[Node] = []
    for inner in region.nodes:
        values = [value for value in inner.inputs if value is not None]
        if inner.regions or not inner.op.pure or not any(value in outer for value in values):
            continue
        if all(value in outer or is_constant(value) for value in values) and (surely_runs or cannot_fail(inner)):
            moved.append(inner)
            outer.update(inner.outputs)
    return moved


def cannot_fail(node: Node) -> bool:
    """Whether a node surely gives a result: an elementwise one that divides no integers, or one that moves elements."""
    types = [value.type for value in (*node.inputs, *node.outputs) if value is not None]
    if any(static_shape(t) is None or not isinstance(t, TensorType) or t.dtype == STRING for t in types):
        return False
    if isinstance(node.op, Rearranging):
        return len(node.inputs) == 1
    result = types[-1]
    divides = isinstance(result, TensorType) and is_integer(result.dtype) and not node.op.symbolic
    return isinstance(node.op, Elementwise) and not divides


def _move_out(node: Node, region: Region, moved: Sequence[Node], build: Builder) -> None:
    """Nodes of a region before the node that holds it, which then captures what its regions read of them."""
    offset = len(region.arguments) - len(node.inputs)
    values: dict[Value, Value] = {}
    for argument in region.arguments:
        outer = node.inputs[argument.index - offset] if argument.index >= offset else None
        if outer is not None:
            values[argument] = outer
    for inner in moved:
        for value in inner.inputs:
            if value is not None and value not in values and isinstance(value.owner, Node):
                values[value] = build.add(value.owner.op, name=value.name)
        inputs = [None if value is None else values[value] for value in inner.inputs]
        outputs = build.add_many(inner.op, inputs, [v.name for v in inner.outputs], name=inner.name)
        values.update(zip(inner.outputs, outputs, strict=True))
    gone = set(moved)
    region.nodes = [inner for inner in region.nodes if inner not in gone]
    read = set(region.results).union(*(inner.inputs for inner in region.nodes))
    inside: dict[Value, Value] = {}
    for value in (value for inner in moved for value in inner.outputs if value in read):
        node.inputs.append(values[value])
        for each in node.regions:
            argument = each.add_argument(value.name, values[value].type, values[value].known)
            if each is region:
                inside[value] = argument
    replace_values(region, inside)
