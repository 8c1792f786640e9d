"""A session: runs a module on what a caller feeds, and gives back arrays that are the caller's own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from msgspec.structs import replace

from whorl.errors import MemoryLimitError, RunError
from whorl.ir.constants import as_array
from whorl.ir.forking import import_whole
from whorl.ir.graph import Module
from whorl.ir.types import OptionalType
from whorl.phases import Phase, in_phase, phase
from whorl.runtime.backends import Mode, choose_mode
from whorl.runtime.buffer_pool import is_recycled
from whorl.runtime.credit import Credit
from whorl.runtime.feeds import check_value, is_feeds
from whorl.runtime.interpreter.plan import Plan
from whorl.runtime.interpreter.step import Run
from whorl.runtime.limits import Budget, Limits
from whorl.runtime.states import States
from whorl.runtime.trace import Trace
from whorl.runtime.values import is_array, is_map, is_sequence

if TYPE_CHECKING:
    from whorl.runtime.compiled.compiler import Compiler
    from whorl.runtime.compiled.explain import Verdict


class Flag(Protocol):
    """Tells a run to stop; a `threading.Event` is one."""

    def is_set(self) -> bool: ...


def load_compiler(mode: Mode) -> Compiler | None:
    """The compiler of a mode, loaded when one is first needed; None where everything is interpreted."""
    if not mode.compiles:
        return None
    compiler: type[Compiler] = import_whole("whorl.runtime.compiled.compiler").Compiler
    return compiler(mode)


class Session:
    """A module ready to run, from any number of threads at once; `once` where it will run a single time.

    Runs of a module with states follow one another, each from what the one before it has left.
    """

    def __init__(
        self, module: Module, limits: Limits | None = None, backend: str | Mode | None = None, once: bool = False
    ) -> None:
        self.module, self.limits, self.mode = module, limits or Limits(), choose_mode(backend, once)
        self._compiler = load_compiler(self.mode)
        with phase(Phase.PLAN):
            self.plan = Plan(module.main, self._compiler)
        self._inputs = {value.name: value for value in module.main.arguments}
        self._states = States(module, load_compiler(replace(self.mode, subgraphs=False)))
        self._fast_path = None if self._compiler is None else self._compiler.fast_path(self.plan, list(self._inputs))
        self._may_take_fast_path = self.limits == Limits() and not module.states
        self._cancelled = threading.Event()
        self._trace: Trace | None = None

    def record(self, trace: Trace) -> None:
        """Record what every run from now on does."""
        self._trace, self._may_take_fast_path = trace, False

    def recorded(self) -> Trace | None:
        """The trace of the runs until now, to which later ones add nothing; None if there is none."""
        trace, self._trace = self._trace, None
        return trace

    def explain(self) -> list[Verdict]:
        """How the nodes ran so far: natively, or interpreted for what reason."""
        explain: Callable[[Plan], list[Verdict]] = import_whole("whorl.runtime.compiled.explain").explain
        return explain(self.plan)

    def execute(
        self,
        output_names: Sequence[str] | None,
        feeds: Mapping[str, Any],
        limits: Limits | None = None,
        stop: Flag | None = None,
    ) -> list[Any]:
        """Outputs by name, all of them in the model's order where no names are given. Errors: RunError, LimitError."""
        fast_path = self._fast_path if self._may_take_fast_path and limits is None and stop is None else None
        if fast_path is not None and fast_path.launches and isinstance(feeds, dict):
            outputs = fast_path.run(feeds, self._cancelled)
            if outputs is not None:
                return outputs if not output_names else [outputs[k] for k in self._positions(output_names)]
        positions = self._positions(output_names)
        own = self._cancelled
        stopped = own.is_set if stop is None else lambda: own.is_set() or stop.is_set()
        run = Run(Budget(limits or self.limits, stopped, self._trace, Credit(len(self.module.main.nodes))))
        if self.module.states:
            return self._continue(feeds, positions, run)
        return self._run(self._arguments(feeds), positions, run)

    @in_phase(Phase.RUN)
    def _run(self, arguments: list[object], positions: list[int], run: Run) -> list[object]:
        """The outputs at some positions, for arguments that are checked."""
        budget = run.budget
        try:
            with np.errstate(all="ignore"):
                results = self.plan(run, *arguments)
        except RunError:
            if budget.raised is not None:
                raise budget.raised from None
            raise
        if self._fast_path is not None:
            self._fast_path.learn(arguments)
        shared: set[int] = set()
        for value in (*arguments, *self.plan.template):
            _add_arrays(value, shared)
        return [self._own_output(results[k], self.module.output_names[k], shared, budget) for k in positions]

    def _continue(self, feeds: Mapping[str, object], positions: list[int], run: Run) -> list[object]:
        """A run that begins with the states as they are, and leaves what they become if it ends well."""
        states = self.module.states
        with self._states.lock, np.errstate(all="ignore"):
            feeds = self._states.add_to(feeds, self._arguments, run)
            next_states = [self.module.output_names.index(state.output) for state in states]
            outputs = self._run(self._arguments(feeds), [*positions, *next_states], run)
            self._states.update(outputs[len(positions) :])
        return outputs[: len(positions)]

    def cancel(self) -> None:
        """Stop every run under way, from any thread: each ends with CancelledError. Later runs are not stopped."""
        event, self._cancelled = self._cancelled, threading.Event()
        event.set()

    def __getstate__(self) -> dict[str, Any]:
        return {"module": self.module, "limits": self.limits, "mode": self.mode}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Session.__init__(self, state["module"], state["limits"], state["mode"])

    def _own_output(self, value: object, name: str, shared: set[int], budget: Budget) -> object:
        """An output as the caller's own; the copies that this takes count as memory of the run."""
        try:
            return own(value, shared, budget)
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

    def _arguments(self, feeds: object) -> list[object]:
        inputs, defaults = self._inputs, self.module.defaults
        if not is_feeds(feeds):
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
            check_value(feeds[name], value.type, f"input {name!r}")
            if name in feeds
            else as_array(defaults[name])
            if name in defaults
            else None
            for name, value in inputs.items()
        ]


def _add_arrays(value: object, shared: set[int]) -> None:
    """Remember the arrays of a value that a caller, or the program's constants, can see change."""
    if is_sequence(value):
        for item in value:
            _add_arrays(item, shared)
    elif is_array(value):
        shared.add(id(value))


def own(value: object, shared: set[int], budget: Budget) -> object:
    """The value as the caller's own: views, constants, inputs and arrays of other outputs are copied."""
    if is_sequence(value):
        return [own(item, shared, budget) for item in value]
    if is_map(value):
        return dict(value)
    if not is_array(value):
        return value
    flags = value.flags
    is_alone = is_recycled(value) or (value.base is None and flags.owndata)
    if not (is_alone and flags.writeable and flags.c_contiguous) or id(value) in shared:
        budget.reserve(value.nbytes)
        value = np.array(value, order="C", copy=True)
        budget.count(value)
    shared.add(id(value))
    return value
