"""The interpreter: runs a module node by node with `op.run`. It is what every other backend must equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from whorl.errors import MemoryLimitError, RunError, WhorlError, place
from whorl.ir.constants import Constant
from whorl.ir.dims import Linear
from whorl.ir.dtypes import bits
from whorl.ir.graph import Node, Region, Value
from whorl.ir.infer import Inference, region_title
from whorl.ir.op import as_types, as_values
from whorl.ir.types import AnyShape, Fact, Known, TensorType, Type, fact_of, tensor, type_of
from whorl.ir.walk import clone_region
from whorl.ops.base import one_element
from whorl.ops.control import If, Loop
from whorl.ops.iteration import Iteration, empty_collected
from whorl.ops.random import Generator, Random
from whorl.runtime.limits import Budget


class Run:
    """One run under way: its budget, and the regions it is in, outermost first, with their iteration numbers."""

    __slots__ = ("budget", "frames", "generators", "watched")

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.watched = budget.limits.max_memory is not None
        self.frames: list[list[Any]] = []
        self.generators: dict[Node, Generator] = {}

    def where(self, node: Node) -> str:
        """The node's place, with the iteration of every loop around it."""
        shown = (title if i is None else f"{title} (iteration {i})" for title, i in reversed(self.frames))
        return place(node.title, *shown)


Kernel = Callable[..., Any]


class Step:
    """One node ready to run: where its inputs lie, where its outputs go, and which values end here."""

    __slots__ = ("frees", "inputs", "kernel", "needs_run", "node", "outputs", "single")

    def __init__(self, node: Node, kernel: Kernel, needs_run: bool, inputs: tuple[int, ...], outputs: tuple[int, ...]):
        self.node, self.kernel, self.needs_run, self.inputs, self.outputs = node, kernel, needs_run, inputs, outputs
        self.single = outputs[0] if len(outputs) == 1 else -1
        self.frees: tuple[int, ...] = ()


class Plan:
    """A region ready to run: slots for its values (slot 0 is the omitted value), constants in place, steps."""

    def __init__(self, region: Region) -> None:
        self.slots: dict[Value, int] = {value: k for k, value in enumerate(region.arguments, 1)}
        self.count = len(region.arguments)
        constants: dict[int, np.ndarray] = {}
        self.steps: list[Step] = []
        for node in region.nodes:
            outputs = tuple(self._slot(value) for value in node.outputs)
            if isinstance(node.op, Constant):
                constants[outputs[0]] = _read_only(node.op.run())
                continue
            inputs = tuple(0 if value is None else self.slots[value] for value in node.inputs)
            kernel, needs_run = kernel_of(node)
            self.steps.append(Step(node, kernel, needs_run, inputs, outputs))
        self.results = tuple(self.slots[value] for value in region.results)
        self._set_frees(constants)
        self.template: list[Any] = [constants.get(k) for k in range(1 + self.count, 1 + self.count + self._extra)]

    def _slot(self, value: Value) -> int:
        self.slots[value] = len(self.slots) + 1
        return self.slots[value]

    @property
    def _extra(self) -> int:
        return len(self.slots) - self.count

    def _set_frees(self, constants: dict[int, np.ndarray]) -> None:
        """Each slot is released after the last step that reads it, or at once where nobody does."""
        kept = {0, *constants, *self.results}
        for step in reversed(self.steps):
            ends = {*step.inputs, *step.outputs} - kept
            step.frees = tuple(ends)
            kept |= ends

    def __call__(self, run: Run, *arguments: Any) -> list[Any]:
        """Run the region on its arguments and return its results."""
        env = [None, *arguments, *self.template]
        budget, watched = run.budget, run.watched
        for step in self.steps:
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
            except WhorlError as error:
                raise placed(error, step.node, run) from None
            except Exception as error:
                raise explained(error, step.node, inputs, run) from error
            if watched:
                account(step, env, budget, run)
            for slot in step.frees:
                env[slot] = None
        if watched:
            for k in self.results:
                budget.release(env[k])
        return [env[k] for k in self.results]


def kernel_of(node: Node) -> tuple[Kernel, bool]:
    """What computes a node, and whether it takes the run as its first argument."""
    match node.op:
        case If():
            return BranchKernel(node), True
        case Loop():
            return LoopKernel(node), True
        case Random():
            return RandomKernel(node), True
    return node.op.run, False


class RandomKernel:
    """A random op at run time: one stream of numbers for the whole run, so that no two iterations draw the same."""

    def __init__(self, node: Node) -> None:
        self.node, self.op = node, node.op

    def __call__(self, run: Run, *inputs: Any) -> Any:
        if self.node not in run.generators:
            run.generators[self.node] = self.op.generator()
        return self.op.draw(run.generators[self.node], *inputs)


