"""The states of a session: values that last from one run to the next."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from whorl.errors import MemoryLimitError, RunError
from whorl.ir.forking import renew_in_children
from whorl.ir.graph import Module, State
from whorl.ir.suggestions import choose
from whorl.ir.types import AnyShape, TensorType, Type
from whorl.runtime.feeds import check_value, is_feeds
from whorl.runtime.interpreter.accelerator import Accelerator
from whorl.runtime.interpreter.plan import Plan
from whorl.runtime.interpreter.step import Run


class States:
    """The current states of a module.

    Invariant: several of them are read or changed under `lock` only, so that threads see those of one run.
    """

    def __init__(self, module: Module, accelerator: Accelerator | None) -> None:
        self.renew()
        renew_in_children(self)
        self.module = module
        self.states = {state.name: state for state in module.states}
        self._types: dict[str, Type] = {value.name: value.type for value in module.main.arguments}
        self._values: dict[str, object] = {}
        self._plans = {
            name: Plan(each.initial, accelerator) for name, each in self.states.items() if each.initial is not None
        }

    def renew(self) -> None:
        """A free lock: that of a fork's parent may be taken."""
        self.lock = threading.RLock()

    def get(self) -> dict[str, Any]:
        """A copy of each, by its name; None for one that has no value yet."""
        with self.lock:
            return {name: np.array(self._values[name]) if self._has_value(name) else None for name in self._shown()}

    def set(self, values: object) -> None:
        """Set some of them. Errors: RunError, and then none is changed."""
        if not is_feeds(values):
            raise RunError(f"the states are {type(values).__name__}, expected a dictionary", fix="write {name: array}")
        new: dict[str, object] = {}
        for name, value in values.items():
            state = self._state(name)
            new[name] = np.array(check_value(value, self._types[state.input], f"state {name!r}"))
            if state.flag:
                new[state.flag] = np.array(True)
        with self.lock:
            self._values |= new

    def reset(self, *names: str) -> None:
        """Forget these, all where none is named. Errors: RunError."""
        states = [self._state(name) for name in names or self._shown()]
        with self.lock:
            for state in states:
                self._values.pop(state.name, None)
                self._values.pop(state.flag, None)

    def _shown(self) -> list[str]:
        """The names of those that are no flags of others."""
        flags = {state.flag for state in self.states.values()}
        return [name for name in self.states if name not in flags]

    def _has_value(self, name: str) -> bool:
        flag = self.states[name].flag
        return name in self._values and (not flag or bool(self._values.get(flag, False)))

    def add_to(
        self, feeds: Mapping[str, object], arguments_of: Callable[[Mapping[str, object]], list[object]], run: Run
    ) -> Mapping[str, object]:
        """The feeds of a run with the states that are not among them. `arguments_of` makes checked arguments of feeds.

        Errors: RunError.
        """
        if not is_feeds(feeds):
            return feeds
        added: dict[str, object] = {}
        missing = [state for state in self.states.values() if state.input not in feeds]
        for state in missing:
            added[state.input] = self._values[state.name] if state.name in self._values else self._zeros(state)
        computed = [state for state in missing if state.name not in self._values and state.name in self._plans]
        if computed:
            arguments = dict(zip(self._types, arguments_of({**feeds, **added}), strict=True))
            for state in computed:
                assert state.initial is not None
                (value,) = self._plans[state.name](run, *(arguments[x.name] for x in state.initial.arguments))
                what = f"the first value of state {state.name!r}"
                added[state.input] = check_value(value, self._types[state.input], what)
        return {**feeds, **added}

    def update(self, values: Sequence[object]) -> None:
        """Replace all by the states that a run ends with, in their order."""
        self._values |= dict(zip(self.states, values, strict=True))

    def _zeros(self, state: State) -> np.ndarray:
        """Zeros, none along axes of unknown length."""
        type = self._types[state.input]
        if isinstance(type, TensorType) and not isinstance(type.shape, AnyShape):
            try:
                return np.zeros([dim if isinstance(dim, int) else 0 for dim in type.shape], type.dtype)
            except (MemoryError, ValueError) as error:
                raise MemoryLimitError(f"no memory for state {state.name!r}, {type}: {error}") from None
        if state.initial is not None and isinstance(type, TensorType):
            return np.zeros((), type.dtype)
        raise RunError(f"state {state.name!r} is {type} and has no first value", fix="set it with set_state")

    def _state(self, name: str) -> State:
        shown = self._shown()
        if name not in shown:
            raise RunError(f"the model has no state {name!r}", fix=choose(name, shown))
        return self.states[name]
