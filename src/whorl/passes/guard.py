"""Computing something only if a loop has an iteration: `If(trip > 0 and condition) {values} else {zeros}`.

The zeros are never read. They have the types of the values, so that the body still sees lengths that it knows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.graph import Node, Region, Value
from whorl.ops.control.flow import If, Loop, Scanned, known_bool
from whorl.ops.core.base import known_ints
from whorl.ops.elementwise.comparison import Greater, GreaterOrEqual
from whorl.ops.elementwise.logic import And
from whorl.ops.movement.shapes import Expand, Shape
from whorl.passes.rules.conditions import static_shape
from whorl.passes.rules.pattern import tensor_type


def can_guard(loop: Node) -> bool:
    """Whether a condition can say that a loop has an iteration, and fails for nothing that the loop itself accepts."""
    assert isinstance(loop.op, Loop)
    trip, condition, _, scanned, _ = loop.op.split(loop.inputs)
    has_ranks = all(tensor_type(value).rank is not None for value in scanned)
    return has_ranks and all(value is None or _is_one(value) for value in (trip, condition))


def add_guard(loop: Node, build: Builder) -> Value:
    """Whether a loop has an iteration, as a value before it. Not for a loop that surely has one."""
    assert isinstance(loop.op, Loop)
    trip, condition, _, scanned, _ = loop.op.split(loop.inputs)
    parts: list[Value] = []
    if trip is not None and not all(number > 0 for number in known_ints(trip) or (0,)):
        zero = build.constant(np.zeros((), tensor_type(trip).dtype))
        parts.append(build.add(Greater(), trip, zero, name="has_trips"))
    if condition is not None and known_bool(condition) is not True:
        parts.append(condition)
    pairs = zip(scanned, loop.op.scanned, strict=True)
    parts += [
        _has_slice(value, how, build) for value, how in pairs if not isinstance(how.length(tensor_type(value)), int)
    ]
    return reduce(lambda a, b: build.add(And(), a, b, name="has_iteration"), parts)


def _has_slice(value: Value, how: Scanned, build: Builder) -> Value:
    """Whether a scanned value has a slice."""
    axis = how.axis % (tensor_type(value).rank or 1)
    length = build.add(Shape(axis, axis + 1), value, name="rows")
    return build.add(GreaterOrEqual(), length, build.int64(how.part), name="has_slice")


def add_guarded(
    nodes: Sequence[Node], values: dict[Value, Value], results: Sequence[Value], guard: Value, build: Builder, name: str
) -> None:
    """Copies of nodes that run if the guard holds; `values` are what their inputs are here, and then their results."""
    made = {value for node in nodes for value in node.outputs}
    captured = [v for v in dict.fromkeys(v for n in nodes for v in n.inputs) if v is not None and v not in made]
    branches = Region("then_branch"), Region("else_branch")
    inside: list[dict[Value, Value]] = []
    for branch in branches:
        arguments = [branch.add_argument(v.name, values[v].type, values[v].known) for v in captured]
        inside.append(dict(zip(captured, arguments, strict=True)))
    copy_nodes(nodes, inside[0], Builder(branches[0], build.inference))
    branches[0].results = [inside[0][value] for value in results]
    branches[1].results = [_zeros(inside[0][value], Builder(branches[1], build.inference)) for value in results]
    outer = [guard, *(values[value] for value in captured)]
    outputs = build.add_many(If(), outer, [value.name for value in results], branches, name)
    values.update(zip(results, outputs, strict=True))


def copy_nodes(nodes: Sequence[Node], values: dict[Value, Value], build: Builder) -> None:
    """Nodes on other inputs: `values` are what theirs are there, and then what their outputs are."""
    for node in nodes:
        inputs = [None if value is None else values[value] for value in node.inputs]
        names = [value.name for value in node.outputs]
        values.update(zip(node.outputs, build.add_many(node.op, inputs, names, node.regions, node.name), strict=True))


def _zeros(value: Value, build: Builder) -> Value:
    zero, shape = np.zeros((), tensor_type(value).dtype), static_shape(value.type) or ()
    return build.add(Expand(), build.constant(zero), build.int64(*shape), name=value.name)


def _is_one(value: Value) -> bool:
    shape = static_shape(value.type)
    return shape is not None and math.prod(shape) == 1