class BranchKernel:
    """If at run time: the plans of both branches."""

    def __init__(self, node: Node) -> None:
        self.plans = [Plan(region) for region in node.regions]
        self.titles = [region_title(node, k) for k in range(2)]

    def __call__(self, run: Run, condition: np.ndarray, *captured: Any) -> tuple[Any, ...]:
        index = 0 if one_element(condition, "the condition") else 1
        run.frames.append([self.titles[index], None])
        results = self.plans[index](run, *captured)
        run.frames.pop()
        return tuple(results)


class LoopKernel:
    """Loop at run time: the plan of the body, and the types of what no iteration collects."""

    def __init__(self, node: Node) -> None:
        self.node, self.op = node, node.op
        body = node.regions[0]
        self.plan = Plan(body)
        self.title = region_title(node, 0)
        self.ranks = tensor(body.arguments[0]).rank or 0, tensor(body.arguments[1]).rank or 0
        self.empty: dict[Any, list[np.ndarray]] = {}

    def __call__(self, run: Run, *inputs: Any) -> tuple[Any, ...]:
        iteration = Iteration(self.op, inputs, self.ranks)
        frame: list[Any] = [self.title, 0]
        run.frames.append(frame)
        budget, plan = run.budget, self.plan
        progress = budget.limits.progress if len(run.frames) == 1 else None
        while (arguments := iteration.next()) is not None:
            frame[1] = iteration.index
            budget.check_iteration(iteration.index)
            before = iteration.state
            results = plan(run, *arguments)
            self._take(iteration, results, run)
            if run.watched:
                for value in results:
                    budget.hold(value)
                for value in before:
                    budget.release(value)
            if progress is not None:
                progress(self.node.title, iteration.index, iteration.bound)
        run.frames.pop()
        if iteration.index:
            return (*iteration.state, *iteration.last, *iteration.collected())
        return (*iteration.state, *self.nothing(inputs))

    def _take(self, iteration: Iteration, results: list[Any], run: Run) -> None:
        try:
            iteration.take(results)
        except RunError as error:
            i, regions = iteration.index, run.frames[:-1]
            shown = (t if k is None else f"{t} (iteration {k})" for t, k in reversed(regions))
            raise error.at(place(f"{self.node.title} (iteration {i})", *shown)) from None

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
        facts: list[Fact | None] = [
            None if x is None else _fact(x, v) for x, v in zip(inputs, self.node.inputs, strict=True)
        ]
        node = Node(self.op, [], [clone_region(self.node.regions[0])], self.node.name)
        node.inputs = facts  # type: ignore[assignment]
        inference = Inference()
        inference.depth = 1
        return list(self.op.infer_regions(node, inference))[self.op.carried :]


def _fact(value: Any, declared: Value | None) -> Fact:
    """A run-time fact; a list or None keeps the static type, which says more."""
    if isinstance(value, np.ndarray) or declared is None:
        return fact_of(value)
    return Known(declared.type)


def _is_open(type: Type, how: Any) -> bool:
    """Whether a joined type has a length, other than the collected axis, that is not a number."""
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
        return True
    axis = how.axis % len(type.shape)
    return any(not isinstance(dim, int) for k, dim in enumerate(type.shape) if k != axis)


def placed(error: WhorlError, node: Node, run: Run) -> WhorlError:
    """A kernel's own error with its place; what inference refuses at run time is a RunError too."""
    if isinstance(error, RunError):
        return error.at(run.where(node))
    return RunError(error.message, error.where or run.where(node), error.fix)


def explained(error: Exception, node: Node, inputs: Sequence[Any], run: Run) -> RunError:
    """What NumPy or Python says of a kernel that failed, with its place and the types it was given."""
    where = run.where(node)
    if isinstance(error, MemoryError):
        return MemoryLimitError(f"no memory: {error}", where, "use smaller tensors, or set max_memory")
    if isinstance(error, RecursionError):
        return RunError("graphs are nested too deep for this interpreter", where)
    given = ", ".join("none" if x is None else str(type_of(x)) for x in inputs)
    return RunError(f"{str(error) or type(error).__name__} (inputs: {given})", where)


def foresee(step: Step, inputs: Sequence[Any], budget: Budget) -> None:
    """Refuse a node whose results will not fit, before it allocates them."""
    if step.needs_run:
        return
    try:
        types = as_types(step.node.op.infer(*(None if x is None else fact_of(x) for x in inputs)))
    except WhorlError:
        return
    budget.reserve(sum(_size(type) for type in types[: len(step.outputs)]))


def _size(type: Type) -> int:
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
        return 0
    size = bits(type.dtype) // 8 or 1
    for dim in type.shape:
        size = size * dim if isinstance(dim, int) else 0 if isinstance(dim, Linear) else size
    return size


def account(step: Step, env: list[Any], budget: Budget, run: Run) -> None:
    """Record what a step made and what ends with it."""
    try:
        for slot in step.outputs:
            budget.hold(env[slot])
    except MemoryLimitError as error:
        raise error.at(run.where(step.node)) from None
    for slot in step.frees:
        budget.release(env[slot])


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view
