"""The regions of a module as a tree, and the paths by which their values are called."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from whorl.errors import RunError
from whorl.ir.constants import Constant
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ir.types import SequenceType, TensorType
from whorl.ops.control.flow import Loop, first_captured

SHOWN = 8
"""Paths that an error lists."""


class Scope(Struct, frozen=True, eq=False):
    """A region, the node that it is a region of, and the scope of that node; the main region has neither."""

    region: Region
    path: str = ""
    node: Node | None = None
    around: Scope | None = None

    @property
    def chain(self) -> list[Scope]:
        """The scopes from the outermost body or branch to this one; empty for the main region."""
        return [] if self.around is None else [*self.around.chain, self]

    @property
    def loops(self) -> list[Scope]:
        """The bodies of loops in the chain."""
        return [scope for scope in self.chain if scope.node is not None and isinstance(scope.node.op, Loop)]


class NamedValue(Struct, frozen=True, eq=False):
    """A value, the scope that it is made in, and its path: `loop/inner/x`, `loop/choice/then_branch/y`."""

    value: Value
    scope: Scope
    path: str


def name_of_node(node: Node) -> str:
    """The name of a node, or that of its first output."""
    return node.name or (node.outputs[0].name if node.outputs else node.op.name)


def scopes_of(module: Module) -> list[Scope]:
    """Every region, each before those inside it."""
    scopes = [Scope(module.main)]
    for scope in scopes:
        names: Counter[str] = Counter()
        for node in scope.region.nodes:
            if not node.regions:
                continue
            name = name_of_node(node)
            names[name] += 1
            name = f"{name}#{names[name]}" if names[name] > 1 else name
            path = f"{scope.path}/{name}" if scope.path else name
            for region in node.regions:
                inner = path if len(node.regions) == 1 else f"{path}/{region.name}"
                scopes.append(Scope(region, inner, node, scope))
    return scopes


def values_in(scope: Scope) -> list[NamedValue]:
    """What a region is passed for each iteration, and what its nodes give, in order; without captured values and
    constants. A name that occurs again gets a number: `x#2`."""
    names: Counter[str] = Counter()
    entries: list[NamedValue] = []
    for value in _own_values(scope):
        names[value.name] += 1
        name = f"{value.name}#{names[value.name]}" if names[value.name] > 1 else value.name
        entries.append(NamedValue(value, scope, f"{scope.path}/{name}" if scope.path else name))
    return entries


def _own_values(scope: Scope) -> Iterator[Value]:
    node = scope.node
    if node is None:
        yield from scope.region.arguments
    elif isinstance(node.op, Loop):
        yield from scope.region.arguments[: first_captured(node)]
    for node in scope.region.nodes:
        if not isinstance(node.op, Constant):
            yield from node.outputs


def choose(scopes: Sequence[Scope], patterns: Sequence[str]) -> list[NamedValue]:
    """The values of bodies and branches whose path or name a glob matches. Errors: RunError for one without a match."""
    candidates = [value for scope in scopes if scope.chain for value in values_in(scope)]
    chosen: dict[str, NamedValue] = {}
    for pattern in patterns:
        fitting = [each for each in candidates if matches(each, pattern)]
        if not fitting:
            paths = [each.path for each in candidates]
            listed = ", ".join(paths[:SHOWN]) + (f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else "")
            fix = f"choose from {listed}" if paths else "the model has neither loops nor branches"
            raise RunError(f"no value of a body is called {pattern!r}", fix=fix)
        chosen |= {each.path: each for each in fitting if is_recordable(each.value)}
    return list(chosen.values())


def values_at(scopes: Sequence[Scope], paths: Collection[str]) -> list[NamedValue]:
    """The values of bodies and branches at these paths, in order."""
    return [each for scope in scopes if scope.chain for each in values_in(scope) if each.path in paths]


def matches(named: NamedValue, pattern: str) -> bool:
    """Whether a pattern is the path of a value, its end or the name, or a glob for one of them."""
    texts = named.path, f"/{named.path}", named.value.name
    return pattern in texts or any(
        fnmatch.fnmatchcase(text, form) for text in texts for form in (pattern, f"*/{pattern}")
    )


def is_recordable(value: Value) -> bool:
    """Whether a value is a tensor or a sequence of tensors."""
    match value.type:
        case TensorType() | SequenceType(element=TensorType()):
            return True
        case _:
            return False
