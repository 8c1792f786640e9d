"""Loops that end early: the conditions of all iterations are computed first, the first that fails is the trip count.

What the conditions depend on runs beyond the end, so it must not fail there.
"""

from __future__ import annotations

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.dtypes import INT32
from whorl.ir.graph import Node, Region, Value
from whorl.ir.walk import clone_region
from whorl.ops.control.flow import Collected, Loop
from whorl.ops.core.base import known_ints
from whorl.ops.elementwise.arithmetic import Add, Min
from whorl.ops.elementwise.casting import Cast
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.shapes import Reshape, Shape
from whorl.ops.reduce.reductions import ArgMin
from whorl.passes.vectorize.batched import CannotVectorize
from whorl.passes.vectorize.speculation import harmless

MOST = 1 << 16
"""Iterations whose conditions are computed where a constant limits them."""


def loop_of_conditions(node: Node, build: Builder) -> Node:
    """A loop without an exit that collects what the body of another one answers. Errors: CannotVectorize."""
    op = node.op
    assert isinstance(op, Loop)
    limit = None if node.inputs[0] is None else known_ints(node.inputs[0])
    if not op.scanned and (node.inputs[0] is None or (limit is not None and max(limit) > MOST)):
        raise CannotVectorize("nothing else bounds it")
    body = clone_region(node.regions[0])
    condition, updates = body.results[0], body.results[1 : 1 + op.carried]
    states = op.split(body.arguments)[2]
    nodes, needed = _sources(body, [condition])
    needed_states: list[int] = []
    while added := [k for k, state in enumerate(states) if state in needed and k not in needed_states]:
        needed_states += added
        nodes, needed = _sources(body, [condition, *(updates[k] for k in needed_states)])
    needed_states.sort()
    dropped = {state for k, state in enumerate(states) if k not in needed_states}
    body.nodes = [inner for inner in body.nodes if inner in nodes]
    inside = Builder(body, build.inference)
    answer = inside.add(Reshape(), condition, inside.int64(), name="answer")
    body.arguments = [value for value in body.arguments if value not in dropped]
    for index, value in enumerate(body.arguments):
        value.index = index
    body.results = [inside.constant(np.array(True), "go_on"), *(updates[k] for k in needed_states), answer]
    body = harmless(body, "its condition is computed for all iterations", build.inference)
    trip, begins, carried, scanned, captured = op.split(node.inputs)
    inputs = [trip, begins, *(carried[k] for k in needed_states), *scanned, *captured]
    every = Loop(len(needed_states), op.scanned, (Collected(),), 0, op.keep_shapes, op.slices_suffice)
    return _loop(every, inputs, body, len(needed_states) + 1, node, build)


def trips_of(conditions: Value, build: Builder) -> Value:
    """The number of iterations up to the first whose condition fails: that one counts, too."""
    count = build.add(Shape(), conditions, name="most")
    numbers = build.add(Cast(INT32), conditions, name="go_on")
    ended = build.add(Concat(0), numbers, build.constant(np.zeros(1, INT32)), name="go_on")
    first = build.add(ArgMin(0, 1), ended, name="end")
    return build.add(Min(), build.add(Add(), first, build.int64(1), name="end"), count, name="trips")


def loop_of_trips(node: Node, trips: Value, build: Builder) -> Node:
    """The loop without its exit, for a trip count that leaves out what comes after it."""
    body = clone_region(node.regions[0])
    body.results[0] = Builder(body, build.inference).constant(np.array(True), "go_on")
    return _loop(node.op, [trips, None, *node.inputs[2:]], body, len(node.outputs), node, build)


def _sources(body: Region, results: list[Value]) -> tuple[set[Node], set[Value]]:
    """The nodes that compute results, and all that they read."""
    nodes, values = set[Node](), set(results)
    for node in reversed(body.nodes):
        if not values.isdisjoint(node.outputs):
            nodes.add(node)
            values.update(value for value in node.inputs if value is not None)
    return nodes, values


def _loop(op: object, inputs: list[Value | None], body: Region, outputs: int, like: Node, build: Builder) -> Node:
    """A typed loop that stands nowhere."""
    assert isinstance(op, Loop)
    build.inference.visited.clear()
    names = [value.name for value in like.outputs] if outputs == len(like.outputs) else ["value"] * outputs
    made = build.add_many(op, inputs, names, [body], like.name)
    node = made[0].owner
    assert isinstance(node, Node)
    build.region.nodes.remove(node)
    return node
