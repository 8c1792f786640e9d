"""The document to plain data, as JSON holds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import numpy as np

from whorl.formats.mdf.reading import AS_GRAPH
from whorl.mdf.bodies import INFERRED, body_graph
from whorl.mdf.model import (
    Condition,
    ConditionSet,
    Edge,
    Function,
    Graph,
    InputPort,
    LiteralText,
    Model,
    Node,
    OutputPort,
    Parameter,
    ParameterCondition,
)

Store = Callable[[str, np.ndarray], object] | None
"""Answers what stands for an array at a place of the document; None writes arrays as lists."""
_Part = Model | Graph | Node | Edge | ConditionSet | InputPort | OutputPort | Parameter | ParameterCondition | Function

_VALUES = "value", "default_value", "default_initial_value"
"""Fields in which an empty list or text says something."""


def data_of(model: Model, store: Store = None) -> dict[str, object]:
    """A model as plain data."""
    return {model.id: _plain(model, "", store)}


def _plain(value: object, at: str, store: Store) -> object:
    match value:
        case Node(extra=extra, parameters=parameters) if AS_GRAPH in extra:
            return _plain(body_graph(parameters["body"].value, "body"), at, store)
        case Condition():
            return _plain_condition(value, at, store)
        case np.ndarray():
            return store(at, value) if store else value.tolist()
        case np.generic():
            return value.item()
        case LiteralText():
            return str(value)
        case dict():
            return {str(key): _plain(entry, f"{at}/{key}", store) for key, entry in value.items()}
        case list() | tuple():
            return [_plain(entry, at, store) for entry in value]
        case _:
            pass
    return _plain_fields(value, at, store) if isinstance(value, _Part) else value


def _plain_fields(value: _Part, at: str, store: Store) -> dict[str, object]:
    data: dict[str, object] = {}
    for field in fields(value):
        content = getattr(value, field.name)
        is_blank = isinstance(content, str | dict | list) and not content and field.name not in _VALUES
        if field.name in ("id", "extra") or content is None or is_blank:
            continue
        if field.name == "reduce" and content == "overwrite":
            continue
        plain = _plain(content, f"{at}/{field.name}", store)
        if field.name == "conditions" and isinstance(content, list):
            plain = [{"id": condition.id, **_plain_fields(condition, at, store)} for condition in content]
        data[field.name] = plain
    rest = {key: _plain(entry, f"{at}/{key}", store) for key, entry in value.extra.items() if key not in data}
    rest.pop(INFERRED, None)
    return {**data, **rest}


def _plain_condition(value: Condition, at: str, store: Store) -> dict[str, object]:
    data: dict[str, object] = {"type": value.type}
    if value.kwargs:
        data["kwargs"] = _plain(value.kwargs, at, store)
    return {**data, **{key: entry for key, entry in value.extra.items() if key not in data}}
