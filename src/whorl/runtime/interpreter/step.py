"""One node at run time: a step, the run that it is part of, and the errors that it may meet."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from whorl.errors import MemoryLimitError, RunError, WhorlError, format_location
from whorl.ir.graph import Node, as_types, as_values
from whorl.ir.types import AnyShape, TensorType, Type, fact_of, type_of
from whorl.ops.core.work import Effort
from whorl.runtime.limits import Budget, largest_bytes
from whorl.runtime.trace import MAIN, now

Kernel = Callable[..., object]
"""Computes a node: from arrays, or other values of a run, to one or a tuple of them."""


class Frame(Struct):
    """A region that a run is in; `iteration` is None in a branch."""

    title: str
    iteration: int | None = None


class Run:
    """One run under way: its budget, the regions it is in, outermost first, and its streams of random numbers."""

    __slots__ = ("budget", "frames", "generators", "is_memory_limited")

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.is_memory_limited = budget.limits.max_memory is not None
        self.frames: list[Frame] = []
        self.generators: dict[Node, np.random.RandomState] = {}

    def location(self, title: str, depth: int | None = None) -> str:
        """The location of a node, with the iteration of every loop around it, in the outermost `depth` regions."""
        shown = [
            frame.title if frame.iteration is None else f"{frame.title} (iteration {frame.iteration})"
            for frame in reversed(self.frames[:depth])
        ]
        return format_location(title, *shown)

    @property
    def is_in_loop(self) -> bool:
        return any(frame.iteration is not None for frame in self.frames)


class Step:
    """One node ready to run: the slots of its inputs and outputs, and of the values that it is the last to read."""

    __slots__ = ("effort", "frees", "inputs", "kernel", "needs_run", "node", "outputs", "single_output")

    def __init__(
        self, node: Node, kernel: Kernel, needs_run: bool, inputs: tuple[int, ...], outputs: tuple[int, ...]
    ) -> None:
        self.node, self.kernel, self.needs_run, self.inputs, self.outputs = node, kernel, needs_run, inputs, outputs
        self.single_output = outputs[0] if len(outputs) == 1 else -1
        self.frees: tuple[int, ...] = ()
        self.effort: Effort | None = None

    def compute(self, run: Run, inputs: list[object]) -> object:
        """The results of the node; an op that takes long is stopped by limits and signals, as far as it can be."""
        if self.node.regions:
            return self.kernel(run, *inputs)
        if self.effort is None:
            self.effort = Effort(self.node.op, [value.type for value in self.node.outputs])
        return self.effort.run(self.kernel, [run, *inputs] if self.needs_run else inputs, run.budget.check)


class Interpreted:
    """A part of a plan that is interpreted: its steps, one after the other."""

    __slots__ = ("steps",)

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = steps

    def __call__(self, run: Run, slots: list[object]) -> None:
        trace = run.budget.trace
        if trace is None or run.frames:
            interpret(run, slots, self.steps)
            return
        for step in self.steps:
            start = now()
            try:
                interpret(run, slots, [step])
            finally:
                trace.add(MAIN, step.node.title, start)


def interpret(run: Run, slots: list[object], steps: Sequence[Step]) -> None:
    """Run nodes one after the other on the values in their slots."""
    budget, is_memory_limited = run.budget, run.is_memory_limited
    for step in steps:
        inputs = [slots[k] for k in step.inputs]
        try:
            budget.check()
            if is_memory_limited:
                reserve_results(step, inputs, budget)
            result = step.compute(run, inputs)
            if step.single_output >= 0 and type(result) is np.ndarray:
                slots[step.single_output] = result
            else:
                for slot, value in zip(step.outputs, as_values(result), strict=False):
                    slots[slot] = value
            if is_memory_limited and not step.node.regions:
                budget.count([slots[k] for k in step.outputs], inputs)
        except WhorlError as error:
            raise locate_error(error, step.node, run) from None
        except Exception as error:
            raise explain_failure(error, step.node, inputs, run) from error
        for slot in step.frees:
            slots[slot] = None


def locate_error(error: WhorlError, node: Node, run: Run) -> WhorlError:
    """A kernel's own error with its location; what inference refuses at run time is a RunError too."""
    if isinstance(error, RunError):
        return error.at(run.location(node.title))
    return RunError(error.message, error.where or run.location(node.title), error.fix)


def explain_failure(error: Exception, node: Node, inputs: Sequence[object], run: Run) -> RunError:
    """Why a kernel failed: what the type rules object to in its inputs, else the text of NumPy or Python."""
    where = run.location(node.title)
    if isinstance(error, MemoryError):
        return MemoryLimitError(f"no memory: {error}", where, "use smaller tensors, or set max_memory")
    if isinstance(error, RecursionError):
        return RunError("graphs are nested too deep for this interpreter", where)
    if isinstance(error, ValueError | OverflowError) and str(error).startswith(_TOO_LARGE):
        results = _result_types(node, inputs)
        return MemoryLimitError(f"a tensor of it is larger than memory can ever hold{results}", where)
    pairs = zip(node.inputs, inputs, strict=False)
    shown = ", ".join(f"{value.name}: {type_of(x)}" for value, x in pairs if value is not None and x is not None)
    try:
        infer_results(node, inputs)
    except WhorlError as rule:
        return RunError(f"{rule.message} ({shown})", where, rule.fix)
    return RunError(f"{str(error) or type(error).__name__} ({shown})", where)


_TOO_LARGE = ("array is too big", "Maximum allowed", "maximum supported", "Python int too large to convert")
"""How NumPy says that a shape is beyond what it can count."""


def _result_types(node: Node, inputs: Sequence[object]) -> str:
    """The types of a node's results for an error text; empty where inference refuses the inputs."""
    try:
        types = infer_results(node, inputs)
    except WhorlError:
        return ""
    return ": " + ", ".join(map(str, types)) if types else ""


def infer_results(node: Node, inputs: Sequence[object]) -> tuple[Type, ...]:
    """The types of a node's results for these very inputs; empty for a node with regions."""
    if node.regions:
        return ()
    return as_types(node.op.infer(*(None if x is None else fact_of(x) for x in inputs)))


def reserve_results(step: Step, inputs: Sequence[object], budget: Budget) -> None:
    """Refuse a node whose results do not fit, before it allocates them.

    Results no larger than an input may be views of it: those are counted once they exist.
    """
    try:
        types = infer_results(step.node, inputs)
    except WhorlError:
        return
    size = sum(_bytes_of_type(type) for type in types[: len(step.outputs)])
    if size > largest_bytes(inputs):
        budget.reserve(size)


def _bytes_of_type(type: Type) -> int:
    """The bytes of a tensor; 0 where its shape is not known in full."""
    if not isinstance(type, TensorType) or isinstance(type.shape, AnyShape):
        return 0
    lengths = [dim for dim in type.shape if isinstance(dim, int)]
    return math.prod(lengths) * type.dtype.itemsize if len(lengths) == len(type.shape) else 0
