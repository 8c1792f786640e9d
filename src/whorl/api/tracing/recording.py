"""`trace`: a run of a model whose loops and branches also give what they computed on the way."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whorl.api.models import Source, load_module
from whorl.api.preparing import prepare
from whorl.api.tracing.batches import Plan, known_elements, plan_batches, spill
from whorl.api.tracing.value_trace import ValueTrace
from whorl.errors import RunError
from whorl.ir.graph import Module, Value
from whorl.ir.walk import clone_region
from whorl.ops.control.flow import If, Loop
from whorl.passes.expose.adding import add_output, retype
from whorl.passes.expose.carrying import count_elements, count_iterations
from whorl.passes.expose.conditions import add_condition
from whorl.passes.expose.exposure import expose
from whorl.passes.expose.reading import Records, read_records
from whorl.passes.expose.scopes import NamedValue, Scope, choose, scopes_of, values_at
from whorl.passes.expose.summaries import summarize
from whorl.passes.expose.windows import Span
from whorl.runtime.backends import Mode
from whorl.runtime.buffer_pool import release
from whorl.runtime.limits import Limits
from whorl.runtime.session import Session

Run = Callable[[Module, Mapping[str, Any]], list[Any]]
"""Runs an edited module: all of its outputs."""


class Selection(Struct, frozen=True, kw_only=True):
    """What a trace records; `trace` says what the fields mean."""

    values: Sequence[str] = ("*",)
    every: int = 1
    first: int | None = None
    last: int | None = None
    when: str = ""
    budget: int | None = None


def trace(
    source: Source,
    inputs: Mapping[str, Any],
    *,
    values: str | Sequence[str] = "*",
    every: int = 1,
    first: int | None = None,
    last: int | None = None,
    when: str = "",
    budget: int | None = None,
    limits: Limits | None = None,
    backend: str | None = None,
) -> ValueTrace:
    """Run a model, whatever `load` takes, and record what happens in its loops and branches.

    `values`: globs for names or paths of values, such as `newton/*`; all by default. `every`, `first` and `last` choose
    iterations of outermost loops, `when` those in which a condition such as `abs(h) > 1e6` holds in the body that it
    reads of. `budget`: bytes that records may take in memory. Beyond it values are recorded in several runs and kept on
    disk, and one that exceeds it alone is summarized; a model that draws random numbers draws anew in each run.
    Errors: LoadError, RunError.
    """
    patterns = [values] if isinstance(values, str) else list(values)
    selection = Selection(values=patterns, every=every, first=first, last=last, when=when, budget=budget)
    return record(load_module(source), inputs, selection, partial(run_once, limits=limits, mode=backend))


def run_once(
    module: Module, inputs: Mapping[str, Any], limits: Limits | None = None, mode: str | Mode | None = None
) -> list[Any]:
    """All outputs of a module that nobody needs afterwards."""
    session = Session(prepare(module), limits, mode, once=True)
    return session.execute(module.output_names, inputs)


def record(module: Module, inputs: Mapping[str, Any], selection: Selection, run: Run) -> ValueTrace:
    """The trace of a module, which is left as it is."""
    _check(selection)
    return _Recorder(module, inputs, selection, run).trace()


def copy_module(module: Module) -> Module:
    """A module that may be edited."""
    return replace(module, main=clone_region(module.main), output_names=list(module.output_names))


def _check(selection: Selection) -> None:
    for name in ("every", "first", "last", "budget"):
        number = getattr(selection, name)
        if number is not None and number < 1:
            raise RunError(f"{name} is {number}", fix="give a number of 1 or more")


def _give_memory_back() -> None:
    """Free what programs that are over kept for runs to come: they and their memory refer to each other."""
    gc.collect()
    release()


class _Recorder:
    """One trace: a run that counts, where that is needed, and the runs that record."""

    def __init__(self, module: Module, inputs: Mapping[str, Any], selection: Selection, run: Run) -> None:
        self.module, self.inputs, self.selection, self.run = module, inputs, selection, run
        self.trip_counts: dict[str, Records] = {}
        self.branches: dict[str, Records] = {}
        self.spans: tuple[Span, ...] = ()

    def trace(self) -> ValueTrace:
        selection = self.selection
        copy = copy_module(self.module)
        chosen = self._choose(copy)
        plan = Plan([[each.path for each in chosen]])
        if selection.last is not None or selection.budget is not None:
            elements = self._count(copy, chosen if selection.budget is not None else [])
            if selection.budget is not None:
                counts = {each.path: self._records_of(each, elements) for each in chosen}
                plan = plan_batches(chosen, counts, selection.budget)
        folder = TemporaryDirectory(prefix="whorl-trace-") if plan.spills else None
        values: dict[str, Records] = {}
        for batch in plan.batches:
            for records in self._record(batch, plan.summaries):
                stored = records if folder is None else spill(records, Path(folder.name) / str(len(values)))
                values[records.path] = stored
            if folder is not None:
                _give_memory_back()
        return ValueTrace(values, self.trip_counts, self.branches, plan.summaries, folder)

    def _choose(self, module: Module) -> list[NamedValue]:
        scopes = scopes_of(module)
        chosen = choose(scopes, self.selection.values)
        if not self.selection.when:
            return chosen
        body = add_condition(scopes, self.selection.when).scope
        inside = [each for each in chosen if body in each.scope.chain]
        if not inside:
            raise RunError(
                f"none of the values lies in {body.path!r}, of which {self.selection.when!r} reads",
                fix="record values of that body",
            )
        return inside

    def _count(self, module: Module, chosen: Sequence[NamedValue]) -> dict[str, int]:
        """Run once to count iterations, and elements of values whose types do not say them."""
        scopes = scopes_of(copy := copy_module(self.module))
        paths = {each.path for each in chosen if known_elements(each) is None and _is_tensor(each.value)}
        unknown = values_at(scopes, paths)
        loops = _loops(scopes)
        counters = [NamedValue(count_iterations(loop), loop.around or loop, loop.path) for loop in loops]
        totals = {each.path: add_output(copy, count_elements(copy, each)) for each in unknown}
        exposed = expose(copy, counters)
        retype(copy)
        outputs = dict(zip(copy.output_names, self.run(copy, self.inputs), strict=True))
        self.trip_counts = {each.path: read_records(each, outputs) for each in exposed}
        return {path: int(outputs[name]) for path, name in totals.items()}

    def _records_of(self, named: NamedValue, elements: Mapping[str, int]) -> tuple[int, int]:
        """The records of a value that the selection leaves at most, and their elements."""
        loops = named.scope.loops
        made = int(np.sum(np.asarray(self.trip_counts[loops[-1].path].values))) if loops else 1
        outer = int(np.sum(np.asarray(self.trip_counts[loops[0].path].values))) if loops else 1
        spans = self._window(named.scope, loops[0].path).values() if loops else ()
        chosen = sum(len(range(outer)[span.start : span.stop : span.step]) for each in spans for span in each)
        share = chosen / outer if spans and outer else 1.0
        known = known_elements(named)
        total = elements.get(named.path, made) if known is None else known * made
        return round(made * share), round(total * share)

    def _window(self, scope: Scope, path: str) -> dict[str, tuple[Span, ...]]:
        """The iterations of an outermost loop that are recorded."""
        selection = self.selection
        spans: list[Span] = []
        if selection.first is not None:
            spans.append(Span(0, selection.first, selection.every))
        if selection.last is not None:
            trips = np.asarray(self.trip_counts[path].values).reshape(-1)
            end = int(trips[0]) if len(trips) == 1 else int(trips.max(initial=0))
            start = max(0, end - selection.last)
            start += -start % selection.every
            spans.append(Span(start, None, selection.every))
        if not spans and selection.every > 1:
            spans.append(Span(0, None, selection.every))
        return {path: tuple(spans)} if spans else {}

    def _record(self, paths: Sequence[str], summaries: frozenset[str]) -> list[Records]:
        """One run: the records of some values; the first one also counts iterations and says what branches took."""
        copy = copy_module(self.module)
        scopes = scopes_of(copy)
        chosen = [summarize(each) if each.path in summaries else each for each in values_at(scopes, set(paths))]
        when = add_condition(scopes, self.selection.when) if self.selection.when else None
        window: dict[str, tuple[Span, ...]] = {}
        for path in {each.scope.loops[0].path for each in chosen if each.scope.loops}:
            window |= self._window(scopes[0], path)
        exposed = expose(copy, chosen, window, when)
        loops = [] if self.trip_counts else _loops(scopes)
        counters = [NamedValue(count_iterations(loop), loop.around or loop, loop.path) for loop in loops]
        conditions = [] if self.branches else _conditions(scopes)
        counted, taken = expose(copy, counters), expose(copy, conditions)
        retype(copy)
        outputs = dict(zip(copy.output_names, self.run(copy, self.inputs), strict=True))
        self.trip_counts |= {each.path: read_records(each, outputs) for each in counted}
        self.branches |= {each.path: read_records(each, outputs) for each in taken}
        return [read_records(each, outputs) for each in exposed]


def _is_tensor(value: Value) -> bool:
    return hasattr(value.type, "dtype")


def _loops(scopes: Sequence[Scope]) -> list[Scope]:
    return [scope for scope in scopes if scope.node is not None and isinstance(scope.node.op, Loop)]


def _conditions(scopes: Sequence[Scope]) -> list[NamedValue]:
    """The condition of each If, called as the If is."""
    by_path: dict[str, NamedValue] = {}
    for scope in scopes:
        node, around = scope.node, scope.around
        if node is None or around is None or not isinstance(node.op, If) or node.inputs[0] is None:
            continue
        path = scope.path.rpartition("/")[0]
        by_path[path] = NamedValue(node.inputs[0], around, path)
    return list(by_path.values())
