"""Plans: regions ready to run, their nodes as steps and a slot for each value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from whorl.ir.constants import Constant
from whorl.ir.graph import Node, Region, Value
from whorl.ops.control.flow import If, Loop
from whorl.ops.random.distributions import Random
from whorl.runtime.interpreter.accelerator import Accelerator, Part
from whorl.runtime.interpreter.control import BranchKernel, LoopKernel, RandomKernel
from whorl.runtime.interpreter.step import Interpreted, Kernel, Run, Step


class Plan:
    """A region ready to run: slots for its values (slot 0 is the omitted value), constants in theirs, steps.

    An accelerator may run parts of it in another way. `template` has constants as read-only views, which no output may
    be itself. Invariant: a slot is released after the last step that reads it, so that memory is bounded by what is
    live.
    """

    def __init__(self, region: Region, accelerator: Accelerator | None = None) -> None:
        self.slots: dict[Value, int] = {value: k for k, value in enumerate(region.arguments, 1)}
        self.count = len(region.arguments)
        constants: dict[int, Node] = {}
        arrays: dict[int, np.ndarray] = {}
        self.steps: list[Step] = []
        for node in region.nodes:
            outputs = tuple(self._add_slot(value) for value in node.outputs)
            if isinstance(node.op, Constant):
                constants[outputs[0]], arrays[outputs[0]] = node, _read_only(node.op.run())
                continue
            inputs = tuple(0 if value is None else self.slots[value] for value in node.inputs)
            kernel, needs_run = kernel_of(node, accelerator)
            self.steps.append(Step(node, kernel, needs_run, inputs, outputs))
        self.results = tuple(self.slots[value] for value in region.results)
        self._set_frees(constants)
        self.template = [arrays.get(slot) for slot in range(1 + self.count, 1 + len(self.slots))]
        self.parts: Sequence[Part] = (
            [Interpreted(self.steps)] if accelerator is None else accelerator.partition(self.steps, constants)
        )

    def _add_slot(self, value: Value) -> int:
        self.slots[value] = len(self.slots) + 1
        return self.slots[value]

    def _set_frees(self, constants: Iterable[int]) -> None:
        """Each slot is released after the last step that reads it, or at once where no step does."""
        live = {0, *constants, *self.results}
        for step in reversed(self.steps):
            last_uses = {*step.inputs, *step.outputs} - live
            step.frees = tuple(last_uses)
            live |= last_uses

    def __call__(self, run: Run, *arguments: object) -> list[object]:
        """Run the region on its arguments and return its results."""
        slots: list[object] = [None, *arguments, *self.template]
        for part in self.parts:
            part(run, slots)
        return [slots[k] for k in self.results]


def kernel_of(node: Node, accelerator: Accelerator | None) -> tuple[Kernel, bool]:
    """What computes a node, and whether it takes the run as its first argument."""
    match node.op:
        case If():
            return BranchKernel(node, [Plan(region, accelerator) for region in node.regions]), True
        case Loop():
            runner = accelerator.loop_runner(node) if accelerator is not None else None
            return LoopKernel(node, node.op, Plan(node.regions[0], accelerator), runner), True
        case Random():
            return RandomKernel(node, node.op), True
        case _:
            return node.op.run, False


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view
