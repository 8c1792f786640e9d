"""The interpreter: runs a module node by node with `op.run`. It is what every other backend must equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from whorl.errors import RunError
from whorl.ir.constants import Constant
from whorl.ir.graph import Node, Region, Value
from whorl.ir.infer import Inference, region_title
from whorl.ir.types import AnyShape, Fact, Known, TensorType, Type, fact_of, tensor
from whorl.ir.walk import clone_region
from whorl.ops.control.flow import If, Loop
from whorl.ops.control.iteration import Iteration, empty_collected
from whorl.ops.core.base import one_element
from whorl.ops.random.distributions import Random
from whorl.runtime.compiled.loop import NativeLoop
from whorl.runtime.compiled.partition import parts_of, run_parts
from whorl.runtime.compiled.program_cache import holds_loop
from whorl.runtime.credit import LATE
from whorl.runtime.interpreter.step import Kernel, Run, Step
from whorl.runtime.trace import now

LOOKS = 64
"""Iterations between polls for the background compiler."""
EMPTY_LIMIT = 64
"""Shape signatures for which a loop remembers the types of empty collected outputs."""


class Plan:
    """A region ready to run: slots for its values (slot 0 is the omitted value), constants in place, steps.

    The parts of a `native` plan are subgraphs that may be compiled, and the steps between them. Invariant: a slot is
    released after the last step that reads it, so that memory is bounded by what is live.
    """

    def __init__(self, region: Region, native: bool = False) -> None:
        self.slots: dict[Value, int] = {value: k for k, value in enumerate(region.arguments, 1)}
        self.count = len(region.arguments)
        constants: dict[int, Node] = {}
        self.steps: list[Step] = []
        for node in region.nodes:
            outputs = tuple(self._slot(value) for value in node.outputs)
            if isinstance(node.op, Constant):
                constants[outputs[0]] = node
                continue
            inputs = tuple(0 if value is None else self.slots[value] for value in node.inputs)
            kernel, needs_run = kernel_of(node, native)
            self.steps.append(Step(node, kernel, needs_run, inputs, outputs))
        self.results = tuple(self.slots[value] for value in region.results)
        self._set_frees(constants)
        arrays = {slot: _read_only(node.op.run()) for slot, node in constants.items()}
        self.template: list[Any] = [arrays.get(k) for k in range(1 + self.count, 1 + self.count + self._extra)]
        self.parts = parts_of(self.steps, constants) if native else [self.steps]

    def _slot(self, value: Value) -> int:
        self.slots[value] = len(self.slots) + 1
        return self.slots[value]

    @property
    def _extra(self) -> int:
        return len(self.slots) - self.count

    def _set_frees(self, constants: Mapping[int, Any]) -> None:
        """Each slot is released after the last step that reads it, or at once where nobody does."""
        kept = {0, *constants, *self.results}
        for step in reversed(self.steps):
            ends = {*step.inputs, *step.outputs} - kept
            step.frees = tuple(ends)
            kept |= ends

    def __call__(self, run: Run, *arguments: Any) -> list[Any]:
        """Run the region on its arguments and return its results."""
        env = [None, *arguments, *self.template]
        run_parts(run, env, self.parts)
        return [env[k] for k in self.results]


def kernel_of(node: Node, native: bool) -> tuple[Kernel, bool]:
    """What computes a node, and whether it takes the run as its first argument."""
    match node.op:
        case If():
            return BranchKernel(node, native), True
        case Loop():
            return LoopKernel(node, node.op, native), True
        case Random():
            return RandomKernel(node, node.op), True
    return node.op.run, False


class RandomKernel:
    """A random op at run time: one stream of numbers for the whole run, so that no two iterations draw the same."""

    def __init__(self, node: Node, op: Random) -> None:
        self.node, self.op = node, op

    def __call__(self, run: Run, *inputs: Any) -> Any:
        if self.node not in run.generators:
            run.generators[self.node] = self.op.generator()
        return self.op.draw(run.generators[self.node], *inputs)


class BranchKernel:
    """If at run time: the plans of both branches."""

    def __init__(self, node: Node, native: bool) -> None:
        self.plans = [Plan(region, native) for region in node.regions]
        self.titles = [region_title(node, k) for k in range(2)]

    def __call__(self, run: Run, condition: np.ndarray, *captured: Any) -> tuple[Any, ...]:
        index = 0 if one_element(condition, "the condition") else 1
        run.frames.append([self.titles[index], None])
        try:
            return tuple(self.plans[index](run, *captured))
        finally:
            run.frames.pop()


class LoopKernel:
    """Loop at run time: the plan of the body, and the types of what no iteration collects."""

    def __init__(self, node: Node, op: Loop, native: bool) -> None:
        self.node, self.op = node, op
        body = node.regions[0]
        self.plan = Plan(body, native)
        self.title = region_title(node, 0)
        self.ranks = tensor(body.arguments[0]).rank or 0, tensor(body.arguments[1]).rank or 0
        self.native, self.seen = NativeLoop(node), 0
        self.is_nested = any(holds_loop(each) for each in body.nodes)
        self.empty: dict[tuple, list[Type]] = {}

    def __call__(self, run: Run, *inputs: Any) -> tuple[Any, ...]:
        iteration = Iteration(self.op, inputs, self.ranks)
        frame: list[Any] = [self.title, 0]
        run.frames.append(frame)
        try:
            rows = self._iterate(iteration, frame, run)
        except RunError as error:
            title = f"{self.node.title} (iteration {frame[1]})"
            raise error.at(run.where(title, len(run.frames) - 1)) from None
        finally:
            run.frames.pop()
        if not iteration.index:
            return (*iteration.state, *self.nothing(inputs))
        if run.watched:
            run.budget.reserve(sum(element.nbytes for held in iteration.elements for element in held))
        collected = iteration.collected(rows)
        if run.watched:
            run.budget.hold(collected)
        return (*iteration.state, *iteration.last, *collected)

    def _iterate(self, iteration: Iteration, frame: list[Any], run: Run) -> Sequence[np.ndarray]:
        """Run every iteration; returns the collected rows of those that native code ran."""
        budget, plan, is_outermost = run.budget, self.plan, not any(i is not None for _, i in run.frames[:-1])
        may_compile, trace = run.native_after is not None and not run.watched, budget.trace
        if self.is_nested and budget.limits.max_iterations is not None:
            may_compile = False  # native code counts the iterations of the outermost loop only
        collected = 0
        while (arguments := iteration.next()) is not None:
            if may_compile and self._may_change_over(iteration, run):
                may_compile = False
                with run.credit.charged():
                    rows = self.native.run(iteration, frame, budget, self.node.title if is_outermost else None)
                if rows is not None:
                    frame[1] = iteration.index
                    iteration.require_slices()
                    return rows
                continue
            self.seen += 1
            frame[1] = iteration.index
            budget.check_iteration(iteration.index)
            start = now() if trace is not None else 0.0
            iteration.take(plan(run, *arguments))
            frame[1] = iteration.index
            if run.watched:
                collected += sum(held[-1].nbytes for held in iteration.elements)
                budget.reserve(collected)
            if trace is not None:
                trace.add(self.node.title, "iteration", start, iteration=iteration.index - 1, iterations=1)
            if is_outermost:
                budget.report(self.node.title, iteration.index, iteration.bound)
        return ()

    def _may_change_over(self, iteration: Iteration, run: Run) -> bool:
        """Whether native code takes over here: so late that it pays, and where it is there or may be waited for."""
        after = run.native_after or 0
        if run.credit.is_spent and after < LATE and not self.native.is_made(iteration):
            after = LATE
        if not self.native.is_due(iteration, after, self.seen):
            return False
        return run.waits or (iteration.index % LOOKS == 0 and self.native.is_ready(iteration))

    def nothing(self, inputs: Sequence[Any]) -> list[np.ndarray]:
        """The collected outputs of no iteration."""
        if self.op.last:
            raise RunError("no iteration ran, so there is no last value")
        if not self.op.collected:
            return []
        types = [value.type for value in self.node.outputs[self.op.carried :]]
        if any(_is_open(t, how) for t, how in zip(types, self.op.collected, strict=False)):
            types = self._types_for(inputs)
        joined = [tensor(Known(t), "a collected value") for t in types]
        return [empty_collected(t, how) for t, how in zip(joined, self.op.collected, strict=False)]

    def _types_for(self, inputs: Sequence[Any]) -> list[Type]:
        """The output types for these very operands, by inference through a copy of the body."""
        pairs = zip(inputs, self.node.inputs, strict=True)
        facts = [None if declared is None else _fact(x, declared) for x, declared in pairs]
        key = tuple(None if f is None else (f.type, _elements(f)) for f in facts)
        types = self.empty.get(key)
        if types is None:
            types = self._infer(facts)
            if len(self.empty) < EMPTY_LIMIT:
                self.empty[key] = types
        return types

    def _infer(self, facts: list[Fact | None]) -> list[Type]:
        node = Node(self.op, [], [clone_region(self.node.regions[0])], self.node.name)
        node.inputs = facts  # type: ignore[assignment]
        inference = Inference()
        inference.depth = 1
        return list(self.op.infer_regions(node, inference))[self.op.carried :]


def _fact(value: Any, declared: Value) -> Fact:
    """A run-time fact; what is no tensor keeps the static type, which says more."""
    return fact_of(value) if isinstance(declared.type, TensorType) else Known(declared.type)


def _elements(fact: Fact) -> tuple[Any, ...] | None:
    return None if fact.known is None else tuple(fact.known.flat)


def _is_open(type: Type, how: Any) -> bool:
    """Whether a joined type has a length, other than the collected axis, that is not a number."""
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
        return True
    axis = how.axis % len(type.shape)
    return any(not isinstance(dim, int) for k, dim in enumerate(type.shape) if k != axis)


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view
