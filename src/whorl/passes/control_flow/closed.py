"""Induction variables: carried values that depend on constants and the iteration number alone.

They are evaluated at compile time. A loop whose condition they decide gets its trip count as a constant; what they are
after the loop is a constant too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Node, Region, Value, walk
from whorl.ops.control.flow import Loop, known_bool
from whorl.passes.context import Context
from whorl.passes.control_flow.evaluate import UNRESOLVED, Budget, Evaluator, Stopped, is_true, known_value
from whorl.passes.control_flow.loops import iterations
from whorl.passes.rules.pattern import is_constant, tensor_type

MOST_ITERATIONS = 10_000
"""Iterations that are gone through for a trip count."""


def settle_trip_count(
    node: Node, build: Builder, context: Context, read: Collection[Value | None]
) -> Sequence[Value | None] | None:
    """The outputs of a loop whose number of iterations is found out now, those that are constants as such."""
    assert isinstance(node.op, Loop)
    closed, is_decided = _closed_states(node, node.op)
    wanted = [k for k in closed if k < len(node.outputs) and node.outputs[k] in read]
    ends_early = node.inputs[1] is not None and known_bool(node.regions[0].results[0]) is not True
    if node in context.refused or not is_decided or not (wanted or ends_early):
        return None
    options = context.options
    budget = Budget(min(options.max_iterations, MOST_ITERATIONS), options.max_seconds, options.max_bytes)
    try:
        count, states = _run(node, closed, Evaluator(budget))
    except Stopped as stopped:
        context.report.skip(node.op, str(stopped))
        context.refused.add(node)
        return None
    final = {k: states[k] for k in wanted if isinstance(states[k], np.ndarray)}
    if not (final or ends_early) or not context.may_edit("settle_trip_count"):
        return None
    outputs = _counted(node, count, build) if ends_early else node.outputs
    if not ends_early:
        build.region.nodes.append(node)
    constants = {k: build.constant(state, node.outputs[k].name) for k, state in final.items()}
    return [constants.get(k, value) for k, value in enumerate(outputs)]


def _closed_states(node: Node, op: Loop) -> tuple[list[int], bool]:
    """The carried values that are known at every iteration, and whether the number of iterations is."""
    body = node.regions[0]
    trip, condition, initial, scanned, captured = op.split(node.inputs)
    _, _, states, _, copies = op.split(body.arguments)
    outer = {copy for copy, value in zip(copies, captured, strict=True) if is_constant(value)}
    closed = [k for k, value in enumerate(initial) if is_constant(value)]
    while True:
        fixed: set[Value | None] = {None, *body.arguments[:2], *outer, *(states[k] for k in closed)}
        for inner in body.nodes:
            if fixed.issuperset(inner.inputs) and _is_pure(inner):
                fixed.update(inner.outputs)
        kept = [k for k in closed if body.results[1 + k] in fixed]
        if kept == closed:
            break
        closed = kept
    lengths = [how.length(tensor_type(x)) for x, how in zip(scanned, op.scanned, strict=True)]
    bounded = (trip is None or is_constant(trip)) and all(isinstance(n, int) for n in lengths)
    stops = condition is None or (is_constant(condition) and body.results[0] in fixed)
    return closed, bounded and stops and not op.slices_suffice


def _is_pure(node: Node) -> bool:
    return node.op.pure and all(inner.op.pure for region in node.regions for inner in walk(region))


def _run(node: Node, closed: Sequence[int], evaluator: Evaluator) -> tuple[int, dict[int, Any]]:
    """The number of iterations, and the closed carried values after them."""
    assert isinstance(node.op, Loop)
    body, (_, condition, initial, scanned, captured) = node.regions[0], node.op.split(node.inputs)
    part = Region(body.name)
    part.arguments, part.nodes = body.arguments, body.nodes
    part.results = [*(body.results[:1] if condition is not None else ()), *(body.results[1 + k] for k in closed)]
    ranks = [tensor_type(value).rank or 0 for value in body.arguments[:2]]
    states = {k: known_value(initial[k]) for k in closed}
    rest = [*([UNRESOLVED] * len(scanned)), *(known_value(value) for value in captured)]
    most, count = iterations(node, by_condition=False)[1], 0
    goes = condition is None or is_true(known_value(condition), node)
    while goes and count < most:
        evaluator.budget.iterate()
        number, go_on = np.full((1,) * ranks[0], count, INT64), np.full((1,) * ranks[1], True)
        carried = [states.get(k, UNRESOLVED) for k in range(node.op.carried)]
        results = evaluator.region(part, [number, go_on, *carried, *rest])
        if any(value is UNRESOLVED for value in results):
            raise Stopped("what it carries cannot be computed yet")
        if condition is not None:
            goes = is_true(results.pop(0), node)
        states = dict(zip(closed, results, strict=True))
        count += 1
    return count, states


def _counted(node: Node, count: int, build: Builder) -> list[Value]:
    """The loop with its number of iterations in the place of its condition."""
    body = node.regions[0]
    trips = build.constant(np.array(count, INT64), "trips")
    body.results[0] = body.arguments[1]
    names = [value.name for value in node.outputs]
    build.inference.visited.clear()
    return build.add_many(node.op, [trips, None, *node.inputs[2:]], names, [body], node.name)
