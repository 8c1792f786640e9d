"""A session: runs a module on what a caller feeds, and gives back arrays that are the caller's own."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from whorl.codegen.target import is_available
from whorl.errors import MemoryLimitError, RunError
from whorl.ir.constants import as_array
from whorl.ir.graph import Module
from whorl.ir.types import OptionalType
from whorl.runtime.buffer_pool import is_recycled
from whorl.runtime.compiled.explain import Verdict, explain
from whorl.runtime.compiled.fast_path import Direct
from whorl.runtime.credit import Credit
from whorl.runtime.feeds import checked
from whorl.runtime.interpreter.plan import Plan
from whorl.runtime.interpreter.step import Run
from whorl.runtime.limits import Budget, Limits
from whorl.runtime.states import States
from whorl.runtime.trace import Trace


class Flag(Protocol):
    """What tells a run to stop; a `threading.Event` is one."""

    def is_set(self) -> bool: ...


@dataclass(frozen=True)
class Mode:
    """What compiles: a loop after so many interpreted iterations (None never), other nodes (`segments`) at once.

    `waits`: a run waits for the compiler; else the interpreter serves until the code is there.
    """

    loops_after: int | None
    segments: bool
    waits: bool


BACKENDS = {"native": Mode(0, True, True), "auto": Mode(500, True, False), "interpreter": Mode(None, False, True)}
"""The backends by name."""
ONCE = Mode(500, False, True)
"""For a program that runs once: only a long loop is worth compiling."""

LOOPS = Mode(0, False, True)
"""For a program that is one long loop: what that collects is written where the caller gets it."""


def chosen_mode(name: str | Mode | None, once: bool) -> Mode:
    """The backend named, else the one of the environment variable WHORL_BACKEND, else native code."""
    if isinstance(name, Mode):
        return name
    chosen = name or os.environ.get("WHORL_BACKEND")
    if not chosen:
        return ONCE if once else BACKENDS["native"]
    if chosen not in BACKENDS:
        raise RunError(f"there is no backend {chosen!r}", fix=f"choose from {', '.join(BACKENDS)}")
    return BACKENDS[chosen]


class Session:
    """A module ready to run, from any number of threads at once; `once` where it will run a single time.

    Runs of a module with states follow one another, each from what the one before it has left.
    """

    def __init__(
        self, module: Module, limits: Limits | None = None, backend: str | Mode | None = None, once: bool = False
    ) -> None:
        self.module, self.limits, self.mode = module, limits or Limits(), chosen_mode(backend, once)
        self._plan = Plan(module.main, self.mode.segments and is_available())
        self._inputs = {value.name: value for value in module.main.arguments}
        self._states = States(module)
        self._direct = Direct(self._plan, list(self._inputs))
        self._may_go_directly = self.limits == Limits() and not module.states
        self._cancelled = threading.Event()
        self._trace: Trace | None = None

    def record(self, trace: Trace) -> None:
        """Let every run from now on tell a trace what it does."""
        self._trace, self._may_go_directly = trace, False

    def recorded(self) -> Trace | None:
        """The trace that runs told until now, which they tell nothing more; None if there is none."""
        trace, self._trace = self._trace, None
        return trace

    def explain(self) -> list[Verdict]:
        """How the nodes ran in the runs so far: natively, or interpreted for what reason."""
        return explain(self._plan)

    def execute(
        self,
        output_names: Sequence[str] | None,
        feeds: Mapping[str, Any],
        limits: Limits | None = None,
        stop: Flag | None = None,
    ) -> list[Any]:
        """Outputs by name, all of them in the model's order where no names are given. Errors: RunError, LimitError."""
        if self._direct.launches and self._may_go_directly and limits is None and stop is None and type(feeds) is dict:
            outputs = self._direct.run(feeds, self._cancelled)
            if outputs is not None:
                return outputs if not output_names else [outputs[k] for k in self._positions(output_names)]
        wanted = self._positions(output_names)
        own = self._cancelled
        stopped = own.is_set if stop is None else lambda: own.is_set() or stop.is_set()
        budget = Budget(limits or self.limits, stopped, self._trace)
        run = Run(budget, self.mode.loops_after, self.mode.waits, Credit(len(self.module.main.nodes)))
        if self.module.states:
            return self._continue(feeds, wanted, run)
        return self._run(self._arguments(feeds), wanted, run)

    def _run(self, arguments: list[Any], wanted: list[int], run: Run) -> list[Any]:
        """The outputs at some positions, for arguments that are checked."""
        budget = run.budget
        try:
            with np.errstate(all="ignore"):
                results = self._plan(run, *arguments)
        except RunError:
            if budget.raised is not None:
                raise budget.raised from None
            raise
        self._direct.learn(arguments)
        given: set[int] = set()
        for value in (*arguments, *self._plan.template):
            _note(value, given)
        return [self._handed_out(results[k], self.module.output_names[k], given, budget) for k in wanted]

    def _continue(self, feeds: Mapping[str, Any], wanted: list[int], run: Run) -> list[Any]:
        """A run that begins with the states as they are, and leaves what they become if it ends well."""
        states = self.module.states
        with self._states.lock, np.errstate(all="ignore"):
            feeds = self._states.feeds(feeds, self._arguments, run)
            kept = [self.module.output_names.index(state.output) for state in states]
            outputs = self._run(self._arguments(feeds), [*wanted, *kept], run)
            self._states.keep(outputs[len(wanted) :])
        return outputs[: len(wanted)]

    def cancel(self) -> None:
        """Stop every run under way, from any thread: each ends with CancelledError. Later runs are not stopped."""
        event, self._cancelled = self._cancelled, threading.Event()
        event.set()

    def __getstate__(self) -> dict[str, Any]:
        return {"module": self.module, "limits": self.limits, "mode": self.mode}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Session.__init__(self, state["module"], state["limits"], state["mode"])

    def _handed_out(self, value: Any, name: str, given: set[int], budget: Budget) -> Any:
        """An output as the caller's own; the copies that this takes count as memory of the run."""
        try:
            return owned(value, given, budget)
        except MemoryLimitError as error:
            raise error.at(f"output {name!r}") from None
        except MemoryError as error:
            raise MemoryLimitError(f"no memory: {error}", f"output {name!r}") from None

    def _positions(self, names: Sequence[str] | None) -> list[int]:
        known = self.module.output_names
        if not names:
            shown = self.module.visible_outputs if self.module.states else known
            return list(range(len(known))) if shown is known else [known.index(name) for name in shown]
        if isinstance(names, str):
            raise RunError(f"the output names are {names!r}, expected a list", fix=f"write [{names!r}]")
        for name in names:
            if name not in known:
                raise RunError(f"the model has no output {name!r}", fix=f"choose from {', '.join(known)}")
        return [known.index(name) for name in names]

    def _arguments(self, feeds: Mapping[str, Any]) -> list[Any]:
        inputs, defaults = self._inputs, self.module.defaults
        if not isinstance(feeds, Mapping):
            raise RunError(f"the feeds are {type(feeds).__name__}, expected a dictionary", fix="write {name: array}")
        for name in feeds:
            if name not in inputs:
                raise RunError(f"the model has no input {name!r}", fix=f"choose from {', '.join(inputs) or 'none'}")
        missing = [
            f"{name!r} ({value.type})"
            for name, value in inputs.items()
            if name not in feeds and name not in defaults and not isinstance(value.type, OptionalType)
        ]
        if missing:
            raise RunError(f"missing inputs: {', '.join(missing)}", fix="feed every input that has no default")
        return [
            checked(feeds[name], value.type, f"input {name!r}")
            if name in feeds
            else as_array(defaults[name])
            if name in defaults
            else None
            for name, value in inputs.items()
        ]


def _note(value: Any, given: set[int]) -> None:
    """Remember the arrays that a caller, or the program's constants, can see change."""
    if isinstance(value, list):
        for item in value:
            _note(item, given)
    elif isinstance(value, np.ndarray):
        given.add(id(value))


def owned(value: Any, given: set[int], budget: Budget) -> Any:
    """The value as the caller's own: views, constants, inputs and what was already given out are copied."""
    if isinstance(value, list):
        return [owned(item, given, budget) for item in value]
    if not isinstance(value, np.ndarray):
        return dict(value) if isinstance(value, dict) else value
    flags = value.flags
    is_alone = is_recycled(value) or (value.base is None and flags.owndata)
    if not (is_alone and flags.writeable and flags.c_contiguous) or id(value) in given:
        budget.reserve(value.nbytes)
        value = np.array(value, order="C", copy=True)
        budget.hold(value)
    given.add(id(value))
    return value
