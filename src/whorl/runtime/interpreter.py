"""The interpreter: runs a module node by node with `op.run`. It is what every other backend must equal."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Union

import numpy as np

from whorl.errors import MemoryLimitError, RunError, WhorlError, place
from whorl.ir.constants import Constant
from whorl.ir.graph import Node, Region, Value
from whorl.ir.infer import Inference, region_title
from whorl.ir.op import as_types, as_values
from whorl.ir.types import AnyShape, Fact, Known, TensorType, Type, fact_of, tensor, type_of
from whorl.ir.walk import clone_region
from whorl.ops.base import one_element
from whorl.ops.control import If, Loop
from whorl.ops.iteration import Iteration, empty_collected
from whorl.ops.random import Generator, Random
from whorl.runtime.launch import Launch
from whorl.runtime.limits import Budget, largest
from whorl.runtime.native import NativeLoop
from whorl.runtime.segments import MOST_NODES, Refusal, Segment, holds_loop, is_native_candidate
from whorl.runtime.trace import MAIN, now


class Run:
    """One run under way: its budget, and the regions it is in, outermost first, with their iteration numbers."""

    __slots__ = ("budget", "counts", "frames", "generators", "native_after", "waits", "watched")

    def __init__(self, budget: Budget, native_after: int | None = None, waits: bool = True) -> None:
        self.budget, self.native_after, self.waits = budget, native_after, waits
        self.watched = budget.limits.max_memory is not None
        limits = budget.limits
        self.counts = bool(limits.max_iterations is not None or limits.progress or budget.trace)
        self.frames: list[list[Any]] = []
        self.generators: dict[Node, Generator] = {}

    def where(self, title: str, depth: int | None = None) -> str:
        """The place of a node, with the iteration of every loop around it; `depth` counts the regions that are."""
        shown = (name if i is None else f"{name} (iteration {i})" for name, i in reversed(self.frames[:depth]))
        return place(title, *shown)


Kernel = Callable[..., Any]
EMPTY_LIMIT = 64
"""Signatures of operands for which a loop remembers what no iteration collects."""


class Step:
    """One node ready to run: where its inputs lie, where its outputs go, and which values end here."""

    __slots__ = ("frees", "inputs", "kernel", "needs_run", "node", "outputs", "single")

    def __init__(self, node: Node, kernel: Kernel, needs_run: bool, inputs: tuple[int, ...], outputs: tuple[int, ...]):
        self.node, self.kernel, self.needs_run, self.inputs, self.outputs = node, kernel, needs_run, inputs, outputs
        self.single = outputs[0] if len(outputs) == 1 else -1
        self.frees: tuple[int, ...] = ()


class Plan:
    """A region ready to run: slots for its values (slot 0 is the omitted value), constants in place, steps.

    The parts of a `native` plan are stretches that native code may run, and the steps between them.
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


def run_parts(run: Run, env: list[Any], parts: Sequence[Part]) -> None:
    """Run stretches, and the steps between them, on the values in the slots."""
    for part in parts:
        if isinstance(part, Stretch):
            part(run, env)
        else:
            interpret(run, env, part)


def interpret(run: Run, env: list[Any], steps: Sequence[Step]) -> None:
    """Run nodes one after the other on the values in the slots."""
    trace = run.budget.trace
    if trace is None or run.frames:
        return interpret_each(run, env, steps)
    for step in steps:
        start = now()
        try:
            interpret_each(run, env, [step])
        finally:
            trace.add(MAIN, step.node.title, start)
    return None


def interpret_each(run: Run, env: list[Any], steps: Sequence[Step]) -> None:
    """Run nodes one after the other, without a trace."""
    budget, watched = run.budget, run.watched
    for step in steps:
        inputs = [env[k] for k in step.inputs]
        try:
            budget.check()
            if watched:
                foresee(step, inputs, budget)
            result = step.kernel(run, *inputs) if step.needs_run else step.kernel(*inputs)
            if step.single >= 0 and type(result) is np.ndarray:
                env[step.single] = result
            else:
                for slot, value in zip(step.outputs, as_values(result), strict=False):
                    env[slot] = value
            if watched and not step.node.regions:
                budget.hold([env[k] for k in step.outputs], inputs)
        except WhorlError as error:
            raise placed(error, step.node, run) from None
        except Exception as error:
            raise explained(error, step.node, inputs, run) from error
        for slot in step.frees:
            env[slot] = None


