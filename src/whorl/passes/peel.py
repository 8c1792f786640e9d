"""Loops on constants, run at compile time to their end, or peeled for as long as everything they carry is constant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Node, Region, Value, walk
from whorl.ir.guards import is_list
from whorl.ir.types import SequenceType
from whorl.ops.control.flow import Loop, first_captured
from whorl.ops.elementwise.arithmetic import Add
from whorl.ops.sequence.sequences import SequenceConstruct
from whorl.passes.context import Context
from whorl.passes.evaluate import UNRESOLVED, Budget, Evaluator, LoopRun, Stopped, known_value

LONGEST_SEQUENCE = 32
"""Items of a sequence that a loop may become."""
LARGEST_RESULT = 1 << 24
"""Bytes that a loop may become; one that gives more is smaller as a loop."""


def peel_constant_iterations(node: Node, build: Builder, context: Context) -> Sequence[Value | None] | None:
    """The outputs of a loop that can be run now, or of one that begins where its state stops being constant."""
    assert isinstance(node.op, Loop)
    if node in context.refused or not all(inner.op.pure for inner in walk(node.regions[0])):
        return None
    first = first_captured(node)
    inputs = [known_value(value) for value in node.inputs[:first]]
    if any(value is UNRESOLVED for value in inputs):
        return None
    inputs += [known_value(value) for value in node.inputs[first:]]
    options = context.options
    budget = Budget(options.max_iterations, options.max_seconds, options.max_bytes)
    try:
        run = LoopRun(node, inputs, Evaluator(budget))
        while run.step():
            pass
        if run.iteration.is_over:
            return _constants(node, run.outputs(), build, context)
    except Stopped as stopped:
        context.report.skip(node.op, str(stopped))
        context.refused.add(node)
        return None
    return _peel(node, run, build, context)


def _constants(node: Node, outputs: Sequence[Any], build: Builder, context: Context) -> Sequence[Value | None] | None:
    pairs = list(zip(outputs, node.outputs, strict=False))
    if not all(_is_expressible(result, value) for result, value in pairs):
        context.report.skip(node.op, "gives what no constant can hold")
        return None
    if sum(_bytes(result) for result, _ in pairs) > LARGEST_RESULT:
        context.report.skip(node.op, "is smaller as a loop")
        context.refused.add(node)
        return None
    if not context.may_edit("evaluate_loop"):
        return None
    return [_as_value(result, value.name, build) for result, value in pairs]


def _is_expressible(result: Any, value: Value) -> bool:
    """Whether a value is a tensor, or a short sequence of tensors."""
    if is_list(result) and isinstance(value.type, SequenceType) and result:
        return len(result) <= LONGEST_SEQUENCE and all(isinstance(item, np.ndarray) for item in result)
    return isinstance(result, np.ndarray)


def _bytes(result: Any) -> int:
    return sum(map(_bytes, result)) if is_list(result) else result.nbytes


def _as_value(result: Any, name: str, build: Builder) -> Value:
    if isinstance(result, np.ndarray):
        return build.constant(result, name)
    return build.add(SequenceConstruct(), *(build.constant(item, name) for item in result), name=name)


def _peel(node: Node, run: LoopRun, build: Builder, context: Context) -> Sequence[Value | None] | None:
    """The loop from the first iteration on that is not known. What it collects is not cut in two."""
    op, count = run.op, run.iteration.index
    if not count or op.collected or op.scanned or any(not isinstance(v, np.ndarray) for v in run.iteration.state):
        return None
    if not context.may_edit("peel_loop"):
        return None
    body = node.regions[0]
    inputs = list(node.inputs)
    if run.inputs[0] is not None:
        inputs[0] = build.constant(np.asarray(run.inputs[0] - count, run.inputs[0].dtype), "trips")
    inputs[2 : 2 + op.carried] = [build.constant(v, "state") for v in run.iteration.state]
    number = body.arguments[0]
    if number in body.used_values():
        _shift(node, number, count, build)
    names = [value.name for value in node.outputs]
    build.inference.visited.clear()
    return build.add_many(op, inputs, names, [body], node.name)


def _shift(node: Node, number: Value, count: int, build: Builder) -> None:
    """Let a body count its iterations from `count` on."""
    body = node.regions[0]
    offset = Region(body.name)
    inner = Builder(offset, build.inference)
    shifted = inner.add(Add(), number, inner.constant(np.array(count, INT64)), name=number.name)
    body.replace_uses({number: shifted})
    body.nodes = [*offset.nodes, *body.nodes]
