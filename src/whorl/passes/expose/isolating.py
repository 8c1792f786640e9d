"""A piece of a region as a module of its own: a whole body, or one node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from whorl.ir.constants import Constant
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ir.walk import clone_node
from whorl.ops.control.flow import first_captured
from whorl.passes.expose.scopes import Scope


class Piece(Struct, frozen=True):
    """A module, and the values of the region that its inputs and its outputs were."""

    module: Module
    inputs: list[Value]
    outputs: list[Value]


def isolate_body(scope: Scope) -> Piece:
    """The region of a scope."""
    return _isolate(scope, scope.region.arguments, scope.region.nodes, scope.region.results)


def isolate_node(scope: Scope, node: Node) -> Piece:
    """One node of the region of a scope."""
    operands = dict.fromkeys(value for value in node.inputs if value is not None)
    return _isolate(scope, list(operands), [node], node.outputs)


def constant_of(scope: Scope, value: Value) -> Node | None:
    """The Constant that a value of a scope is, also where it was captured from further out."""
    owner = value.owner
    if isinstance(owner, Node):
        return owner if isinstance(owner.op, Constant) else None
    if scope.node is None or scope.around is None:
        return None
    index = value.index + len(scope.node.inputs) - len(scope.region.arguments)
    operand = scope.node.inputs[index]
    return constant_of(scope.around, operand) if index >= first_captured(scope.node) and operand is not None else None


def _isolate(scope: Scope, arguments: Sequence[Value], nodes: Iterable[Node], results: Sequence[Value]) -> Piece:
    region = Region(scope.region.name)
    values: dict[Value, Value] = {}
    inputs: list[Value] = []
    names: set[str] = set()
    for value in arguments:
        node = constant_of(scope, value)
        if node is None:
            values[value] = region.add_argument(_unique(value.name, names), value.type)
            inputs.append(value)
        elif value not in values:
            copy = clone_node(node, {})
            region.nodes.append(copy)
            values[value] = copy.outputs[0]
    region.nodes += [clone_node(node, values) for node in nodes]
    region.results = [values[value] for value in results]
    outputs: set[str] = set(names)
    return Piece(Module(region, [_unique(value.name, outputs) for value in results]), inputs, list(results))


def _unique(name: str, names: set[str]) -> str:
    """The name, with a number where it is taken; it is taken then."""
    text, number = name, 1
    while text in names:
        number += 1
        text = f"{name}_{number}"
    names.add(text)
    return text
