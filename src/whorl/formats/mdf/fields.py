"""Fields of MDF files, checked one by one: what is wrong is a LoadError with its place and what mends it."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from whorl.errors import LoadError, format_location
from whorl.mdf.functions.table import MAX_ELEMENTS

MAX_RANK = 64
"""Axes that an array of NumPy may have."""

Titles = tuple[str, ...]
"""Titles of what holds something, innermost first."""
FieldReader = Callable[[object, Titles], object]


def _kind(value: object) -> str:
    names = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "a truth value",
        int: "a number",
        float: "a number",
    }
    return "nothing" if value is None else names.get(type(value), type(value).__name__)


def wrong(what: str, value: object, expected: str, at: Titles, fix: str = "") -> LoadError:
    """The error for a value of the wrong kind."""
    text = repr(value) if isinstance(value, str | int | float) else _kind(value)
    return LoadError(f"{what} is {text[:80]}, expected {expected}", format_titles(at), fix)


def format_titles(at: Titles) -> str:
    """A place as text."""
    return format_location(*at) if at else "the model"


def split_fields(
    data: object, known: Mapping[str, FieldReader], at: Titles, cls: type
) -> tuple[dict[str, Any], dict[str, object]]:
    """Fields that the class has, and all others: what is unknown, and what says no more than the default."""
    if not isinstance(data, dict):
        raise wrong("its content", data, "an object", at)
    readers = {**known, "metadata": metadata_field} if "metadata" in {field.name for field in fields(cls)} else known
    values: dict[str, Any] = {}
    extra: dict[str, object] = {}
    for key, value in data.items():
        if key not in readers or value is None:
            extra[key] = value
            continue
        field_value = readers[key](value, at)
        if field_value is None or (
            isinstance(field_value, str | dict | list) and (not field_value or field_value == "overwrite")
        ):
            extra[key] = value
        else:
            values[key] = field_value
    return values, extra


def checked_id(id: object, what: str, at: Titles) -> str:
    """An id, which is a text."""
    if not isinstance(id, str):
        raise wrong(f"an id in {what}", id, "a text", at, "put it in quotes")
    return id


def listed_entries(value: list[object], at: Titles, what: str) -> dict[str, object]:
    """A list of objects with an id each, by their ids."""
    entries: dict[str, object] = {}
    for entry in value:
        if not isinstance(entry, dict) or "id" not in entry:
            raise wrong(f"an entry of {what}", entry, "an object with an id", at)
        id = checked_id(entry["id"], what, at)
        if id in entries:
            raise LoadError(f"{what} has the id {id!r} twice", format_titles(at), "give each its own id")
        entries[id] = {key: item for key, item in entry.items() if key != "id"}
    return entries


def text_field(what: str) -> Callable[[object, Titles], str]:
    """Reads a field that is a text."""

    def read(value: object, at: Titles) -> str:
        if not isinstance(value, str):
            raise wrong(what, value, "a text", at, "put it in quotes")
        return value

    return read


def number_or_text(value: object, at: Titles) -> object:
    """The version of operators."""
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise wrong("onnx_opset_version", value, "a number", at)
    return value


def metadata_field(value: object, at: Titles) -> dict[str, object]:
    """An object with anything in it."""
    if not isinstance(value, dict):
        raise wrong("metadata", value, "an object", at)
    return value


def reduce_field(value: object, at: Titles) -> str:
    """How several edges into a port are joined."""
    if value not in ("overwrite", "add", "multiply"):
        raise wrong("reduce", value, "overwrite, add or multiply", at)
    return value


def weight_field(value: object, at: Titles) -> None:
    """Refuse a weight that is no number and no list of numbers."""
    if isinstance(value, list | int | float | np.ndarray) and np.asarray(value).dtype.kind in "biuf":
        return
    raise wrong("weight", value, "a number or a list of numbers", at)


def check_list(value: list[object], what: str, at: Titles) -> None:
    """Refuse lists of lists of different lengths, which are no array."""
    try:
        np.array(value)
    except ValueError:
        fix = "give all rows the same length"
        raise LoadError(f"{what} is a list of lists that differ in length", format_titles(at), fix) from None


def shape_field(value: object, at: Titles) -> tuple[int, ...] | None:
    """Whole numbers, also as a text like "(2, 3)"; None where a length is only a name."""
    written = value
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value) if len(value) < 1000 else None
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            value = None
        value = [value] if type(value) is int else value
    if not isinstance(value, list | tuple) or not all(isinstance(dim, str) or _is_length(dim) for dim in value):
        raise wrong("shape", written, "a list of whole numbers", at, "write a shape as [2, 3]")
    dims = [dim for dim in value if isinstance(dim, int)]
    if len(dims) < len(value):
        return None
    if len(dims) > MAX_RANK:
        raise LoadError(f"shape has {len(dims)} axes, at most {MAX_RANK} are read", format_titles(at))
    if math.prod(dim or 1 for dim in dims) > MAX_ELEMENTS:
        raise LoadError(f"shape {dims} has more than {MAX_ELEMENTS} elements", format_titles(at))
    return tuple(dims)


def _is_length(dim: object) -> bool:
    return type(dim) is int and 0 <= dim < 2**63


def listing(names: Iterable[str]) -> str:
    """The ids that there are, the first ones of many."""
    names = list(names)
    more = ", ..." if len(names) > 8 else ""
    return f"there are {', '.join(map(repr, names[:8]))}{more}" if names else "there are none"
