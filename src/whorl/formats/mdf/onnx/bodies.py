"""A graph without memory, as bodies of loops and branches are, as nodes of a region of the hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from whorl.errors import LoadError, UnsupportedError
from whorl.formats.mdf.onnx.calls import emit_call, join_results, operand
from whorl.formats.mdf.onnx.constants import apply_type
from whorl.formats.mdf.onnx.operators import bind, find_schema, is_onnx, spread_arguments
from whorl.formats.onnx.scope import Scope
from whorl.ir.graph import Value
from whorl.mdf.bodies import port_index
from whorl.mdf.expressions.arrays import evaluate
from whorl.mdf.expressions.nodes import emit
from whorl.mdf.expressions.syntax import Expression, parse
from whorl.mdf.functions.builder import NodeBuilder
from whorl.mdf.functions.operators import Precision
from whorl.mdf.functions.standard import STANDARD
from whorl.mdf.model import Datum, Graph, InputPort, LiteralText, Node
from whorl.ops.elementwise.arithmetic import Add, Mul


class GraphScope(Scope):
    """The scope of a body: `graph` gives values of the graph's own ports, others are those of the scopes around it."""

    own: Callable[[str], Value | None] | None = None

    def find(self, name: str) -> Value | None:
        value = self.values.get(name)
        if value is None and self.own is not None:
            value = self.own(name)
        return super().find(name) if value is None else value

    def child(self, region_name: str) -> GraphScope:
        plain = super().child(region_name)
        return GraphScope(plain.region, plain.inference, self)


class GraphNodes:
    """Adds the nodes of a graph to a region as their values are asked for.

    A port that no edge feeds is the value of that name in the scope: a formal input, or a captured value.
    """

    def __init__(self, graph: Graph, scope: GraphScope, precision: Precision) -> None:
        self.graph, self.scope = graph, scope
        self.precision: Precision = precision
        self.nodes = {id: _NodeNames(node, self) for id, node in graph.nodes.items()}
        self.senders = {port: node for node in reversed(self.nodes.values()) for port in node.node.output_ports}
        self.feeds: dict[tuple[str, str], list[Datum]] = {}
        for edge in graph.edges.values():
            self.feeds.setdefault((edge.receiver, edge.receiver_port), []).append(edge)

    def output(self, name: str) -> Value:
        """The value of an output port, of a formal input or of a captured value. Errors: LoadError."""
        value = self.port(name)
        value = self.scope.find(name) if value is None else value
        if value is None:
            raise LoadError(f"it has no output {name!r}", f"graph {self.graph.id!r}")
        return value

    def port(self, name: str) -> Value | None:
        """The value of an output port of this graph by its id."""
        node = self.senders.get(name)
        return None if node is None else self.value(node.output(name))

    def value(self, part: Datum) -> Value:
        return operand(part, self.scope.build, self.precision)

    def input(self, node: Node, port: InputPort) -> Datum:
        """What comes in at a port."""
        value: Datum = None
        nodes = NodeBuilder(self.scope.build)
        for edge in self.feeds.get((node.id, port.id), []):
            part = self.nodes[edge.sender].output(edge.sender_port)
            if "weight" in edge.parameters:
                part = nodes.add(Mul(), nodes.number(edge.parameters["weight"]), nodes.number(part))
            joins = {"add": Add(), "multiply": Mul()}
            is_reduced = value is not None and port.reduce in joins
            value = nodes.add(joins[port.reduce], nodes.number(value), nodes.number(part)) if is_reduced else part
        if value is None:
            value = self.scope.find(port.id)
        if value is None and port.default_value is not None:
            value = port.default_value
        if value is None:
            where = f"node {node.id!r} in graph {self.graph.id!r}"
            raise LoadError(
                f"nothing feeds its input port {port.id!r}", where, "add an edge, or name it in onnx_inputs"
            )
        return value


