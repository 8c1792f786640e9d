"""The text form of modules: what dumps show and tests write. `parse_module(print_module(m))` is `m` again.

main(%x: float32[N, 4], %n: int64[]) {
  %one: float32[] = Constant() {value = float32[] 1.0}
  %y: float32[N, 4], %ys: float32[n, N, 4] = Loop 'rollout' (%n, _, %x, %one) {carried = 1, collected = (Collected(),)}
  body(%i: int64[], %go_on: bool[], %h: float32[N, 4], %step: float32[]) {
    %h2: float32[N, 4] = Add(%h, %step)
    return %go_on, %h2, %h2
  }
  return y = %y, ys = %ys
}
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.ir.constants import LazyArray, as_array
from whorl.ir.dtypes import COMPLEX, NAMES, STRING, name_of
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ir.types import MapType, OptionalType, SequenceType, TensorType


def print_module(module: Module, elide: int | None = None) -> str:
    """The module as text. With `elide`, constants of more elements are cut to `...` and the text cannot be parsed."""
    printer = _Printer(elide)
    printer.region(module.main, "main", module.output_names)
    lines = printer.lines
    if module.defaults:
        held = (f"{_quote(name)}: {format_attribute(value, elide)}" for name, value in module.defaults.items())
        lines.append(f"defaults {{{', '.join(held)}}}")
    return "\n".join(lines) + "\n"


def print_region(region: Region, elide: int | None = None) -> str:
    """A region as text, as it stands inside a module."""
    printer = _Printer(elide)
    printer.region(region, region.name or "body", None)
    return "\n".join(printer.lines) + "\n"


class _Printer:
    """Gives every value a name that is unique in its region and writes line by line."""

    def __init__(self, elide: int | None) -> None:
        self.lines: list[str] = []
        self.elide = elide
        self.depth = 0

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def region(self, region: Region, title: str, output_names: Sequence[str] | None) -> None:
        names = _names(region)
        arguments = ", ".join(f"{names[value]}: {value.type}" for value in region.arguments)
        self.line(f"{_word(title)}({arguments}) {{")
        self.depth += 1
        for node in region.nodes:
            self.node(node, names)
        results = [names[value] for value in region.results]
        if output_names is not None:
            results = [f"{_word(text)} = {name}" for text, name in zip(output_names, results, strict=True)]
        self.line(f"return {', '.join(results)}".rstrip())
        self.depth -= 1
        self.line("}")

    def node(self, node: Node, names: dict[Value, str]) -> None:
        outputs = ", ".join(f"{names[value]}: {value.type}" for value in node.outputs)
        inputs = ", ".join("_" if value is None else names[value] for value in node.inputs)
        title = f"{node.op.name} {_quote(node.name)} " if node.name else node.op.name
        fields = [
            f"{field.name} = {format_attribute(getattr(node.op, field.name), self.elide)}"
            for field in dataclasses.fields(node.op)  # type: ignore[arg-type]
            if not _is_default(getattr(node.op, field.name), field)
        ]
        attributes = f" {{{', '.join(fields)}}}" if fields else ""
        self.line(f"{outputs} = {title}({inputs}){attributes}" if outputs else f"{title}({inputs}){attributes}")
        for region in node.regions:
            self.region(region, region.name or "body", None)


def _names(region: Region) -> dict[Value, str]:
    taken: set[str] = set()
    names: dict[Value, str] = {}
    for value in (*region.arguments, *(value for node in region.nodes for value in node.outputs)):
        hint = value.name or "v"
        text, count = hint, 1
        while text in taken:
            text, count = f"{hint}#{count}", count + 1
        taken.add(text)
        names[value] = f"%{_word(text)}"
    return names


def _is_default(value: Any, field: dataclasses.Field) -> bool:
    if isinstance(value, np.ndarray) or field.default is dataclasses.MISSING:
        return False
    return type(value) is type(field.default) and value == field.default


def _word(text: str) -> str:
    """A name bare where it is made of letters, digits and `_ . / : # ' -`, else quoted."""
    plain = text and all(c.isalnum() or c in "_./:#'-" for c in text)
    return text if plain and text.isascii() else _quote(text)


def _quote(text: str) -> str:
    escaped = text.encode("unicode_escape").decode("ascii").replace('"', '\\"')
    return f'"{escaped}"'


def format_attribute(value: Any, elide: int | None = None) -> str:
    """The value of an op's field as text."""
    match value:
        case None | bool() | int():
            return str(value)
        case float():
            return _number(value)
        case str():
            return _quote(value)
        case np.dtype():
            return f"dtype {name_of(value)}"
        case TensorType() | SequenceType() | OptionalType() | MapType():
            return f"type {value}"
        case tuple() | list():
            inside = ", ".join(format_attribute(item, elide) for item in value)
            return f"({inside}{',' if len(value) == 1 else ''})"
    if dataclasses.is_dataclass(value) and not hasattr(value, "numpy"):
        parts = [
            f"{field.name} = {format_attribute(getattr(value, field.name), elide)}"
            for field in dataclasses.fields(value)
            if not _is_default(getattr(value, field.name), field)
        ]
        return f"{type(value).__name__}({', '.join(parts)})"
    return _tensor(value, elide)


def _tensor(value: np.ndarray | LazyArray, elide: int | None) -> str:
    """`float32[2] 1.0 2.0`: the type, then the elements in order."""
    shown = f"{name_of(value.dtype)}[{', '.join(map(str, value.shape))}]"
    if elide is not None and math.prod(value.shape) > elide:
        return f"{shown} ..."
    elements = " ".join(_element(item, value.dtype) for item in as_array(value).reshape(-1))
    return f"{shown} {elements}".rstrip()


def _element(item: Any, dtype: np.dtype) -> str:
    if dtype == STRING:
        return _quote(str(item))
    if dtype in COMPLEX:
        return f"{_number(float(item.real))}|{_number(float(item.imag))}"
    if dtype.kind in "biu" or NAMES[dtype].startswith(("int", "uint")):
        return str(bool(item)) if dtype.kind == "b" else str(int(item))
    return _number(float(item))


def _number(value: float) -> str:
    """A float that reads back as itself; NaN payloads are not kept."""
    return "nan" if math.isnan(value) else repr(value)
