"""Loops on constants, run at compile time to their end, or for as long as everything they carry is constant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.constants import as_array
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Node, Value
from whorl.ops.control import Loop
from whorl.ops.elementwise import Add, Sub
from whorl.passes.context import Context
from whorl.passes.control_flow.evaluate import UNRESOLVED, Budget, Evaluator, LoopRun, Stopped
from whorl.passes.rules.pattern import constant_of

LARGEST_RESULT = 1 << 24
"""Bytes that a loop may become; one that gives more is smaller as a loop."""


def run_constant_part(node: Node, build: Builder, context: Context) -> Sequence[Value | None] | None:
    """The outputs of a loop that can be run now, or of one that begins where its state stops being constant."""
    assert isinstance(node.op, Loop)
    if node in context.refused or not _may_start(node):
        return None
    options = context.options
    budget = Budget(options.max_iterations, options.max_seconds, min(options.max_bytes, LARGEST_RESULT))
    try:
        run = LoopRun(node, [_known(value) for value in node.inputs], Evaluator(budget))
        while run.step():
            pass
        if run.iteration.is_over:
            return _constants(node, run.outputs(), build, context)
    except Stopped as stopped:
        context.report.skip(node.op, str(stopped))
        context.refused.add(node)
        return None
    return _peeled(node, run, build, context)


def _may_start(node: Node) -> bool:
    """Whether the first iteration is known to run, with a state that is constant."""
    assert isinstance(node.op, Loop)
    trip, condition, carried, scanned, _ = node.op.split(node.inputs)
    return all(value is None or constant_of(value) is not None for value in (trip, condition, *carried, *scanned))


def _known(value: Value | None) -> Any:
    if value is None:
        return None
    constant = constant_of(value)
    return UNRESOLVED if constant is None else as_array(constant.value)


def _constants(node: Node, outputs: Sequence[Any], build: Builder, context: Context) -> Sequence[Value | None] | None:
    if any(not isinstance(value, np.ndarray) for value in outputs[: len(node.outputs)]):
        context.report.skip(node.op, "gives what is no tensor")
        return None
    if not context.may_edit("evaluate_loop"):
        return None
    return [build.constant(array, value.name) for array, value in zip(outputs, node.outputs, strict=False)]


def _peeled(node: Node, run: LoopRun, build: Builder, context: Context) -> Sequence[Value | None] | None:
    """The loop from the first iteration on that is not known. What it collects is not cut in two."""
    op, count = run.op, run.iteration.index
    if not count or op.collected or op.scanned or any(not isinstance(v, np.ndarray) for v in run.iteration.state):
        return None
    if not context.may_edit("peel_loop"):
        return None
    body = node.regions[0]
    inputs = list(node.inputs)
    if inputs[0] is not None:
        inputs[0] = build.add(Sub(), inputs[0], build.constant(np.array(count, INT64)), name="trips")
    inputs[2 : 2 + op.carried] = [build.constant(v, "state") for v in run.iteration.state]
    number = body.arguments[0]
    readers = [inner for inner in body.nodes if number in inner.inputs]
    if readers or number in body.results:
        _shift(node, number, count, build)
    names = [value.name for value in node.outputs]
    build.inference.visited.clear()
    return build.add_many(op, inputs, names, [body], node.name)


def _shift(node: Node, number: Value, count: int, build: Builder) -> None:
    """Let a body count its iterations from `count` on."""
    body = node.regions[0]
    old = body.nodes
    body.nodes = []
    inner = Builder(body, build.inference)
    moved = inner.add(Add(), number, inner.constant(np.array(count, INT64)), name=number.name)
    for each in old:
        each.inputs = [moved if value is number else value for value in each.inputs]
    body.nodes += old
    body.results = [moved if value is number else value for value in body.results]
