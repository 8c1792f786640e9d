"""Nodes ready to run one after the other, the run that they are part of, and the errors that they may meet."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from whorl.errors import MemoryLimitError, RunError, WhorlError, format_location
from whorl.ir.graph import Node, as_types, as_values
from whorl.ir.types import AnyShape, TensorType, Type, fact_of, type_of
from whorl.ops.core.work import Effort
from whorl.ops.random.distributions import Generator
from whorl.runtime.credit import Credit
from whorl.runtime.limits import Budget, largest
from whorl.runtime.trace import MAIN, now

Kernel = Callable[..., Any]


class Run:
    """One run under way: its budget, and the regions it is in, outermost first, with their iteration numbers."""

    __slots__ = ("budget", "counts", "credit", "frames", "generators", "native_after", "waits", "watched")

    def __init__(
        self, budget: Budget, native_after: int | None = None, waits: bool = True, credit: Credit | None = None
    ) -> None:
        self.budget, self.native_after, self.waits = budget, native_after, waits
        self.credit = credit or Credit(0)
        self.watched = budget.limits.max_memory is not None
        limits = budget.limits
        self.counts = bool(limits.max_iterations is not None or limits.progress or budget.trace)
        self.frames: list[list[Any]] = []
        self.generators: dict[Node, Generator] = {}

    def where(self, title: str, depth: int | None = None) -> str:
        """The place of a node, with the iteration of every loop around it; `depth` counts the regions that are."""
        shown = (name if i is None else f"{name} (iteration {i})" for name, i in reversed(self.frames[:depth]))
        return format_location(title, *shown)


class Step:
    """One node ready to run: where its inputs lie, where its outputs go, and which values end here."""

    __slots__ = ("effort", "frees", "inputs", "kernel", "needs_run", "node", "outputs", "single")

    def __init__(self, node: Node, kernel: Kernel, needs_run: bool, inputs: tuple[int, ...], outputs: tuple[int, ...]):
        self.node, self.kernel, self.needs_run, self.inputs, self.outputs = node, kernel, needs_run, inputs, outputs
        self.single = outputs[0] if len(outputs) == 1 else -1
        self.frees: tuple[int, ...] = ()
        self.effort: Effort | None = None

    def compute(self, run: Run, inputs: list[Any]) -> Any:
        """What the node gives; an op that takes long is stopped by limits and signals, as far as it can be."""
        if self.node.regions:
            return self.kernel(run, *inputs)
        if self.effort is None:
            self.effort = Effort(self.node.op, [value.type for value in self.node.outputs])
        return self.effort.run(self.kernel, [run, *inputs] if self.needs_run else inputs, run.budget.check)


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
            result = step.compute(run, inputs)
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
    if isinstance(error, ValueError | OverflowError) and str(error).startswith(_TOO_LARGE):
        return MemoryLimitError(f"a tensor of it is larger than memory can ever hold{_made(node, inputs)}", where)
    pairs = zip(node.inputs, inputs, strict=False)
    given = ", ".join(f"{value.name}: {type_of(x)}" for value, x in pairs if value is not None and x is not None)
    try:
        types_of(node, inputs)
    except WhorlError as rule:
        return RunError(f"{rule.message} ({given})", where, rule.fix)
    return RunError(f"{str(error) or type(error).__name__} ({given})", where)


_TOO_LARGE = ("array is too big", "Maximum allowed", "maximum supported", "Python int too large to convert")
"""How NumPy says that a shape is beyond what it can count."""


def _made(node: Node, inputs: Sequence[Any]) -> str:
    """What a node would give, where its type rules tell."""
    try:
        types = types_of(node, inputs)
    except WhorlError:
        return ""
    return ": " + ", ".join(map(str, types)) if types else ""


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
