"""Partition of a plan: steps that native code runs together, and what of them is left to the interpreter.

A node without a native form is interpreted from then on, with a subgraph before and one after it; an op that has a form
for other inputs runs by `run` from inside a program. A program of many statements is cut in parts: LLVM takes longer
for one long function than for several short ones.

A loop that surely ends soon, by its shapes or by a trip count that the program checks, is part of its subgraph and
costs no start of its own. Where iterations are counted, and where the subgraph has failed because the loop turned out
long, the loop runs on its own.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Union

import numpy as np

from whorl.errors import LimitError, WhorlError
from whorl.ir.graph import Node, Value
from whorl.runtime.compiled.launch import Launch
from whorl.runtime.compiled.program_cache import MOST_NODES, Segment, holds_loop, is_native_candidate
from whorl.runtime.compiled.refusals import Refusal
from whorl.runtime.interpreter.step import Run, Step, interpret, placed
from whorl.runtime.trace import MAIN, now

Part = Union["Stretch", list[Step]]


def run_parts(run: Run, env: list[Any], parts: Sequence[Part]) -> None:
    """Run stretches, and the steps between them, on the values in the slots."""
    for part in parts:
        if isinstance(part, Stretch):
            part(run, env)
        else:
            interpret(run, env, part)


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
    """Consecutive steps as one subgraph that may be compiled; `parts` once it was split, since some of it cannot be.

    A failed run leaves the slots of its inputs as they were, so that the steps can be interpreted from them.
    """

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
        self.title = self.segment.title
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
        check = run.budget.check if run.waits else None
        try:
            found = self.segment.find(arrays, in_loop, self.is_whole and not run.frames, check, run.credit)
        except LimitError as error:
            raise placed(error, self.steps[0].node, run) from None
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
            budget.require_time(launch.least_seconds)
        except WhorlError as error:
            raise placed(error, self.steps[0].node, run) from None
        if run.watched and (launch.graph.program.growing or not budget.has_room(launch.bytes)):
            return False
        try:
            results = self.segment.run(launch, arrays, budget)
        except WhorlError as error:
            raise placed(error, self.steps[0].node, run) from None
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
        if refusal.parts > 1:
            most = math.ceil(len(self.steps) / refusal.parts)
            starts = range(0, len(self.steps), most)
            self.parts = [Stretch(self.steps[n : n + most], self.constants) for n in starts]
            return
        if refusal.position is None:
            return
        first, second = refusal.position, refusal.position + 1
        before, after = (
            [Stretch(group, self.constants)] if group else [] for group in (self.steps[:first], self.steps[second:])
        )
        self.parts = [*before, self.steps[first:second], *after]


def _slotted_values(steps: Sequence[Step]) -> Iterator[tuple[int, Value]]:
    for step in steps:
        yield from ((slot, v) for slot, v in zip(step.inputs, step.node.inputs, strict=True) if v is not None)
        yield from zip(step.outputs, step.node.outputs, strict=True)
