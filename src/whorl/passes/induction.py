"""Induction variables: evaluates them at compile time to find the trip count.

They are the carried values that depend on constants and the iteration number alone: the largest set whose updates use
nothing else. Evaluating the whole body instead would give up at the first unknown tensor. A loop whose condition they
decide gets its trip count as a constant; their final values are constants too.
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
from whorl.passes.evaluate import UNRESOLVED, Budget, Evaluator, Stopped, is_true, known_value
from whorl.passes.licm import invariant_nodes
from whorl.passes.rules.pattern import is_constant, tensor_type
from whorl.passes.simplify_loop import iterations

MOST_ITERATIONS = 10_000
"""Iterations that are evaluated for a trip count."""


def resolve_trip_count(
    node: Node, build: Builder, context: Context, used: Collection[Value | None]
) -> Sequence[Value | None] | None:
    """The outputs of a loop that gets a constant trip count, final values of induction variables as constants."""
    assert isinstance(node.op, Loop)
    inductive, is_decided = _induction_variables(node, node.op)
    constant_outputs = [k for k in inductive if k < len(node.outputs) and node.outputs[k] in used]
    ends_early = node.inputs[1] is not None and known_bool(node.regions[0].results[0]) is not True
    if node in context.refused or not is_decided or not (constant_outputs or ends_early):
        return None
    options = context.options
    budget = Budget(min(options.max_iterations, MOST_ITERATIONS), options.max_seconds, options.max_bytes)
    try:
        count, states = _run(node, inductive, Evaluator(budget))
    except Stopped as stopped:
        context.report.skip(node.op, str(stopped))
        context.refused.add(node)
        return None
    final = {k: states[k] for k in constant_outputs if isinstance(states[k], np.ndarray)}
    if not (final or ends_early) or not context.may_edit("resolve_trip_count"):
        return None
    outputs = _with_trip_count(node, count, build) if ends_early else node.outputs
    if not ends_early:
        build.region.nodes.append(node)
    constants = {k: build.constant(state, node.outputs[k].name) for k, state in final.items()}
    return [constants.get(k, value) for k, value in enumerate(outputs)]


def _induction_variables(node: Node, op: Loop) -> tuple[list[int], bool]:
    """The carried values that are known at every iteration, and whether the trip count is."""
    body = node.regions[0]
    trip, condition, initial, scanned, captured = op.split(node.inputs)
    _, _, states, _, copies = op.split(body.arguments)
    outer = {copy for copy, value in zip(copies, captured, strict=True) if is_constant(value)}
    inductive = [k for k, value in enumerate(initial) if is_constant(value)]
    while True:
        fixed: set[Value | None] = {None, *body.arguments[:2], *outer, *(states[k] for k in inductive)}
        fixed = invariant_nodes(body, fixed, _is_pure)[1]
        remaining = [k for k in inductive if body.results[1 + k] in fixed]
        if remaining == inductive:
            break
        inductive = remaining
    lengths = [how.length(tensor_type(x)) for x, how in zip(scanned, op.scanned, strict=True)]
    bounded = (trip is None or is_constant(trip)) and all(isinstance(n, int) for n in lengths)
    stops = condition is None or (is_constant(condition) and body.results[0] in fixed)
    return inductive, bounded and stops and not op.slices_suffice


def _is_pure(node: Node) -> bool:
    return node.op.pure and all(inner.op.pure for region in node.regions for inner in walk(region))


def _run(node: Node, inductive: Sequence[int], evaluator: Evaluator) -> tuple[int, dict[int, Any]]:
    """The trip count, and the final values of induction variables."""
    assert isinstance(node.op, Loop)
    body, (_, condition, initial, scanned, captured) = node.regions[0], node.op.split(node.inputs)
    part = Region(body.name)
    part.arguments, part.nodes = body.arguments, body.nodes
    part.results = [*(body.results[:1] if condition is not None else ()), *(body.results[1 + k] for k in inductive)]
    ranks = [tensor_type(value).rank or 0 for value in body.arguments[:2]]
    states = {k: known_value(initial[k]) for k in inductive}
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
        states = dict(zip(inductive, results, strict=True))
        count += 1
    return count, states


def _with_trip_count(node: Node, count: int, build: Builder) -> list[Value]:
    """The loop with a constant trip count instead of its condition."""
    body = node.regions[0]
    trips = build.constant(np.array(count, INT64), "trips")
    body.results[0] = body.arguments[1]
    names = [value.name for value in node.outputs]
    build.inference.visited.clear()
    return build.add_many(node.op, [trips, None, *node.inputs[2:]], names, [body], node.name)
