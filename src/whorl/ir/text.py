"""The text form of modules: what dumps show and tests write. `parse_module(print_module(m))` is `m` again.

    main(%x: float32[N, 4], %n: int64[]) {
      %one: float32[] = Constant() {value = float32[] <1.0>}
      %y: float32[N, 4], %ys: float32[n, N, 4] = Loop "sum" (%n, _, %x, %one) {carried = 1, collected = (Collected(),)}
      body(%i: int64[], %go_on: bool[] {True}, %h: float32[N, 4], %step: float32[] {1.0}) {
        %h~1: float32[N, 4] = Add(%h, %step)
        return %go_on, %h~1, %h~1
      }
      return y = %y, ys = %ys
    }
    metadata {opsets = {"" = 17}}

docs/text-form.md describes it; `ir.parse` reads it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import NODEFAULT, Struct

from whorl.errors import SaveError
from whorl.ir.attributes import defaults
from whorl.ir.constants import Constant, LazyArray, as_array
from whorl.ir.dims import Atom, Dim, Linear, Unknown
from whorl.ir.dtypes import name_of
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ir.guards import is_array, is_dict, is_dtype, is_list, is_tuple
from whorl.ir.literals import elements_text, number_text, quote, value_name, word
from whorl.ir.types import AnyShape, MapType, OptionalType, SequenceType, TensorType, Type


def print_module(module: Module, elide: int | None = None) -> str:
    """The module as text. With `elide`, tensors and tuples of more elements are cut to `...`; that cannot be parsed."""
    printer = _Printer(elide)
    printer.region(module.main, module)
    lines = printer.lines
    if module.defaults:
        lines.append(f"defaults {format_attribute(module.defaults, elide)}")
    metadata = {key: value for key, value in module.metadata.items() if value}
    if metadata:
        lines.append(f"metadata {format_attribute(metadata, elide)}")
    return "\n".join(lines) + "\n"


def print_region(region: Region, elide: int | None = None) -> str:
    """A region as text, as it stands inside a module."""
    printer = _Printer(elide)
    printer.region(region)
    return "\n".join(printer.lines) + "\n"


class _Printer:
    """Gives every value a name that is unique in its region and writes line by line."""

    def __init__(self, elide: int | None) -> None:
        self.lines: list[str] = []
        self.elide = elide
        self.depth = 0

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def region(self, region: Region, module: Module | None = None) -> None:
        names = _names(region)
        arguments = ", ".join(self.typed(value, names) for value in region.arguments)
        self.line(f"{word(region.name) if region.name else ''}({arguments}) {{")
        self.depth += 1
        for node in region.nodes:
            self.node(node, names)
        results = [names[value] for value in region.results]
        if module is not None:
            results = list(_outputs(module, results))
        self.line(f"return {', '.join(results)}".rstrip())
        self.depth -= 1
        self.line("}")

    def node(self, node: Node, names: dict[Value, str]) -> None:
        outputs = ", ".join(self.typed(value, names) for value in node.outputs) or "_"
        inputs = ", ".join("_" if value is None else names[value] for value in node.inputs)
        title = f"{node.op.name} {quote(node.name)} " if node.name else node.op.name
        fields = ", ".join(fields_text(node.op, self.elide))
        self.line(f"{outputs} = {title}({inputs})" + (f" {{{fields}}}" if fields else ""))
        for region in node.regions:
            self.region(region)

    def typed(self, value: Value, names: dict[Value, str]) -> str:
        """A value where it is made: name, type, and what inference knows of its elements unless the node says it."""
        constant = isinstance(value.owner, Node) and isinstance(value.owner.op, Constant)
        known = "" if constant or value.known is None else _known(value.known, value.type, self.elide)
        return f"{names[value]}: {format_type(value.type)}{known}"


def _names(region: Region) -> dict[Value, str]:
    counts: dict[str, int] = {}
    names: dict[Value, str] = {}
    for value in (*region.arguments, *(value for node in region.nodes for value in node.outputs)):
        count = counts.get(value.name, 0)
        counts[value.name] = count + 1
        names[value] = value_name(value.name, count)
    return names


def _outputs(module: Module, results: Sequence[str]) -> Iterator[str]:
    """`y = %y`, or `y: float32[N] = %y` where the file declares a type."""
    for name, result in zip(module.output_names, results, strict=True):
        declared = module.declared.get(name)
        yield f"{word(name)} = {result}" if declared is None else f"{word(name)}: {format_type(declared)} = {result}"


def _known(known: np.ndarray, type: Type, elide: int | None) -> str:
    """` {N, 4}`, with the shape in front where the type does not say it; nothing where an element has no text."""
    elements: list[Any] = [element.item() if isinstance(element, np.generic) else element for element in known.flat]
    if not all(map(_is_written, elements)):
        return ""
    shape = type.shape if isinstance(type, TensorType) else ()
    parts = [format_dim(e) if isinstance(e, Linear | Unknown) else format_attribute(e) for e in elements]
    shown = "..." if elide is not None and known.size > elide else ", ".join(parts)
    if shape == known.shape:
        return f" {{{shown}}}"
    return f" {{[{', '.join(map(str, known.shape))}] {shown}}}"


def _is_written(element: Any) -> bool:
    """Whether the text form has a place for a known element: complex numbers and integers past 64 bits have none."""
    return isinstance(element, float | Linear | Unknown) or (isinstance(element, int) and abs(element) < 1 << 64)


def format_type(type: Type) -> str:
    """A type as text; names of dims are quoted where they need it."""
    match type:
        case TensorType():
            inside = "*" if isinstance(type.shape, AnyShape) else ", ".join(map(format_dim, type.shape))
            return f"{name_of(type.dtype)}[{inside}]"
        case SequenceType():
            return f"seq({format_type(type.element)})"
        case OptionalType():
            return f"optional({format_type(type.element)})"
        case MapType():
            return f"map({name_of(type.key)}, {format_type(type.value)})"


def format_dim(dim: Dim) -> str:
    """A dim as text: `4`, `2*N-1`, `floor(N, 2)`, `?`."""
    if not isinstance(dim, Linear):
        return str(dim)
    parts = [_term(atom, k) for atom, k in dim.terms]
    parts += [str(dim.constant)] if dim.constant else []
    return parts[0] + "".join(part if part.startswith("-") else f"+{part}" for part in parts[1:])


def _term(atom: Atom, k: int) -> str:
    shown = word(atom) if isinstance(atom, str) else f"{atom.kind}({', '.join(map(format_dim, atom.args))})"
    return shown if k == 1 else f"-{shown}" if k == -1 else f"{k}*{shown}"


def format_attribute(value: Any, elide: int | None = None) -> str:
    """The value of an op's field as text. Errors: SaveError for a value that the text form does not know."""
    match value:
        case None | bool() | int():
            return str(value)
        case np.generic():
            return format_attribute(value.item(), elide)
        case float():
            return number_text(value)
        case str():
            return quote(value)
        case TensorType() | SequenceType() | OptionalType() | MapType():
            return format_type(value)
        case _:
            pass
    if is_dtype(value):
        return name_of(value)
    if is_tuple(value) or is_list(value):
        if elide is not None and len(value) > elide:
            return "(...)"
        inside = ", ".join(format_attribute(item, elide) for item in value)
        return f"({inside}{',' if len(value) == 1 else ''})"
    if is_dict(value):
        pairs = (f"{word(key)} = {format_attribute(item, elide)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    if is_array(value):
        return _tensor(value, elide)
    if hasattr(value, "numpy"):
        return _tensor(value, elide)
    if not isinstance(value, Struct):
        raise SaveError(f"the text form has no way to write a {type(value).__name__}")
    return f"{type(value).__name__}({', '.join(fields_text(value, elide))})"


def fields_text(instance: Struct, elide: int | None) -> Iterator[str]:
    """`name = value` for the fields of a struct that differ from their defaults."""
    for name, default in defaults(type(instance)).items():
        shown = format_attribute(getattr(instance, name), elide)
        if default is NODEFAULT or shown != format_attribute(default):
            yield f"{name} = {shown}"


def _tensor(value: np.ndarray | LazyArray, elide: int | None) -> str:
    """`float32[2] <1.0 2.0>`: the type, then the elements in order."""
    left_out = elide is not None and math.prod(value.shape) > elide
    elements = "..." if left_out else elements_text(as_array(value))
    return f"{name_of(value.dtype)}[{', '.join(map(str, value.shape))}] <{elements}>"
