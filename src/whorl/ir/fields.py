"""Ops from what a text says of their fields: names, defaults and types are those of the class."""

from __future__ import annotations

import functools
import inspect
import math
import types
import typing
from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import NODEFAULT, Struct

from whorl.errors import LoadError
from whorl.ir.attributes import defaults
from whorl.ir.graph import REGISTRY, Op
from whorl.ir.guards import is_array, is_tuple
from whorl.ir.suggestions import suggest
from whorl.ir.syntax import Compound
from whorl.ir.text import format_attribute

_SHOWN = 4
"""Elements of a value that an error message shows."""
_MISFIT = object()
_HINT_WORDS = {
    str: "a text",
    np.dtype: "an element type",
    np.ndarray: "a tensor",
    Any: "a tensor",
    types.NoneType: "None",
}


def build_op(text: Compound) -> Op:
    """The op that a text names, its fields checked."""
    if text.name not in REGISTRY:
        fix = suggest(text.name, REGISTRY) or "import the module that defines it before the text is read"
        raise LoadError(f"{text.name!r} is no known op", text.location, fix)
    return _build(REGISTRY[text.name], text)


def check_inputs(op: Op, present: Sequence[bool], location: str) -> None:
    """Refuse a number of inputs that the op cannot take, and `_` (False) for one that it needs."""
    low, high, needed = _signature(type(op))
    if not low <= len(present) <= high:
        span = f"{low}" if low == high else f"at least {low}" if high == math.inf else f"{low} to {int(high)}"
        fix = "write _ for an input that is left out" if len(present) < low else "remove what is too many"
        raise LoadError(f"{op.name} takes {span} inputs, not {len(present)}", location, fix)
    for index, name in needed.items():
        if index < len(present) and not present[index]:
            raise LoadError(f"{op.name} needs its input {index}, {name!r}", location, "write a value in the place of _")


def check_regions(op: Op, count: int, location: str) -> None:
    """Refuse regions where the op has none, and none where it has some."""
    expected = type(op).infer_regions is not Op.infer_regions
    if expected != bool(count):
        fix = "write them after its line" if expected else "remove them"
        raise LoadError(f"{op.name} has {'regions' if expected else 'no regions'}", location, fix)


@functools.cache
def _signature(cls: type[Op]) -> tuple[int, float, dict[int, str]]:
    """The fewest and the most inputs, and which of them are needed: what both `infer` and `run` say."""
    low, high = 0, math.inf
    needed: dict[int, str] = {}
    for method in (cls.infer, cls.run):
        _, *inputs = inspect.signature(method).parameters.values()
        single = [p for p in inputs if p.kind is not p.VAR_POSITIONAL]
        low = max(low, sum(p.default is p.empty for p in single))
        high = min(high, len(single) if len(single) == len(inputs) else math.inf)
        needed |= {k: p.name for k, p in enumerate(single) if _is_needed(str(p.annotation))}
    return low, high, needed


def _is_needed(annotation: str) -> bool:
    """Whether an input annotated so cannot be None."""
    return annotation != "Any" and "None" not in annotation and "_empty" not in annotation


@functools.cache
def _hints(cls: type[Struct]) -> dict[str, Any]:
    """The type of each field of a struct."""
    hints = typing.get_type_hints(cls)
    return {name: hints[name] for name in cls.__struct_fields__}


def _build(cls: type[Struct], text: Compound) -> Any:
    hints, values = _hints(cls), named(text)
    for entry in text.fields:
        if entry.name not in hints:
            fix = suggest(entry.name, hints) or f"its fields are {', '.join(hints)}" if hints else "it has no fields"
            raise LoadError(f"{text.name} has no field {entry.name!r}", entry.location, fix)
        value = _fitted(entry.value, hints[entry.name])
        if value is _MISFIT:
            message = f"{entry.name} of {text.name} is {_shown(entry.value)}, expected {_named_hint(hints[entry.name])}"
            raise LoadError(message, entry.location, "write the value as a dump of such an op does")
        values[entry.name] = value
    for name, default in defaults(cls).items():
        if name not in values and default is NODEFAULT:
            raise LoadError(f"{text.name} lacks the field {name!r}", text.location, f"add {{{name} = ...}}")
    return cls(**values)


def named(text: Compound) -> dict[str, Any]:
    """The fields of a text as a dictionary, inner ones too. Errors: LoadError where a name is given twice."""
    values: dict[str, Any] = {}
    for field in text.fields:
        if field.name in values:
            raise LoadError(f"{field.name!r} is given twice", field.location, "remove one of them")
        inner = isinstance(field.value, Compound) and not field.value.name
        values[field.name] = named(field.value) if inner else field.value
    return values


def _fitted(value: Any, hint: Any) -> Any:
    """The value as a field of that type holds it, or `_MISFIT`. Fields of any type hold tensors."""
    if hint is Any:
        return value if value is None or is_array(value) else _MISFIT
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        fitting = (_fitted(value, each) for each in inner)
        return next((each for each in fitting if each is not _MISFIT), _MISFIT)
    if origin is tuple:
        if not is_tuple(value):
            return _MISFIT
        items = [_fitted(item, inner[0]) for item in value]
        return _MISFIT if any(item is _MISFIT for item in items) else tuple(items)
    if hint is float:
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else _MISFIT
    if isinstance(value, Compound):
        return _build(hint, value) if value.name == hint.__name__ else _MISFIT
    return value if isinstance(value, hint) else _MISFIT


def _shown(value: Any) -> str:
    if isinstance(value, Compound):
        return f"{value.name}(...)" if value.name else "{...}"
    if is_tuple(value):
        return f"({', '.join(map(_shown, value[:_SHOWN]))}{', ...' if len(value) > _SHOWN else ''})"
    return format_attribute(value, _SHOWN)


def _named_hint(hint: Any) -> str:
    """`int`, `tuple[int, ...] or None`: a type as messages write it."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(map(_named_hint, inner))
    if origin is tuple:
        return f"a tuple of {_named_hint(inner[0])}"
    return _HINT_WORDS.get(hint) or getattr(hint, "__name__", str(hint))
