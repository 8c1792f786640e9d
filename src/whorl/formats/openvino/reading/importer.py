"""How one layer becomes hub nodes: a function for each op and version, found by the layer's type and opset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct, field

from whorl.errors import LoadError, format_title
from whorl.formats.openvino.element_types import element_type
from whorl.ir.build import Builder
from whorl.ir.graph import Value
from whorl.ir.types import TensorType

T = TypeVar("T", int, float)


class Inputs(list[Value]):
    """The inputs of a layer; `seen` of them were looked at."""

    __slots__ = ("seen",)

    def __init__(self, values: Iterable[Value]) -> None:
        super().__init__(values)
        self.seen = 0

    def __getitem__(self, index: Any) -> Any:
        self.seen = max(self.seen, index + 1) if isinstance(index, int) and index >= 0 else len(self)
        return super().__getitem__(index)

    def __iter__(self) -> Iterator[Value]:
        self.seen = len(self)
        return super().__iter__()


class IrNode(Struct):
    """A layer with its inputs looked up; attributes are texts, read by the methods.

    `version` is the one of the op that applies (Gather of opset9 is version 8). `outputs` are name hints, `declared`
    what the file says of the outputs' types. An importer may look at element types, never at ranks or dims: a value in
    a loop body can have other ones in a later iteration. `used` are the attributes that were asked for.
    """

    type: str
    version: int
    name: str
    inputs: list[Value]
    outputs: list[str]
    declared: list[TensorType | None] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    @property
    def title(self) -> str:
        return format_title(self.type, self.name)

    def required(self, index: int) -> Value:
        """The input at a position. Errors: LoadError."""
        if index >= len(self.inputs):
            raise LoadError(f"has {len(self.inputs)} inputs, input {index} is missing", self.title)
        return self.inputs[index]

    def input(self, index: int) -> Value | None:
        """The input at a position, None where the layer has fewer."""
        return self.inputs[index] if index < len(self.inputs) else None

    def text(self, name: str, default: str | None = None, choices: tuple[str, ...] = ()) -> str:
        """An attribute in lower case, one of `choices` if there are any. Errors: LoadError."""
        self.used.add(name)
        value = self.attributes.get(name, default)
        if value is None:
            raise LoadError(f"lacks the attribute {name!r}", self.title)
        value = value.strip().lower()
        if choices and value not in choices:
            raise LoadError(f"{name} is {value!r}", self.title, f"choose from {', '.join(choices)}")
        return value

    def integer(self, name: str, default: int | None = None) -> int:
        """A whole-number attribute. Errors: LoadError."""
        return self._number(name, self.text(name, None if default is None else str(default)), int)

    def number(self, name: str, default: float | None = None) -> float:
        """A floating-point attribute. Errors: LoadError."""
        return self._number(name, self.text(name, None if default is None else repr(default)), float)

    def flag(self, name: str, default: bool | None = None) -> bool:
        """A truth-value attribute: true, false, 1 or 0. Errors: LoadError."""
        text = self.text(name, None if default is None else str(default), ("true", "false", "1", "0"))
        return text in ("true", "1")

    def integers(self, name: str, default: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """A comma-separated list of whole numbers; empty text is an empty list. Errors: LoadError."""
        text = self.text(name, None if default is None else ",".join(map(str, default)))
        return tuple(self._number(name, part, int) for part in text.split(",")) if text else ()

    def numbers(self, name: str, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """A comma-separated list of numbers. Errors: LoadError."""
        text = self.text(name, None if default is None else ",".join(map(repr, default)))
        return tuple(self._number(name, part, float) for part in text.split(",")) if text else ()

    def dtype(self, name: str, default: str | None = None) -> np.dtype:
        """An element-type attribute. Errors: LoadError."""
        return element_type(self.text(name, default), f"{name} of {self.title}")

    def _number(self, name: str, text: str, kind: type[T]) -> T:
        try:
            return kind(text)
        except ValueError:
            raise LoadError(f"{name} is {text!r}, expected a number", self.title) from None


Importer = Callable[[IrNode, Builder], "Value | list[Value]"]
IMPORTERS: dict[str, list[tuple[int, Importer]]] = {}


def importer(name: str, *versions: int) -> Callable[[Importer], Importer]:
    """Register a function for an op's versions, by the type as the file writes it ("Const", "ReLU")."""

    def register(function: Importer) -> Importer:
        entries = IMPORTERS.setdefault(name.lower(), [])
        if not {version for version, _ in entries}.isdisjoint(versions):
            raise TypeError(f"two functions read {name}")
        entries += [(version, function) for version in versions]
        entries.sort(key=lambda entry: entry[0])
        return function

    return register


def find_importer(type: str, opset: int) -> tuple[int, Importer] | None:
    """The newest version of an op that exists in an opset, and what reads it; types compare without case."""
    candidates = [entry for entry in IMPORTERS.get(type.lower(), ()) if entry[0] <= opset]
    return candidates[-1] if candidates else None
