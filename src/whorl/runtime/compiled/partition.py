"""Splits a plan into subgraphs that compile and steps that are interpreted.

A node without a native form is interpreted from then on, with a subgraph before and one after it; an op that has a form
for other inputs runs by `run` from inside a program. A program that is one long function is cut in parts: LLVM
takes longer for it than for several short ones.

A loop that surely ends soon, by its shapes or by a trip count that the program checks, is part of its subgraph and
costs no start of its own. A limit on iterations is a number in programs of its own, which fail beyond it. Where
iterations are reported, and where the subgraph has failed because the loop turned out long, the loop runs on its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from whorl.errors import LimitError, WhorlError
from whorl.ir.cached_property import cached_property
from whorl.ir.graph import Node, Value
from whorl.runtime.compiled.candidates import has_loop, is_native_candidate
from whorl.runtime.compiled.cores import cores_of
from whorl.runtime.compiled.launch import BoundLaunch
from whorl.runtime.compiled.program_cache import MOST_NODES, ProgramCache
from whorl.runtime.compiled.refusals import Refusal
from whorl.runtime.compiled.subgraph_programs import SubgraphPrograms
from whorl.runtime.interpreter.accelerator import Part
from whorl.runtime.interpreter.plan import Plan
from whorl.runtime.interpreter.step import Interpreted, Run, Step, locate_error
from whorl.runtime.trace import MAIN, now

MOST_FAILURES = 2
"""Runs in which a subgraph with loops may fail before its loops run on their own: they may be too long for it."""


def partition(
    steps: Sequence[Step], constants: Mapping[int, Node], waits: bool, has_native_form: Callable[[Step], bool]
) -> list[Part]:
    """The steps in order, neighbours that machine code may run together as one part."""
    parts: list[Part] = []
    for is_native, group in itertools.groupby(steps, has_native_form):
        members = list(group)
        if is_native:
            parts += _cut(members, MOST_NODES, constants, waits)
        else:
            parts.append(Interpreted(members))
    if len(parts) == 1 and isinstance(parts[0], CompiledSubgraph):
        parts[0].is_whole = True
    return parts


def partition_by_ops(steps: Sequence[Step], constants: Mapping[int, Node], waits: bool) -> list[Part]:
    return partition(steps, constants, waits, lambda step: is_native_candidate(step.node))


def _cut(steps: Sequence[Step], most: int, constants: Mapping[int, Node], waits: bool) -> list[CompiledSubgraph]:
    starts = range(0, len(steps), most)
    return [CompiledSubgraph(steps[n : n + most], constants, waits) for n in starts]


class CompiledSubgraph:
    """Consecutive steps as one subgraph that may be compiled; `parts` once it was split, since some of it cannot be.

    Invariant: a failed run leaves the slots of its inputs as they were, so that the steps can be interpreted from them.
    `waits`: a run waits for the compiler. `is_prepared`: programs from the disk have run it.
    """

    def __init__(self, steps: Sequence[Step], constants: Mapping[int, Node], waits: bool) -> None:
        self.steps, self.constants, self.waits = steps, constants, waits
        values = dict(_slotted_values(steps))
        made = {slot for step in steps for slot in step.outputs}
        read = [slot for slot in dict.fromkeys(k for step in steps for k in step.inputs if k) if slot not in made]
        ended = {slot for step in steps for slot in step.frees}
        self.inputs = [slot for slot in read if slot not in constants]
        self.outputs = sorted(made - ended)
        self.frees = tuple(ended.intersection(self.inputs))
        self.programs = SubgraphPrograms(
            [step.node for step in steps],
            [values[slot] for slot in self.inputs],
            [values[slot] for slot in self.outputs],
            [constants[slot] for slot in read if slot in constants],
        )
        self.programs.prefers_tables = bool(self.programs.cache.sequences)
        self.cache = self.programs.cache
        self.title = self.cache.title
        self.parts: list[Part] = []
        self.is_whole = False
        self.is_prepared = False
        self.failures = 0
        self._interpreted = Interpreted(steps)

    def __call__(self, run: Run, slots: list[object]) -> None:
        if not self.parts:
            if self.cache.loop is not None and run.budget.reports_iterations:
                return _run_parts(run, slots, self._without_loops)
            if self._run_compiled(run, slots):
                return None
        return _run_parts(run, slots, self.parts or [self._interpreted])

    @property
    def caches(self) -> list[ProgramCache]:
        """The programs of runs without and with a limit on iterations, those of lists that are no rows too."""
        return self.programs.caches

    @cached_property
    def _without_loops(self) -> list[Part]:
        """The steps with loops left out of subgraphs, so that their iterations are counted."""
        return partition(self.steps, self.constants, self.waits, lambda step: not has_loop(step.node))

    def _run_compiled(self, run: Run, slots: list[object]) -> bool:
        """Run machine code; False where there is none for these inputs, or where it failed."""
        values = [slots[slot] for slot in self.inputs]
        chosen = self.programs.choose(values, run.budget.limits.max_iterations)
        if chosen is None:
            return False
        cache, arrays = chosen
        trace, known = run.budget.trace, len(cache.programs)
        start = now() if trace is not None else 0.0
        is_alone = self.is_whole and not run.frames
        try:
            program = cache.find(arrays, run.is_in_loop, is_alone, run.budget, self.waits)
        except LimitError as error:
            raise locate_error(error, self.steps[0].node, run) from None
        if trace is not None and len(cache.programs) > known:
            trace.add_compilation(self.title, start, program.reason if isinstance(program, Refusal) else None)
        if isinstance(program, Refusal) and cache in (self.cache, *self.programs.limited.values()):
            self._split(program)
        if isinstance(program, BoundLaunch) and self._launch(program, arrays, run, slots):
            return True
        if program is not None and self.programs.may_be_rows(values, cache):
            self.programs.prefers_tables = False
            return self._run_compiled(run, slots)
        if not isinstance(program, BoundLaunch):
            return False
        self.failures += cache is self.cache
        if cache.loop is not None and self.failures >= MOST_FAILURES:
            self.parts = self._without_loops
        return False

    def _launch(self, launch: BoundLaunch, arrays: Sequence[np.ndarray], run: Run, slots: list[object]) -> bool:
        """Run the program; False where it failed, or where only the interpreter may stay within the memory limit."""
        budget = run.budget
        start = now() if budget.trace is not None else 0.0
        try:
            budget.check()
            budget.require_time(launch.launch.least_seconds / cores_of(budget.threads))
            needs_more = launch.graph.program.growing or self.cache.sequences
            if run.is_memory_limited and (needs_more or not budget.has_room(launch.bytes)):
                return False
            results = self.cache.run(launch, arrays, budget)
        except WhorlError as error:
            raise locate_error(error, self.steps[0].node, run) from None
        if budget.trace is not None and not run.frames:
            budget.trace.add(MAIN, self.title, start, native=True, failed=results is None)
        if results is None:
            return False
        if run.is_memory_limited:
            budget.count(results)
        for slot, value in zip(self.outputs, results, strict=True):
            slots[slot] = value
        for slot in self.frees:
            slots[slot] = None
        return True

    def _split(self, refusal: Refusal) -> None:
        """Leave one node to the interpreter, and what comes before and after it to subgraphs of their own."""
        if refusal.parts > 1:
            self.parts = [*_cut(self.steps, math.ceil(len(self.steps) / refusal.parts), self.constants, self.waits)]
        elif refusal.position is not None:
            n, most = refusal.position, len(self.steps)
            before = _cut(self.steps[:n], most, self.constants, self.waits)
            after = _cut(self.steps[n + 1 :], most, self.constants, self.waits)
            self.parts = [*before, Interpreted([self.steps[n]]), *after]


def _run_parts(run: Run, slots: list[object], parts: Sequence[Part]) -> None:
    for part in parts:
        part(run, slots)


def _slotted_values(steps: Sequence[Step]) -> Iterator[tuple[int, Value]]:
    for step in steps:
        yield from ((slot, v) for slot, v in zip(step.inputs, step.node.inputs, strict=True) if v is not None)
        yield from zip(step.outputs, step.node.outputs, strict=True)


def only_subgraph(plan: Plan) -> CompiledSubgraph | None:
    """The subgraph that is the whole plan, if every result is an array of its own that it makes."""
    if len(plan.parts) != 1 or len(set(plan.results)) < len(plan.results):
        return None
    part = plan.parts[0]
    return part if isinstance(part, CompiledSubgraph) and set(plan.results) <= set(part.outputs) else None