Part = Union["Stretch", list[Step]]


def parts_of(
    steps: Sequence[Step],
    constants: Mapping[int, Node],
    is_native: Callable[[Step], bool] = lambda step: is_native_candidate(step.node),
) -> list[Part]:
    """The steps in order, those together that native code may run."""
    parts: list[Part] = []
    for native, group in itertools.groupby(steps, is_native):
        members = list(group)
        if native:
            starts = range(0, len(members), MOST_NODES)
            parts += [Stretch(members[n : n + MOST_NODES], constants) for n in starts]
        else:
            parts.append(members)
    if len(parts) == 1 and isinstance(parts[0], Stretch):
        parts[0].is_whole = True
    return parts


MOST_FAILURES = 2
"""Runs in which a native stretch with loops may fail before its loops run on their own: they may be too long for it."""


class Stretch:
    """Steps that native code may run together, as a segment; what it cannot is left to the interpreter."""

    def __init__(self, steps: list[Step], constants: Mapping[int, Node]) -> None:
        self.steps, self.constants = steps, constants
        values = dict(_slotted_values(steps))
        made = {slot for step in steps for slot in step.outputs}
        read = [slot for slot in dict.fromkeys(k for step in steps for k in step.inputs if k) if slot not in made]
        ended = {slot for step in steps for slot in step.frees}
        self.inputs = [slot for slot in read if slot not in constants]
        self.outputs = sorted(made - ended)
        self.frees = tuple(ended.intersection(self.inputs))
        self.segment = Segment(
            [step.node for step in steps],
            [values[slot] for slot in self.inputs],
            [values[slot] for slot in self.outputs],
            [constants[slot] for slot in read if slot in constants],
        )
        self.title = f"{steps[0].node.title} to {steps[-1].node.title}" if len(steps) > 1 else steps[0].node.title
        self.parts: list[Part] = []
        self.is_whole = False
        self.failures = 0

    def __call__(self, run: Run, env: list[Any]) -> None:
        if self.parts:
            run_parts(run, env, self.parts)
        elif run.counts and self.segment.loop is not None:
            run_parts(run, env, self._apart)
        elif not self._runs_natively(run, env):
            run_parts(run, env, self.parts or [self.steps])

    @functools.cached_property
    def _apart(self) -> list[Part]:
        """The steps with loops left out of stretches, so that their iterations are counted."""
        return parts_of(self.steps, self.constants, lambda step: not holds_loop(step.node))

    def _runs_natively(self, run: Run, env: list[Any]) -> bool:
        arrays = [env[slot] for slot in self.inputs]
        if not self.segment.accepts(arrays):
            return False
        in_loop = any(i is not None for _, i in run.frames)
        trace, known = run.budget.trace, len(self.segment.found)
        start = now() if trace is not None else 0.0
        found = self.segment.find(arrays, in_loop, self.is_whole and not run.frames, run.waits)
        if trace is not None and len(self.segment.found) > known:
            trace.add_compilation(self.title, start, found.reason if isinstance(found, Refusal) else None)
        if isinstance(found, Refusal):
            self._split(found)
        if not isinstance(found, Launch):
            return False
        if self._launch(found, arrays, run, env):
            return True
        self.failures += 1
        if self.segment.loop is not None and self.failures >= MOST_FAILURES:
            self.parts = self._apart
        return False

    def _launch(self, launch: Launch, arrays: Sequence[np.ndarray], run: Run, env: list[Any]) -> bool:
        """Run the segment; False where it failed, or where only the interpreter may stay within the memory limit."""
        budget = run.budget
        start = now() if budget.trace is not None else 0.0
        try:
            budget.check()
        except WhorlError as error:
            raise placed(error, self.steps[0].node, run) from None
        if run.watched and (launch.graph.program.growing or not budget.has_room(launch.bytes)):
            return False
        results = self.segment.run(launch, arrays)
        if budget.trace is not None and not run.frames:
            budget.trace.add(MAIN, self.title, start, native=True, failed=results is None)
        if results is None:
            return False
        if run.watched:
            budget.hold(results)
        for slot, value in zip(self.outputs, results, strict=True):
            env[slot] = value
        for slot in self.frees:
            env[slot] = None
        return True

    def _split(self, refusal: Refusal) -> None:
        """Leave one node to the interpreter, and what comes before and after it to stretches of their own."""
        middle = len(self.steps) // 2
        first, second = (middle, middle) if refusal.is_long else (refusal.position, (refusal.position or 0) + 1)
        if first is None:
            return
        before, after = (
            [Stretch(group, self.constants)] if group else [] for group in (self.steps[:first], self.steps[second:])
        )
        self.parts = [*before, *([self.steps[first:second]] if second > first else []), *after]


