"""The compiler of one session's plans: what of them runs as machine code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from whorl.codegen.target import is_available
from whorl.ir.graph import Node
from whorl.runtime.backends import Mode
from whorl.runtime.compiled.fast_path import FastPath
from whorl.runtime.compiled.loop_slices import LoopSlices
from whorl.runtime.compiled.partition import only_subgraph, partition_by_ops
from whorl.runtime.interpreter.accelerator import Accelerator, LoopRunner, Part
from whorl.runtime.interpreter.step import Interpreted, Step

if TYPE_CHECKING:
    from whorl.runtime.whole import Whole


class Compiler(Accelerator):
    """Compiles subgraphs and long loops of plans, as a mode says."""

    def __init__(self, mode: Mode) -> None:
        self.mode = mode

    def partition(self, steps: Sequence[Step], constants: Mapping[int, Node]) -> Sequence[Part]:
        if not self.mode.subgraphs or not is_available():
            return [Interpreted(steps)]
        return partition_by_ops(steps, constants, self.mode.waits)

    def loop_runner(self, loop: Node) -> LoopRunner | None:
        after = self.mode.loops_after
        return None if after is None or not is_available() else LoopSlices(loop, after, self.mode.waits)

    def watch(self, fast_path: FastPath, whole: Whole) -> None:
        """Let a fast path learn from the runs of a module."""
        fast_path.watch(only_subgraph(whole.plan), whole)
