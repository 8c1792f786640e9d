"""Loops that run on their own, natively, a slice of their iterations at a time.

Where iterations are reported, and where what is around a loop has no native form, a loop is interpreted, and this takes
over. A slice is a loop itself (`passes.slice_loop`), with programs like any subgraph; between slices, progress is
reported and limits are looked at. Where one fails, shorter ones follow up to the failure, and the interpreter meets it
again there and names its location.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from whorl.errors import TypeRuleError
from whorl.ir.graph import Node
from whorl.ops.control.iteration import Iteration
from whorl.passes.slice_loop import COUNTED, LoopSlice, slice_of
from whorl.runtime.buffer_pool import empty
from whorl.runtime.compiled.launch import NOWHERE, BoundLaunch, Launch
from whorl.runtime.compiled.program_cache import ProgramCache
from whorl.runtime.compiled.refusals import Refusal
from whorl.runtime.compiled.subgraph_programs import SubgraphPrograms
from whorl.runtime.interpreter.accelerator import LoopRunner
from whorl.runtime.interpreter.step import Frame, Run
from whorl.runtime.trace import now
from whorl.runtime.values import is_array, is_sequence

SLICE_SECONDS = 0.01
"""How long a slice takes, unless to copy what it carries takes more than a part of that."""
BYTES_PER_SECOND, COPIES = 4e9, 8
"""How fast carried values are copied, and how many times as long as that a slice takes."""
LONGEST_SLICE, MOST_GROWTH = 1 << 22, 16
MOST_SHAPES = 64
"""Shapes for which the length of slices is remembered."""
RETRY = 16
"""By how much a slice is shorter than one that failed."""
POLL_EVERY = 64
"""Iterations between polls for the background compiler."""
WORTHWHILE = 16
"""Iterations that must be left for a loop that was interpreted so far to change over."""
LATE = 500
"""Iterations of a loop after which it is compiled without credit: it may have many more."""
EXACT_BYTES = 1 << 32
"""Memory for collected rows that is reserved at once where their number is known; beyond it, it grows."""


class CollectedRows:
    """The rows that slices of a loop have collected, in memory that is there at once where their number is known."""

    def __init__(self, iteration: Iteration) -> None:
        self.iteration, self.count, self.done = iteration, len(iteration.elements), 0
        self.left = None if iteration.stops or iteration.bound is None else iteration.bound - iteration.index
        self.rows: list[np.ndarray] = []

    def memory(self, count: int) -> list[np.ndarray]:
        """Memory for so many rows more, if their shapes are known."""
        self._reserve(self.done + count)
        return [x[self.done : self.done + count] for x in self.rows]

    def add(self, rows: Sequence[np.ndarray], count: int) -> bool:
        """Take the rows of a slice; False where their shapes are none that the loop may collect."""
        first = self.rows or [np.stack(x[:1]) if x else y for x, y in zip(self.iteration.elements, rows, strict=True)]
        if any(x.shape[1:] != y.shape[1:] for x, y in zip(first, rows, strict=True)):
            return False
        if not self.done and not self.iteration.accepts(rows):
            return False
        if self.done:
            for own, x in zip(self.memory(count), rows, strict=True):
                if not np.may_share_memory(own, x):
                    own[...] = x
        else:
            self.rows = [*rows]
        self.done += count
        return True

    def _reserve(self, needed: int) -> None:
        """Have memory for so many rows."""
        if not self.rows or needed <= len(self.rows[0]):
            return
        size = sum(x.nbytes // len(x) for x in self.rows)
        is_known = self.left is not None and self.left * size <= EXACT_BYTES
        capacity = self.left if is_known and self.left is not None else max(needed, 2 * len(self.rows[0]))
        for n, old in enumerate(self.rows):
            self.rows[n] = empty((capacity, *old.shape[1:]), old.dtype)
            self.rows[n][: self.done] = old[: self.done]

    def leave(self) -> None:
        """Hand the rows to the iteration, which goes on interpreted."""
        for elements, rows in zip(self.iteration.elements, self.arrays(), strict=False):
            elements.extend(rows[k, ...] for k in range(len(rows)))

    def arrays(self) -> list[np.ndarray]:
        """All rows."""
        return [x if len(x) == self.done else x[: self.done] for x in self.rows]


class LoopSlices(LoopRunner):
    """The programs of the slices of one Loop node.

    It takes over after so many interpreted iterations; `waits`: for the compiler, which else works in the background.
    `refusal` says why there can be no program at all, `lengths` how many iterations a slice has for values of such
    shapes: an iteration may take a million times as long for others.
    """

    def __init__(self, node: Node, after: int, waits: bool) -> None:
        self.node, self.after, self.waits = node, after, waits
        self.interpreted = 0
        self.lengths: dict[Hashable, int] = {}
        self.slice: LoopSlice | None = None
        self.programs: SubgraphPrograms | None = None
        self.refusal: Refusal | None = None

    def serves(self, run: Run) -> bool:
        """Where memory is limited, the interpreter counts it."""
        return not run.is_memory_limited and self.refusal is None

    def is_due(self, iteration: Iteration, run: Run) -> bool:
        """Late enough that compiling pays, and where the program is there or may be waited for."""
        remaining = None if iteration.bound is None else iteration.bound - iteration.index
        after = max(self.after, LATE) if run.budget.credit.is_spent and self.programs is None else self.after
        pays = after == 0 or (self.interpreted >= after and (remaining is None or remaining >= WORTHWHILE))
        if pays and (self.waits or (iteration.index % POLL_EVERY == 0 and self._is_ready(iteration, run))):
            return True
        self.interpreted += 1
        return False

    def _is_ready(self, iteration: Iteration, run: Run) -> bool:
        """Whether there is a program, or surely none; else one is made in the background."""
        chosen = self._choose(iteration, WORTHWHILE, run)
        return chosen is None or chosen[0].find(chosen[1], True, False, run.budget, waits=False) is not None

    def _choose(self, iteration: Iteration, count: int, run: Run) -> tuple[ProgramCache, list[np.ndarray]] | None:
        """The programs for so many iterations, and their inputs; None where there can be none."""
        if self.slice is None or self.programs is None:
            try:
                self.slice = slice_of(self.node)
                self.programs = _programs_of(self.slice)
            except TypeRuleError as error:
                self.refusal = Refusal(str(error))
                return None
        first = iteration.index
        rows = [x[first : first + count] for x in iteration.rows] if self.slice.is_scanned else [_COUNTED[:count]]
        inputs = [np.array(True)] if self.slice.stops else []
        inputs += [*iteration.state, *rows, *(iteration.captured[n] for n in self.slice.captured), np.array(first)]
        return self.programs.choose(inputs, run.budget.limits.max_iterations)

    def run(self, iteration: Iteration, frame: Frame, run: Run, is_outermost: bool) -> Sequence[np.ndarray] | None:
        """Run a loop to its end; returns the rows it collected.

        None where there is no native form, or where native code met an error: the iteration then stands a few
        iterations before it, for the interpreter to meet it again and name its location.
        """
        budget, collected, shapes = run.budget, CollectedRows(iteration), _shapes_of(iteration)
        length, has_failed = self.lengths.get(shapes, 1), False
        while not iteration.is_over:
            frame.iteration = first = iteration.index
            budget.check_iteration(first)
            left = [n - first for n in (iteration.bound, budget.limits.max_iterations) if n is not None]
            count = min([length, *left])
            start = now()
            done = self._run_slice(iteration, count, collected, run)
            if not done and (done is None or count <= RETRY):
                collected.leave()
                return None
            if not done:
                length, has_failed = count // RETRY, True
                continue
            if budget.trace is not None:
                facts = {"iteration": first, "iterations": iteration.index - first, "native": True}
                budget.trace.add(self.node.title, "slice", start, **facts)
            if iteration.index - first == length and not has_failed:
                length = _next_length(length, now() - start, iteration)
                self.lengths = {**dict([*self.lengths.items()][1 - MOST_SHAPES :]), shapes: length}
            if is_outermost:
                budget.report(self.node.title, iteration.index, iteration.bound)
        return collected.arrays()

    def _run_slice(self, iteration: Iteration, count: int, collected: CollectedRows, run: Run) -> bool | None:
        """Run so many iterations, or fewer where the loop stops; False where the program failed, None where none is."""
        chosen = self._choose(iteration, count, run)
        if chosen is None:
            return None
        (cache, arrays), budget, start = chosen, run.budget, now()
        known = len(cache.programs)
        launch = cache.find(arrays, True, False, budget, self.waits)
        if budget.trace is not None and len(cache.programs) > known:
            reason = launch.reason if isinstance(launch, Refusal) else None
            budget.trace.add_compilation(self.node.title, start, reason)
        if not isinstance(launch, BoundLaunch):
            return None
        last = len(self.node.outputs) - collected.count
        first_rows = last + 2 * iteration.stops
        into = NOWHERE if iteration.stops else dict(enumerate(collected.memory(count), first_rows))
        results = cache.run(launch, arrays, budget, into)
        if results is None:
            return False
        done = int(results[last].item()) + 1 if iteration.stops else count
        if not collected.add(results[first_rows:], done):
            return False
        carried = len(iteration.state)
        iteration.index, iteration.go_on = iteration.index + done, not iteration.stops or bool(results[last + 1].item())
        iteration.state, iteration.last = results[:carried], results[carried:last]
        return True

    @property
    def attempts(self) -> list[Launch | Refusal]:
        """The programs of slices, and why there are none."""
        made = [] if self.programs is None else [p for cache in self.programs.caches for p in cache.programs.values()]
        return made if self.refusal is None else [*made, self.refusal]


def _programs_of(slice: LoopSlice) -> SubgraphPrograms:
    arguments, captured = slice.region.arguments, len(slice.captured) + 1
    varying = [*arguments[:-captured], arguments[-1]]
    return SubgraphPrograms([slice.node], arguments, slice.node.outputs, slice.constants, varying)


def _shapes_of(iteration: Iteration) -> Hashable:
    """What an iteration computes on, as far as shapes tell."""
    values = [*iteration.state, *iteration.captured]
    return tuple(len(x) if is_sequence(x) else np.shape(x) for x in values), *(x.shape[1:] for x in iteration.rows)


def _next_length(length: int, seconds: float, iteration: Iteration) -> int:
    """Iterations that take about as long as a slice is to, after some that took so many seconds."""
    copied = 2 * sum(_bytes_of(x) for x in iteration.state)
    least = max(SLICE_SECONDS, COPIES * copied / BYTES_PER_SECOND)
    return int(min(LONGEST_SLICE, max(1, length * min(least / max(seconds, 1e-6), MOST_GROWTH))))


def _bytes_of(value: object) -> int:
    if is_sequence(value):
        return sum(map(_bytes_of, value))
    return value.nbytes if is_array(value) else 0


_COUNTED = np.empty(LONGEST_SLICE, COUNTED)