def _slotted_values(steps: Sequence[Step]) -> Iterator[tuple[int, Value]]:
    for step in steps:
        yield from ((slot, v) for slot, v in zip(step.inputs, step.node.inputs, strict=True) if v is not None)
        yield from zip(step.outputs, step.node.outputs, strict=True)


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
        while (arguments := iteration.next()) is not None:
            if may_compile and self.native.is_due(iteration, run.native_after or 0, self.seen):
                may_compile = False
                rows = self.native.run(iteration, frame, budget, self.node.title if is_outermost else None)
                if rows is not None:
                    return rows
                continue
            self.seen += 1
            frame[1] = iteration.index
            budget.check_iteration(iteration.index)
            start = now() if trace is not None else 0.0
            iteration.take(plan(run, *arguments))
            if trace is not None:
                trace.add(self.node.title, "iteration", start, iteration=iteration.index - 1, iterations=1)
            if is_outermost:
                budget.report(self.node.title, iteration.index, iteration.bound)
        return ()

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


def placed(error: WhorlError, node: Node, run: Run) -> WhorlError:
    """A kernel's own error with its place; what inference refuses at run time is a RunError too."""
    if isinstance(error, RunError):
        return error.at(run.where(node.title))
    return RunError(error.message, error.where or run.where(node.title), error.fix)


def explained(error: Exception, node: Node, inputs: Sequence[Any], run: Run) -> RunError:
    """Why a kernel failed: what the type rules say of its inputs, else what NumPy or Python says."""
    where = run.where(node.title)
    if isinstance(error, MemoryError):
        return MemoryLimitError(f"no memory: {error}", where, "use smaller tensors, or set max_memory")
    if isinstance(error, RecursionError):
        return RunError("graphs are nested too deep for this interpreter", where)
    pairs = zip(node.inputs, inputs, strict=False)
    given = ", ".join(f"{value.name}: {type_of(x)}" for value, x in pairs if value is not None and x is not None)
    try:
        types_of(node, inputs)
    except WhorlError as rule:
        return RunError(f"{rule.message} ({given})", where, rule.fix)
    return RunError(f"{str(error) or type(error).__name__} ({given})", where)


def types_of(node: Node, inputs: Sequence[Any]) -> tuple[Type, ...]:
    """The types of what a node will give for these very inputs; nothing for a node with regions."""
    if node.regions:
        return ()
    return as_types(node.op.infer(*(None if x is None else fact_of(x) for x in inputs)))


def foresee(step: Step, inputs: Sequence[Any], budget: Budget) -> None:
    """Refuse a node whose results will not fit, before it allocates them.

    Results no larger than an input may be views of it: those are counted when they are there.
    """
    try:
        types = types_of(step.node, inputs)
    except WhorlError:
        return
    size = sum(_size(type) for type in types[: len(step.outputs)])
    if size > largest(inputs):
        budget.reserve(size)


def _size(type: Type) -> int:
    """The bytes of a tensor; 0 where its shape is not known in full."""
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
        return 0
    lengths = [dim for dim in type.shape if isinstance(dim, int)]
    return math.prod(lengths) * type.dtype.itemsize if len(lengths) == len(type.shape) else 0


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view
