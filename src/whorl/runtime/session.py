"""A session: runs a module on what a caller feeds, and gives back arrays that are the caller's own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from whorl.errors import MemoryLimitError, RunError
from whorl.ir.forking import import_whole, renew_in_children
from whorl.ir.graph import Module
from whorl.ir.suggestions import choose
from whorl.ir.types import TensorType
from whorl.phases import Phase, in_phase
from whorl.runtime.backends import Mode, choose_mode
from whorl.runtime.buffer_pool import is_recycled
from whorl.runtime.credit import Credit
from whorl.runtime.limits import Budget, Limits
from whorl.runtime.trace import Trace
from whorl.runtime.values import is_array, is_map, is_sequence

if TYPE_CHECKING:
    from whorl.runtime.compiled.explain import Verdict
    from whorl.runtime.compiled.fast_path import FastPath
    from whorl.runtime.compiled.prepared import PreparedSession
    from whorl.runtime.interface import Interface
    from whorl.runtime.interpreter.plan import Plan
    from whorl.runtime.interpreter.step import Run
    from whorl.runtime.whole import Whole


class Flag(Protocol):
    """Tells a run to stop; a `threading.Event` is one."""

    def is_set(self) -> bool: ...


class Session:
    """A module ready to run, from any number of threads at once; `once` where it will run a single time.

    Runs of a module with states follow one another, each from what the one before it has left. With a function in the
    module's place, that is called when `prepared` programs do not serve: at once where there are none. `threads` are
    those that a run may use, 0 as many as there are cores.
    """

    def __init__(
        self,
        module: Module | Callable[[], Module],
        limits: Limits | None = None,
        backend: str | Mode | None = None,
        once: bool = False,
        prepared: PreparedSession | None = None,
        threads: int = 0,
    ) -> None:
        self.limits, self.mode = limits or Limits(), choose_mode(backend, once)
        self._module, self._prepared = module, prepared
        self._whole: Whole | None = None
        self._cancelled = threading.Event()
        self._trace: Trace | None = None
        self._fast_path: FastPath | None = None
        self._may_take_fast_path = self.limits == Limits()
        self.threads = threads
        self.renew()
        renew_in_children(self)
        known = None if prepared is None else prepared.description
        if known is None:
            self._load()
        else:
            self._output_names: Sequence[str] = known.outputs
            self._fast_path = _fast_path_of(known.inputs, prepared)

    def renew(self) -> None:
        """A free lock: that of a fork's parent may be taken."""
        self._lock = threading.RLock()

    @property
    def module(self) -> Module:
        """What runs."""
        return self.whole.module

    @property
    def _interface(self) -> Interface:
        """What the session shows of its model, which what is prepared says too."""
        known = None if self._whole is not None or self._prepared is None else self._prepared.description
        return self.whole.interface if known is None else known.interface

    @property
    def plan(self) -> Plan:
        """The steps of the module."""
        return self.whole.plan

    @property
    def whole(self) -> Whole:
        """The module and its plan, loaded now where prepared programs have served so far."""
        return self._whole or self._load()

    def _load(self) -> Whole:
        with self._lock:
            if self._whole is not None:
                return self._whole
            module = self._module if isinstance(self._module, Module) else self._module()
            make: type[Whole] = import_whole("whorl.runtime.whole").Whole
            whole = make(module, self.mode)
            self._output_names = module.output_names
            self._may_take_fast_path = self._may_take_fast_path and not module.states
            if whole.compiler is not None:
                if self._fast_path is None:
                    self._fast_path = _fast_path_of(whole.typed_inputs(), self._prepared, whole.sequence_inputs())
                whole.compiler.watch(self._fast_path, whole)
            self._module, self._whole = module, whole
            return whole

    def record(self, trace: Trace) -> None:
        """Record what every run from now on does."""
        self._trace, self._may_take_fast_path = trace, False

    def recorded(self) -> Trace | None:
        """The trace of the runs until now, to which later ones add nothing; None if there is none."""
        trace, self._trace = self._trace, None
        return trace

    def explain(self) -> list[Verdict]:
        """How the nodes ran so far: natively, or interpreted for what reason; what each took is what a profile says."""
        explain: Callable[[Plan], list[Verdict]] = import_whole("whorl.runtime.compiled.explain").explain
        return explain(self.whole.plan)

    def execute(
        self,
        output_names: Sequence[str] | None,
        feeds: Mapping[str, Any],
        limits: Limits | None = None,
        stop: Flag | None = None,
    ) -> list[Any]:
        """Outputs by name, all of them in the model's order where no names are given. Errors: RunError, LimitError."""
        fast_path = self._fast_path if self._may_take_fast_path and limits is None and stop is None else None
        if fast_path is not None and fast_path.is_ready and isinstance(feeds, dict):
            outputs = None
            for call in fast_path.calls:
                outputs = call(feeds)
                if outputs is not None:
                    break
            else:
                outputs = fast_path.run(feeds, self._cancelled, self.threads)
            if outputs is not None:
                return outputs if not output_names else [outputs[k] for k in self._positions(output_names)]
        whole = self.whole
        positions = self._positions(output_names)
        own = self._cancelled
        stopped = own.is_set if stop is None else lambda: own.is_set() or stop.is_set()
        credit = Credit(len(whole.module.main.nodes))
        run = whole.start(Budget(limits or self.limits, stopped, self._trace, credit, self.threads))
        if whole.module.states:
            return self._continue(whole, feeds, positions, run)
        return self._run(whole, whole.arguments(feeds), positions, run)

    @in_phase(Phase.RUN)
    def _run(self, whole: Whole, arguments: list[object], positions: list[int], run: Run) -> list[object]:
        """The outputs at some positions, for arguments that are checked."""
        budget = run.budget
        try:
            with np.errstate(all="ignore"):
                results = whole.plan(run, *arguments)
        except RunError:
            if budget.raised is not None:
                raise budget.raised from None
            raise
        if self._fast_path is not None:
            self._fast_path.learn(arguments)
        shared: set[int] = set()
        for value in arguments:
            _add_arrays(value, shared)
        return [self._own_output(results[k], self._output_names[k], shared, budget) for k in positions]

    def _continue(self, whole: Whole, feeds: Mapping[str, object], positions: list[int], run: Run) -> list[object]:
        """A run that begins with the states as they are, and leaves what they become if it ends well."""
        states, module = whole.states, whole.module
        with states.lock, np.errstate(all="ignore"):
            feeds = states.add_to(feeds, whole.arguments, run)
            next_states = [module.output_names.index(state.output) for state in module.states]
            outputs = self._run(whole, whole.arguments(feeds), [*positions, *next_states], run)
            states.update(outputs[len(positions) :])
        return outputs[: len(positions)]

    def cancel(self) -> None:
        """Stop every run under way, from any thread: each ends with CancelledError. Later runs are not stopped."""
        event, self._cancelled = self._cancelled, threading.Event()
        event.set()
        if self._fast_path is not None:
            self._fast_path.forget_calls()

    def __getstate__(self) -> dict[str, Any]:
        return {"module": self.module, "limits": self.limits, "mode": self.mode, "threads": self.threads}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Session.__init__(self, state["module"], state["limits"], state["mode"], threads=state["threads"])

    def _own_output(self, value: object, name: str, shared: set[int], budget: Budget) -> object:
        """An output as the caller's own; the copies that this takes count as memory of the run."""
        try:
            return own(value, shared, budget)
        except MemoryLimitError as error:
            raise error.at(f"output {name!r}") from None
        except MemoryError as error:
            raise MemoryLimitError(f"no memory: {error}", f"output {name!r}") from None

    def _positions(self, names: Sequence[str] | None) -> list[int]:
        known = self._output_names
        if not names:
            states = self._whole is not None and self._whole.module.states
            shown = self.module.visible_outputs if states else known
            return list(range(len(known))) if shown is known else [known.index(name) for name in shown]
        if isinstance(names, str):
            raise RunError(f"the output names are {names!r}, expected a list", fix=f"write [{names!r}]")
        for name in names:
            if name not in known:
                raise RunError(f"the model has no output {name!r}", fix=choose(name, known))
        return [known.index(name) for name in names]


def _fast_path_of(
    inputs: Sequence[tuple[str, np.dtype | None]],
    prepared: PreparedSession | None,
    sequences: Mapping[str, TensorType] | None = None,
) -> FastPath:
    make: type[FastPath] = import_whole("whorl.runtime.compiled.fast_path").FastPath
    return make(inputs, prepared, sequences)


def _add_arrays(value: object, shared: set[int]) -> None:
    """Remember the arrays of a value that a caller can see change; those of constants are views, which are copied."""
    if is_sequence(value):
        for item in value:
            if is_array(item):
                shared.add(id(item))
            else:
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