class _NodeNames(Mapping[str, Datum]):
    """The names that a node's expressions see, computed when they are first read."""

    def __init__(self, node: Node, graph: GraphNodes) -> None:
        self.node, self.graph = node, graph
        self.values: dict[str, Datum] = {}
        self.pending: set[str] = set()

    def __iter__(self) -> Iterator[str]:
        return iter({**self.node.input_ports, **self.node.parameters, **self.node.functions})

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        node = self.node
        return name in node.input_ports or name in node.parameters or name in node.functions

    @property
    def where(self) -> str:
        return f"node {self.node.id!r} in graph {self.graph.graph.id!r}"

    def __getitem__(self, name: str) -> Datum:
        if name not in self.values:
            if name in self.pending:
                raise LoadError(f"{name!r} hangs on itself", self.where, "a body has no memory of its own")
            self.pending.add(name)
            self.values[name] = self.computed(name)
            self.pending.discard(name)
        return self.values[name]

    def computed(self, name: str) -> Datum:
        node = self.node
        if name in node.functions:
            function = node.functions[name]
            return self.result(function.function, function.args, function.value)
        if name in node.parameters:
            parameter = node.parameters[name]
            if parameter.time_derivative or parameter.default_initial_value is not None or parameter.conditions:
                raise UnsupportedError(f"parameter {name!r} has a memory, and a body has none", self.where)
            values = self.result(parameter.function, parameter.args, parameter.value)
            is_constant = self.graph.precision == "declared" and not parameter.function
            return apply_type(parameter, values) if is_constant else values
        if name in node.input_ports:
            return self.graph.input(node, node.input_ports[name])
        raise LoadError(f"{name!r} is not known here", self.where)

    def output(self, port: str) -> Datum:
        """The value of an output port; several ports of one result take its parts in order."""
        value = self.node.output_ports[port].value
        part = _evaluated(value, self, self.graph.scope, self.where)
        if not isinstance(part, tuple):
            return part
        return part[port_index(self.node, port)]

    def result(self, function: str | None, args: Mapping[str, Datum], value: Datum) -> Datum:
        if value is not None or function is None:
            return _evaluated(value, self, self.graph.scope, self.where)
        inside, args = _Overlay(self, {}), spread_arguments(function, args)
        for name, text in args.items():
            inside.added[name] = _evaluated(text, inside, self.graph.scope, self.where)
        if function in STANDARD:
            defaults, expression = STANDARD[function]
            names = {name: inside.get(name, default) for name, default in defaults.items()}
            return _emitted(expression, names, self.graph.scope)
        if not is_onnx(function):
            raise UnsupportedError(f"function {function!r} has no meaning in a body", self.where)
        try:
            schema = find_schema(function)
            assert schema is not None
            values = emit_call(bind(schema, inside, args), self.graph.scope, self.graph.precision)
        except LoadError as error:
            raise error.at(self.where) from None
        return join_results(schema, values)


class _Overlay(Mapping[str, Datum]):
    """The names of a node with arguments over them."""

    def __init__(self, below: Mapping[str, Datum], added: dict[str, Datum]) -> None:
        self.below, self.added = below, added

    def __getitem__(self, name: str) -> Datum:
        return self.added[name] if name in self.added else self.below[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self.below), **self.added})

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return name in self.added or name in self.below


def _evaluated(value: Datum, names: Mapping[str, Datum], scope: Scope, where: str) -> Datum:
    """A name's value or a number as it is; any other text by nodes."""
    if not isinstance(value, str):
        return value
    if value in names:
        return names[value]
    if isinstance(value, LiteralText) or not value:
        return str(value) or None
    expression = parse(value, where)
    if not expression.names and not expression.draws:
        return evaluate(expression, {})
    return _emitted(expression, names, scope)


def _emitted(expression: Expression, names: Mapping[str, Datum], scope: Scope) -> Datum:
    nodes = NodeBuilder(scope.build)
    tuples = [name for name in expression.names if name in names and isinstance(names[name], tuple)]
    if tuples:
        return _item(expression, names[tuples[0]])
    values = {name: nodes.value(names[name]) for name in expression.names if name in names}
    return emit(expression, values, scope.build)


def _item(expression: Expression, parts: tuple[Datum, ...]) -> Datum:
    """`loop[1]`: one of several results."""
    text = str(expression.text).strip()
    index = text[text.find("[") + 1 : -1] if text.endswith("]") else ""
    if not index.isdigit() or int(index) >= len(parts):
        raise LoadError(f"expression {text!r} reads several results", expression.location, "take one of them: name[0]")
    return parts[int(index)]
