"""The states of a session: values that last from one run to the next."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from whorl.errors import MemoryLimitError, RunError
from whorl.ir.forking import renew_in_children
from whorl.ir.graph import Module, State
from whorl.ir.types import AnyShape, TensorType, Type
from whorl.runtime.feeds import checked
from whorl.runtime.interpreter.plan import Plan
from whorl.runtime.interpreter.step import Run


class States:
    """What the states of a module are now. Whoever reads or changes several holds `lock`."""

    def __init__(self, module: Module) -> None:
        self.renew()
        renew_in_children(self)
        self.module = module
        self.states = {state.name: state for state in module.states}
        self._types: dict[str, Type] = {value.name: value.type for value in module.main.arguments}
        self._values: dict[str, Any] = {}
        self._plans = {name: Plan(each.initial) for name, each in self.states.items() if each.initial is not None}

    def renew(self) -> None:
        """A lock that nobody holds."""
        self.lock = threading.RLock()

    def get(self) -> dict[str, Any]:
        """A copy of what each is, by its name; None for one that has no value yet."""
        with self.lock:
            return {name: np.array(self._values[name]) if self._has_value(name) else None for name in self._shown()}

    def set(self, values: Mapping[str, Any]) -> None:
        """Set some of them. Errors: RunError, and then none is changed."""
        if not isinstance(values, Mapping):
            raise RunError(f"the states are {type(values).__name__}, expected a dictionary", fix="write {name: array}")
        found: dict[str, Any] = {}
        for name, value in values.items():
            state = self._state(name)
            found[name] = np.array(checked(value, self._types[state.input], f"state {name!r}"))
            if state.flag:
                found[state.flag] = np.array(True)
        with self.lock:
            self._values |= found

    def reset(self, *names: str) -> None:
        """Forget what these are, all where none is named. Errors: RunError."""
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

    def feeds(self, given: Any, checked_inputs: Callable[[Mapping[str, Any]], list[Any]], run: Run) -> Any:
        """What a run is given, and the states that it is not given. `checked_inputs` makes arguments of feeds.

        Errors: RunError.
        """
        if not isinstance(given, Mapping):
            return given
        found: dict[str, Any] = {}
        first = [state for state in self.states.values() if state.input not in given]
        for state in first:
            found[state.input] = self._values[state.name] if state.name in self._values else self._zeros(state)
        computed = [state for state in first if state.name not in self._values and state.name in self._plans]
        if computed:
            arguments = dict(zip(self._types, checked_inputs({**given, **found}), strict=True))
            for state in computed:
                assert state.initial is not None
                (value,) = self._plans[state.name](run, *(arguments[x.name] for x in state.initial.arguments))
                what = f"the first value of state {state.name!r}"
                found[state.input] = checked(value, self._types[state.input], what)
        return {**given, **found}

    def keep(self, values: Sequence[Any]) -> None:
        """Take over what a run made of them, in their order."""
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
            raise RunError(f"the model has no state {name!r}", fix=f"choose from {', '.join(shown) or 'none'}")
        return self.states[name]
