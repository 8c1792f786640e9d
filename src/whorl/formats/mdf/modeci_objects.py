"""Graphs made of modeci_mdf's Python objects, as documents. Only attributes are read; the package is not needed."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any

import numpy as np

from whorl.errors import LoadError
from whorl.formats.mdf.older_loops import note_texts
from whorl.mdf.model import (
    Condition,
    ConditionSet,
    Edge,
    Function,
    Graph,
    InputPort,
    Model,
    Node,
    OutputPort,
    Parameter,
    ParameterCondition,
)


def model_of_objects(model: Any) -> Model:
    """A document from an object with graphs. Errors: LoadError."""
    graphs = {graph.id: graph_of_objects(graph) for graph in model.graphs or ()}
    if not graphs:
        raise LoadError(f"model {model.id!r} has no graph", fix="add one")
    metadata = getattr(model, "metadata", None)
    return Model(
        model.id,
        graphs,
        model.format,
        model.generating_application or "",
        model.onnx_opset_version,
        dict(metadata) if metadata else None,
    )


def graph_of_objects(graph: Any) -> Graph:
    """A document from an object with nodes, edges and conditions. Errors: LoadError."""
    nodes = {node.id: node_of(node) for node in graph.nodes}
    edges = {
        edge.id: Edge(
            edge.id, edge.sender, edge.sender_port, edge.receiver, edge.receiver_port, dict(edge.parameters or {})
        )
        for edge in graph.edges or ()
    }
    for edge in edges.values():
        check_ends(edge, nodes)
    for node in nodes.values():
        note_texts(node)
    conditions = None if graph.conditions is None else condition_set_of(graph.conditions)
    metadata = getattr(graph, "metadata", None)
    return Graph(graph.id, nodes, edges, conditions=conditions, metadata=dict(metadata) if metadata else None)


def check_ends(edge: Edge, nodes: dict[str, Node]) -> None:
    known = edge.sender in nodes and edge.receiver in nodes
    if not known or edge.sender_port not in nodes[edge.sender].output_ports:
        raise LoadError(f"edge {edge.id!r} begins at {edge.sender}.{edge.sender_port}, which is no output port")
    if edge.receiver_port not in nodes[edge.receiver].input_ports:
        raise LoadError(f"edge {edge.id!r} ends at {edge.receiver}.{edge.receiver_port}, which is no input port")


def node_of(node: Any) -> Node:
    return Node(
        node.id,
        {port.id: input_port_of(port) for port in node.input_ports or ()},
        {function.id: function_of(function) for function in node.functions or ()},
        {parameter.id: parameter_of(parameter) for parameter in node.parameters or ()},
        {port.id: OutputPort(port.id, port.value, shape_of(port), port.type) for port in node.output_ports or ()},
    )


def input_port_of(port: Any) -> InputPort:
    reduce = getattr(port, "reduce", None) or "overwrite"
    return InputPort(port.id, shape_of(port), port.type, getattr(port, "default_value", None), reduce)


def shape_of(port: Any) -> tuple[int, ...] | None:
    return None if port.shape is None else tuple(int(length) for length in port.shape)


def function_of(function: Any) -> Function:
    return Function(function.id, function.function, dict(function.args or {}), function.value)


def parameter_of(parameter: Any) -> Parameter:
    return Parameter(
        parameter.id,
        parameter.value,
        parameter.default_initial_value,
        parameter.time_derivative,
        parameter.function,
        dict(parameter.args or {}),
        [own_condition_of(each) for each in parameter.conditions or ()],
    )


def own_condition_of(condition: Any) -> ParameterCondition:
    """A condition of a parameter; modeci_mdf leaves those that it loads as dicts."""
    if isinstance(condition, dict):
        return ParameterCondition(str(condition.get("id")), condition.get("test"), condition.get("value"))
    return ParameterCondition(condition.id, condition.test, condition.value)


def condition_set_of(conditions: Any) -> ConditionSet:
    def each(datum: Any) -> dict[str, Condition]:
        return {name_of(key): condition_of(value) for key, value in (datum or {}).items()}

    return ConditionSet(each(conditions.node_specific), each(conditions.termination))


def condition_of(condition: Any) -> Condition:
    if isinstance(condition, dict):
        type, arguments = condition.get("type"), condition.get("kwargs") or {}
    else:
        type, arguments = condition.type, condition.kwargs or {}
    if not isinstance(type, str):
        raise LoadError(f"{condition!r} is not a condition", fix="a condition has a type and kwargs")
    return Condition(type, {name: argument_of(value) for name, value in arguments.items()})


def argument_of(value: Any) -> object:
    """A condition, a node by its id, a time scale by its name, a number, or a list of these."""
    if isinstance(value, list | tuple):
        return [argument_of(each) for each in value]
    if isinstance(value, enum.Enum):
        return name_of(value)
    if (isinstance(value, dict) and "type" in value) or (hasattr(value, "type") and hasattr(value, "kwargs")):
        return condition_of(value)
    if isinstance(value, np.generic):
        return value.item()
    return getattr(value, "id", value)


def name_of(key: Any) -> str:
    return key.name if isinstance(key, enum.Enum) else str(key)


def part_of_objects(part: Any) -> Function | Parameter:
    """A function or a parameter alone."""
    return parameter_of(part) if hasattr(part, "default_initial_value") else function_of(part)


def has_objects(graph: Any) -> bool:
    """Whether a graph is made of objects rather than of a document's."""
    return isinstance(getattr(graph, "nodes", None), Iterable) and not isinstance(graph.nodes, dict)
