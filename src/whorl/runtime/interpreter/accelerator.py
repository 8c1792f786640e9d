"""The interface of what runs parts of a plan in the interpreter's place, as compiled code does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from whorl.ir.graph import Node
from whorl.ops.control.iteration import Iteration
from whorl.runtime.interpreter.step import Frame, Run, Step


class Part(Protocol):
    """Consecutive steps of a plan. It reads and writes the values in their slots, as the interpreter would."""

    def __call__(self, run: Run, slots: list[object], /) -> None: ...


class LoopRunner(Protocol):
    """Takes over a Loop node, from an iteration on that it chooses."""

    def serves(self, run: Run) -> bool:
        """Whether it may take over in this execution of the loop at all: asked once, before the first iteration."""
        ...

    def is_due(self, iteration: Iteration, run: Run) -> bool:
        """Whether to take over before the next iteration: asked before each, until it does."""
        ...

    def run(self, iteration: Iteration, frame: Frame, run: Run, is_outermost: bool) -> Sequence[np.ndarray] | None:
        """Run the loop to its end and return the rows that were collected meanwhile.

        None where it cannot: `iteration` then stands where the interpreter goes on, which meets and locates the error.
        """
        ...


class Accelerator(Protocol):
    """Decides what of a plan runs otherwise than step by step."""

    def partition(self, steps: Sequence[Step], constants: Mapping[int, Node]) -> Sequence[Part]:
        """The steps in order, as parts; `constants` are nodes by the slots that hold their values."""
        ...

    def loop_runner(self, loop: Node) -> LoopRunner | None: ...
