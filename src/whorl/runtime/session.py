"""A session: checks what a caller feeds, runs a module, and gives back arrays that are the caller's own."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whorl.errors import RunError
from whorl.ir.constants import as_array
from whorl.ir.dtypes import FLOATS, INTEGERS, NAMES, STRING, name_of
from whorl.ir.graph import Module, Value
from whorl.ir.types import AnyShape, MapType, OptionalType, SequenceType, TensorType, Type, type_of, type_string
from whorl.runtime.interpreter import Plan, Run
from whorl.runtime.limits import Budget, Limits


@dataclass(frozen=True)
class NodeArg:
    """An input or output of a model: its name, its shape (ints, names, None) and its type as `tensor(float)`."""

    name: str
    shape: list[int | str | None]
    type: str


class Session:
    """A module ready to run, from any number of threads at once."""

    def __init__(self, module: Module, limits: Limits | None = None) -> None:
        self.module, self.limits = module, limits or Limits()
        self._plan = Plan(module.main)
        self._names = {value.name: value for value in module.main.arguments}
        self._cancelled = threading.Event()

    def execute(
        self,
        output_names: Sequence[str] | None,
        feeds: Mapping[str, Any],
        limits: Limits | None = None,
        stop: threading.Event | None = None,
    ) -> list[Any]:
        """Outputs by name, all of them in the model's order where no names are given. Errors: RunError, LimitError."""
        wanted = self._positions(output_names)
        arguments = self._arguments(feeds)
        own = self._cancelled
        budget = Budget(limits or self.limits, own.is_set if stop is None else lambda: own.is_set() or stop.is_set())
        with np.errstate(all="ignore"):
            results = self._plan(Run(budget), *arguments)
        given: set[int] = set()
        for value in (*arguments, *self._plan.template):
            _note(value, given)
        return [_owned(results[k], given) for k in wanted]

    def cancel(self) -> None:
        """Stop every run under way, from any thread; each ends with CancelledError. Runs started later are not stopped."""
        event, self._cancelled = self._cancelled, threading.Event()
        event.set()

    def __getstate__(self) -> dict[str, Any]:
        return {"module": self.module, "limits": self.limits}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Session.__init__(self, state["module"], state["limits"])

    def _positions(self, names: Sequence[str] | None) -> list[int]:
        known = self.module.output_names
        if not names:
            return list(range(len(known)))
        for name in names:
            if name not in known:
                raise RunError(f"the model has no output {name!r}", fix=f"choose from {', '.join(known)}")
        return [known.index(name) for name in names]

    def _arguments(self, feeds: Mapping[str, Any]) -> list[Any]:
        defaults = self.module.defaults
        unknown = [name for name in feeds if name not in self._names]
        if unknown:
            raise RunError(f"the model has no input {unknown[0]!r}", fix=f"choose from {', '.join(self._names)}")
        missing = [n for n, v in self._names.items() if n not in feeds and n not in defaults and not _may_be_none(v)]
        if missing:
            shown = ", ".join(f"{name!r} ({self._names[name].type})" for name in missing)
            raise RunError(f"missing inputs: {shown}", fix="feed every input that has no default")
        return [
            checked(feeds[name], value.type, f"input {name!r}")
            if name in feeds
            else as_array(defaults[name])
            if name in defaults
            else None
            for name, value in self._names.items()
        ]


def _may_be_none(value: Value) -> bool:
    return isinstance(value.type, OptionalType)


def checked(value: Any, type: Type, what: str) -> Any:
    """A caller's value as the run takes it; what does not fit the declared type is refused, nothing is narrowed."""
    match type:
        case TensorType():
            return _checked_tensor(value, type, what)
        case SequenceType():
            if not isinstance(value, list | tuple):
                raise RunError(f"{what} is {_shown(value)}, the model declares {type}", fix="feed a list of arrays")
            return [checked(item, type.element, f"{what}[{k}]") for k, item in enumerate(value)]
        case OptionalType():
            return None if value is None else checked(value, type.element, what)
        case MapType():
            if not isinstance(value, dict):
                raise RunError(f"{what} is {_shown(value)}, the model declares {type}", fix="feed a dictionary")
            return value
    raise RunError(f"{what} has a type that cannot be fed: {type}")


