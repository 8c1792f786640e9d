"""Names inside one graph, and how a name of an outer graph becomes a captured argument of the region."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whorl.ir.build import Builder
from whorl.ir.graph import Region, Value
from whorl.ir.infer import Inference


class Scope:
    """The names of one graph. Looking up a name of an outer graph adds a captured argument here and on the way.

    Initializers are put into the graph when they are first used: `initializers` maps a name to what makes its value,
    `constants` to what it holds.
    `absent` are inputs of a function that its caller leaves out: known names without a value.
    `is_repeated`: it lies in the body of a loop. While that is read, carried values have the types that they begin
    with, so that lengths which inference knows may be those of the first iteration alone.
    """

    def __init__(
        self, region: Region, inference: Inference, parent: Scope | None = None, is_repeated: bool = False
    ) -> None:
        self.region, self.inference, self.parent, self.is_repeated = region, inference, parent, is_repeated
        self.build = Builder(region, inference)
        self.values: dict[str, Value] = {}
        self.initializers: dict[str, Callable[[Builder], Value]] = {}
        self.constants: dict[str, Any] = {}
        self.captured: dict[Value, Value] = {}
        self.absent: set[str] = set()

    def find(self, name: str) -> Value | None:
        """The value a name stands for, inner names first; None where nothing has that name yet, or it is absent."""
        if name in self.values:
            return self.values[name]
        if name in self.initializers:
            value = self.values[name] = self.initializers[name](self.build)
            return value
        if name in self.absent:
            return None
        outer = self.parent.find(name) if self.parent is not None else None
        return None if outer is None else self.capture(outer)

    def add_constant(self, name: str, value: Any) -> None:
        """Give a name a value that is fixed."""
        self.constants[name] = value
        self.initializers[name] = lambda build: build.constant(value, name)

    def capture(self, outer: Value) -> Value:
        """The argument of this region that stands for a value of the parent."""
        if outer not in self.captured:
            self.captured[outer] = self.region.add_argument(outer.name, outer.type, outer.known)
        return self.captured[outer]

    def defines(self, name: str) -> bool:
        """Whether the name has a meaning here already, without capturing anything."""
        if name in self.values or name in self.initializers or name in self.absent:
            return True
        return self.parent is not None and self.parent.defines(name)

    def child(self, region_name: str) -> Scope:
        return Scope(Region(region_name), self.inference, self, self.is_repeated or region_name == "body")

    def callee(self) -> Scope:
        """The names of a function whose nodes become part of this region."""
        return Scope(self.region, self.inference, is_repeated=self.is_repeated)


def align_captures(scopes: list[Scope], first: int = 0) -> list[Value]:
    """Give sibling regions the same captured arguments in one order; returns the operands.

    The arguments from `first` on are the captured ones.
    """
    operands = list(dict.fromkeys(outer for scope in scopes for outer in scope.captured))
    for scope in scopes:
        arguments = [scope.capture(outer) for outer in operands]
        scope.region.arguments[first:] = arguments
        scope.region.set_arguments(scope.region.arguments)
    return operands
