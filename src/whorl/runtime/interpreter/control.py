"""Kernels of nodes that need the run: If and Loop, which run plans of their regions, and random ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from whorl.errors import RunError
from whorl.ir.graph import Node, Value
from whorl.ir.infer import Inference, region_title
from whorl.ir.types import AnyShape, Fact, Known, SequenceType, TensorType, Type, fact_of, tensor
from whorl.ir.walk import clone_region
from whorl.ops.control.flow import Collected, Loop
from whorl.ops.control.iteration import Iteration, empty_collected
from whorl.ops.core.base import one_element
from whorl.ops.random.distributions import Random
from whorl.runtime.interpreter.accelerator import LoopRunner
from whorl.runtime.interpreter.step import Frame, Run
from whorl.runtime.trace import now

EMPTY_LIMIT = 64
"""Shape signatures for which a loop remembers the types of empty collected outputs."""


class RegionPlan(Protocol):
    """A region ready to run: a `Plan`."""

    def __call__(self, run: Run, *arguments: object) -> list[object]: ...


class RandomKernel:
    """A random op at run time: one stream of numbers for the whole run, so that no two iterations draw the same."""

    def __init__(self, node: Node, op: Random) -> None:
        self.node, self.op = node, op

    def __call__(self, run: Run, *inputs: object) -> object:
        if self.node not in run.generators:
            run.generators[self.node] = self.op.generator()
        return self.op.draw(run.generators[self.node], *inputs)


class BranchKernel:
    """If at run time: the plans of both branches."""

    def __init__(self, node: Node, plans: Sequence[RegionPlan]) -> None:
        self.plans = plans
        self.titles = [region_title(node, k) for k in range(2)]

    def __call__(self, run: Run, condition: np.ndarray, *captured: object) -> tuple[object, ...]:
        index = 0 if one_element(condition, "the condition") else 1
        run.frames.append(Frame(self.titles[index]))
        try:
            return tuple(self.plans[index](run, *captured))
        finally:
            run.frames.pop()


class LoopKernel:
    """Loop at run time: the plan of the body, which a runner may take over from any iteration on."""

    def __init__(self, node: Node, op: Loop, plan: RegionPlan, runner: LoopRunner | None) -> None:
        self.node, self.op, self.plan, self.runner = node, op, plan, runner
        body = node.regions[0]
        self.title = region_title(node, 0)
        self.ranks = tensor(body.arguments[0]).rank or 0, tensor(body.arguments[1]).rank or 0
        self.empty_types: dict[tuple[object, ...], list[Type]] = {}

    def __call__(self, run: Run, *inputs: object) -> tuple[object, ...]:
        iteration = Iteration(self.op, inputs, self.ranks)
        is_outermost, frame = not run.is_in_loop, Frame(self.title, 0)
        run.frames.append(frame)
        try:
            rows = self._iterate(iteration, frame, run, is_outermost)
        except RunError as error:
            title = f"{self.node.title} (iteration {frame.iteration})"
            raise error.at(run.location(title, len(run.frames) - 1)) from None
        finally:
            run.frames.pop()
        if not iteration.index:
            return (*iteration.state, *self.empty_outputs(inputs))
        if run.is_memory_limited:
            run.budget.reserve(sum(element.nbytes for elements in iteration.elements for element in elements))
        collected = iteration.collected(rows)
        if run.is_memory_limited:
            run.budget.count(collected)
        return (*iteration.state, *iteration.last, *collected)

    def _iterate(self, iteration: Iteration, frame: Frame, run: Run, is_outermost: bool) -> Sequence[np.ndarray]:
        """Run every iteration; returns the rows that the runner collected, if it took over."""
        budget, plan, trace = run.budget, self.plan, run.budget.trace
        runner = self.runner if self.runner is not None and self.runner.serves(run) else None
        collected = 0
        while (arguments := iteration.next()) is not None:
            if runner is not None and runner.is_due(iteration, run):
                rows = runner.run(iteration, frame, run, is_outermost)
                if rows is not None:
                    frame.iteration = iteration.index
                    iteration.require_slices()
                    return rows
                runner = None
                continue
            frame.iteration = iteration.index
            budget.check_iteration(iteration.index)
            start = now() if trace is not None else 0.0
            iteration.take(plan(run, *arguments))
            frame.iteration = iteration.index
            if run.is_memory_limited:
                collected += sum(elements[-1].nbytes for elements in iteration.elements)
                budget.reserve(collected)
            if trace is not None:
                trace.add(self.node.title, "iteration", start, iteration=iteration.index - 1, iterations=1)
            if is_outermost:
                budget.report(self.node.title, iteration.index, iteration.bound)
        return ()

    def empty_outputs(self, inputs: Sequence[object]) -> list[np.ndarray]:
        """The collected outputs of no iteration."""
        if self.op.last:
            raise RunError("no iteration ran, so there is no last value")
        if not self.op.collected:
            return []
        types = [value.type for value in self.node.outputs[self.op.carried :]]
        if any(_has_unknown_length(t, how) for t, how in zip(types, self.op.collected, strict=False)):
            types = self._types_for(inputs)
        stacked = [tensor(Known(t), "a collected value") for t in types]
        return [empty_collected(t, how) for t, how in zip(stacked, self.op.collected, strict=False)]

    def _types_for(self, inputs: Sequence[object]) -> list[Type]:
        """The output types for these very operands, by inference through a copy of the body."""
        pairs = zip(inputs, self.node.inputs, strict=True)
        facts = [None if declared is None else _fact(x, declared) for x, declared in pairs]
        key = tuple(None if fact is None else (fact.type, _elements(fact)) for fact in facts)
        types = self.empty_types.get(key)
        if types is None:
            types = self._infer(facts)
            if len(self.empty_types) < EMPTY_LIMIT:
                self.empty_types[key] = types
        return types

    def _infer(self, facts: list[Fact | None]) -> list[Type]:
        node = Node(self.op, [], [clone_region(self.node.regions[0])], self.node.name)
        node.inputs = facts  # type: ignore[assignment]  # inference reads only types and elements of inputs
        inference = Inference()
        inference.depth = 1
        return list(self.op.infer_regions(node, inference))[self.op.carried :]


def _fact(value: object, declared: Value) -> Fact:
    """A run-time fact; a sequence is one of tensors of the shape that its own have. Else the static type says more."""
    is_proved = isinstance(declared.type, TensorType) or (isinstance(declared.type, SequenceType) and value)
    return fact_of(value) if is_proved else Known(declared.type)


def _elements(fact: Fact) -> tuple[object, ...] | None:
    return None if fact.known is None else tuple(fact.known.flat)


def _has_unknown_length(type: Type, how: Collected) -> bool:
    """Whether the type of a collected output has a length, other than that of its own axis, that is not a number."""
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
        return True
    axis = how.axis % len(type.shape)
    return any(not isinstance(dim, int) for k, dim in enumerate(type.shape) if k != axis)