def _checked_tensor(value: Any, type: TensorType, what: str) -> np.ndarray:
    array = _as_array(value, type, what)
    if array.dtype != type.dtype:
        wanted = name_of(type.dtype)
        fix = f"convert it, for example with .astype({wanted!r})" if array.dtype in NAMES else "feed numbers or strings"
        raise RunError(f"{what} is {name_of(array.dtype)}{list(array.shape)}, the model declares {type}", fix=fix)
    if isinstance(type.shape, AnyShape):
        return array
    fits = len(type.shape) == array.ndim and all(
        not isinstance(d, int) or d == n for d, n in zip(type.shape, array.shape, strict=True)
    )
    if not fits:
        raise RunError(f"{what} has shape {list(array.shape)}, the model declares {type}", fix="reshape the array")
    return array


def _as_array(value: Any, type: TensorType, what: str) -> np.ndarray:
    """Arrays as they are; Python numbers and lists in the declared type where that loses nothing."""
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        return (
            _strings(array, what)
            if array.dtype.kind in "USTO"
            else array.astype(array.dtype.newbyteorder("="), copy=False)
        )
    if hasattr(value, "__dlpack__") and not isinstance(value, list | tuple):
        return np.from_dlpack(value)
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise RunError(f"{what} is not an array: {error}", fix="feed a NumPy array") from None
    if array.dtype.kind in "USO":
        return _strings(array, what)
    wanted = type.dtype
    exact = (
        array.size == 0
        or (array.dtype.kind in "iu" and wanted in INTEGERS)
        or (array.dtype.kind in "iuf" and wanted in FLOATS)
    )
    if not exact:
        return array
    converted = array.astype(wanted)
    if array.dtype.kind in "iu" and not np.array_equal(converted.astype(array.dtype), array):
        raise RunError(f"{what} holds values that {name_of(wanted)} cannot", fix="feed an array of the right type")
    return converted


def _strings(array: np.ndarray, what: str) -> np.ndarray:
    if array.dtype == STRING and all(isinstance(text, str) for text in array.flat):
        return array
    result = np.empty(array.shape, object)
    for index, text in np.ndenumerate(array):
        if not isinstance(text, str | bytes):
            raise RunError(f"{what} holds {type(text).__name__} at {list(index)}, expected strings or numbers")
        result[index] = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else str(text)
    return result


def _shown(value: Any) -> str:
    return str(type_of(value)) if isinstance(value, np.ndarray | list | dict) else type(value).__name__


def _note(value: Any, given: set[int]) -> None:
    """Remember the arrays that a caller, or the program's constants, can see change."""
    if isinstance(value, list):
        for item in value:
            _note(item, given)
    elif isinstance(value, np.ndarray):
        given.add(id(value))


def _owned(value: Any, given: set[int]) -> Any:
    """The value as the caller's own: views, constants, inputs and what was already given out are copied."""
    if isinstance(value, list):
        return [_owned(item, given) for item in value]
    if not isinstance(value, np.ndarray):
        return value
    if value.base is not None or not value.flags.owndata or not value.flags.writeable or id(value) in given:
        value = np.array(value, order="C", copy=True)
    given.add(id(value))
    return value


def node_arg(name: str, type: Type) -> NodeArg:
    """What `get_inputs` and `get_outputs` tell of a value."""
    inner = type
    while isinstance(inner, SequenceType | OptionalType):
        inner = inner.element
    shape: list[int | str | None] = []
    if isinstance(inner, TensorType) and not isinstance(inner.shape, AnyShape):
        shape = [d if isinstance(d, int) else _dim_name(str(d), name, k) for k, d in enumerate(inner.shape)]
    return NodeArg(name, shape, type_string(type))


def _dim_name(text: str, value: str, axis: int) -> str | None:
    """A dim's name; None for one that only inference named."""
    return None if text.partition("'")[0] == f"{value}.{axis}" else text
