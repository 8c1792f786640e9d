"""The regions of a module as plain data: nodes, the values between them, and what loops do with these."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whorl.api.describe import control_flow
from whorl.api.exploring import dependence
from whorl.ir.constants import Constant
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ir.infer import names_of
from whorl.ir.text import fields_text, format_type
from whorl.ops.control.flow import Loop, first_captured
from whorl.passes.expose.scopes import Scope, scopes_of, values_in

LONGEST = 200
"""Characters of an attribute that a page shows."""
ELIDE = 8
"""Elements of a constant that a page shows."""


def bodies_of(module: Module) -> list[dict[str, Any]]:
    """Every region, each before those inside it; values are called by their index in the region."""
    scopes = scopes_of(module)
    indices = {scope.region: k for k, scope in enumerate(scopes)}
    bodies: dict[Region, _Body] = {}
    for scope in scopes:
        around = None if scope.around is None else bodies[scope.around.region]
        bodies[scope.region] = _Body(module, scope, indices, around)
    return [body.document() for body in bodies.values()]


class _Body:
    """One region, with what is known of its values from around it."""

    def __init__(self, module: Module, scope: Scope, indices: dict[Region, int], around: _Body | None) -> None:
        self.module, self.scope, self.indices, self.around = module, scope, indices, around
        region, node = scope.region, scope.node
        self.positions = {each: k for k, each in enumerate(region.nodes)}
        made = [value for each in region.nodes for value in each.outputs]
        self.values = {value: k for k, value in enumerate((*region.arguments, *made))}
        self.in_loop = bool(scope.loops)
        arguments: dict[int, int] = {}
        self.visible = names_of(region.arguments)
        if node is not None and around is not None:
            arguments = dependence.of_arguments(node, around.depends)
            self.visible = dependence.visible_names(node, around.visible)
        self.depends = dependence.of_values(region, arguments)
        self.constants = dict(self._constants())

    def _constants(self) -> Iterator[tuple[Value, str]]:
        """The text of each value that is a constant, here or where it is captured."""
        node, around = self.scope.node, self.around
        for each in self.scope.region.nodes:
            if isinstance(each.op, Constant):
                yield each.outputs[0], _cut(next(fields_text(each.op, ELIDE)).removeprefix("value = "))
        if node is None or around is None:
            return
        first = first_captured(node)
        captured = self.scope.region.arguments[len(self.scope.region.arguments) - len(node.inputs) + first :]
        for argument, operand in zip(captured, node.inputs[first:], strict=True):
            if operand is not None and operand in around.constants:
                yield argument, around.constants[operand]

    def document(self) -> dict[str, Any]:
        scope, node, around = self.scope, self.scope.node, self.around
        paths = {each.value: each.path for each in values_in(scope)} if scope.chain else {}
        document: dict[str, Any] = {
            "path": scope.path,
            "kind": "main" if node is None else "loop" if isinstance(node.op, Loop) else "branch",
            "name": scope.path.rpartition("/")[2],
            "values": [self._value(value, paths.get(value, "")) for value in self.values],
            "arguments": list(self._arguments()),
            "results": list(self._results()),
            "nodes": [self._node(each) for each in scope.region.nodes],
        }
        if node is not None and around is not None:
            document |= {"around": self.indices[around.scope.region], "node": around.positions[node]}
            if isinstance(node.op, Loop):
                alone = Region()
                alone.nodes = [node]
                (report,) = control_flow(alone)
                document |= {"trip": report["trip_count"], "condition": report["condition"]}
        return document

    def _value(self, value: Value, path: str) -> dict[str, Any]:
        entry: dict[str, Any] = {"name": value.name, "type": format_type(value.type)}
        if path:
            entry["path"] = path
        if value in self.constants:
            entry["constant"] = self.constants[value]
        elif self.in_loop:
            entry["depends"] = self.depends[value]
            if dependence.is_varying(value, self.visible):
                entry["varying"] = True
        return entry

    def _arguments(self) -> Iterator[dict[str, Any]]:
        node = self.scope.node
        if node is None:
            states = {state.input for state in self.module.states}
            for value in self.scope.region.arguments:
                yield {"role": "state" if value.name in states else "input"}
            return
        op, operands, roles = node.op, node.inputs, list[str]()
        if isinstance(op, Loop):
            roles = ["iteration", "condition", *["carried"] * op.carried, *["slice"] * len(op.scanned)]
        else:
            operands = operands[1:]
        roles += ["captured"] * (len(operands) - len(roles))
        outer = {} if self.around is None else self.around.values
        for role, operand in zip(roles, operands, strict=True):
            yield {"role": role, "operand": -1 if operand is None else outer[operand]}

    def _results(self) -> Iterator[dict[str, Any]]:
        node, results = self.scope.node, [self.values[value] for value in self.scope.region.results]
        names = [*self.module.output_names] if node is None else [value.name for value in node.outputs]
        roles = ["output"] * len(results)
        if node is not None and isinstance(op := node.op, Loop):
            roles = ["condition", *["carried"] * op.carried, *["last"] * op.last, *["collected"] * len(op.collected)]
            names = ["", *names]
        # A node may leave out its last outputs.
        names += [""] * (len(results) - len(names))
        for role, k, name in zip(roles, results, names, strict=True):
            yield {"role": role, "value": k, "to": name}

    def _node(self, node: Node) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "op": node.op.name,
            "inputs": [-1 if value is None else self.values[value] for value in node.inputs],
            "outputs": [self.values[value] for value in node.outputs],
        }
        if node.name:
            entry["name"] = node.name
        if isinstance(node.op, Constant):
            return entry
        if node.regions:
            entry["bodies"] = [self.indices[region] for region in node.regions]
        elif attributes := [_cut(text) for text in fields_text(node.op, ELIDE)]:
            entry["attributes"] = attributes
        return entry


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
