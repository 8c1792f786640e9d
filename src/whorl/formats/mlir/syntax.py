"""What MLIR text says, as plain data: operations, blocks, and attributes that are no Python values by themselves."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any

from msgspec import Struct, field

from whorl.ir.types import Type


class Symbol(Struct, frozen=True):
    """`@name`."""

    name: str


class Opaque(Struct, frozen=True):
    """An attribute or a type of another dialect, kept as text."""

    text: str


class FunctionType(Struct, frozen=True):
    """`(inputs) -> results`."""

    inputs: tuple[Type | None, ...]
    results: tuple[Type | None, ...]


class Argument(Struct):
    """An argument of a block or function: its name without `%`, type, attributes and location."""

    name: str
    type: Type | None
    attributes: dict[str, Any] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    location: str = ""


class Block(Struct):
    """The only block of a region."""

    arguments: list[Argument] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)


class Operation(Struct):
    """One operation. Properties count as attributes; `texts` holds each attribute as it was written."""

    name: str
    position: int
    results: list[str] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    types: FunctionType = FunctionType((), ())
    location: str = ""


class Function(Struct):
    """A function: `block` is None where it is only declared."""

    name: str
    position: int
    block: Block | None
    results: list[Type | None]
    result_attributes: list[dict[str, Any]]
    result_texts: list[dict[str, str]]
    texts: dict[str, str] = field(default_factory=dict)
    location: str = ""
    arguments: list[Type | None] = field(default_factory=list)


class Program(Struct):
    """A file, or a piece of one: its functions, what the module around them says, and its entry points."""

    name: str
    text: str
    line: int = 0
    functions: list[Function] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    entries: list[str] = field(default_factory=list)
    locations: dict[str, str] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)

    def locate(self, position: int) -> str:
        """`file:line:column` of a position in the text."""
        line, column = self.coordinates(position)
        return f"{self.name}:{line}:{column}"

    def coordinates(self, position: int) -> tuple[int, int]:
        """The line and the column of a position, both from 1."""
        if not self.starts:
            self.starts = [0, *(match.end() for match in re.finditer("\n", self.text))]
        line = bisect_right(self.starts, position)
        return line + self.line, position - self.starts[line - 1] + 1
