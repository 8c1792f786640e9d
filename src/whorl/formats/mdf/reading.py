"""Plain data, as JSON holds it, to the document: every field is checked, and unknown ones are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from whorl.errors import LoadError
from whorl.formats.mdf.fields import (
    FieldReader,
    Titles,
    check_list,
    checked_id,
    format_titles,
    listed_entries,
    listing,
    number_or_text,
    reduce_field,
    shape_field,
    split_fields,
    text_field,
    weight_field,
    wrong,
)
from whorl.formats.mdf.older_loops import mended_loops, note_signatures, note_texts
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

MAX_BODY_DEPTH = 64
"""How deep graphs may lie in parameters of graphs."""
ARRAY_KEY = "npz"
"""`{"npz": "name"}` in the place of a value is the array of that name in the .npz file beside the model."""
AS_GRAPH = "graph among nodes"
"""The key in `extra` of a node that a file writes as a graph among the nodes; the graph is the value of `body`."""

Arrays = Callable[[str], np.ndarray]


def no_arrays(name: str) -> np.ndarray:
    """For data that comes without a file."""
    raise LoadError(f"array {name!r} is in a file of arrays, and there is none", fix="write the array as a list")


def model_of(data: object, arrays: Arrays = no_arrays) -> Model:
    """The document that the data of a whole file says. Errors: LoadError."""
    return _Reader(arrays).model(data)


def graph_of(id: str, data: object, arrays: Arrays = no_arrays) -> Graph:
    """A graph from the data under its id. Errors: LoadError."""
    return _Reader(arrays).graph(id, data, ())


_FORM = 'a file is {"model id": {"graphs": {"graph id": {"nodes": {...}, "edges": {...}}}}}'


Entry = TypeVar("Entry")


class _Reader:
    """Reads one file."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays, self.depth = arrays, 0

    def model(self, data: object) -> Model:
        id, content = _model_entry(data)
        known: dict[str, FieldReader] = {
            "graphs": lambda value, at: self.entries(value, at, "graphs", self.graph),
            "format": text_field("format"),
            "generating_application": text_field("generating_application"),
            "onnx_opset_version": number_or_text,
        }
        values, extra = split_fields(content, known, (), Model)
        if not values.get("graphs"):
            raise LoadError("there is no graph in it", f"model {id!r}", _FORM)
        values.setdefault("format", "")
        return Model(checked_id(id, "model", ()), **values, extra=extra)

    def entries(
        self, value: object, at: Titles, what: str, read: Callable[[str, object, Titles], Entry]
    ) -> dict[str, Entry]:
        """Things with ids: an object of them, or a list of objects with an `id` each."""
        if isinstance(value, list):
            value = listed_entries(value, at, what)
        if not isinstance(value, dict):
            raise wrong(what, value, "an object with the ids as keys", at)
        return {checked_id(id, what, at): read(id, entry, at) for id, entry in value.items()}

    def graph(self, id: str, data: object, at: Titles) -> Graph:
        at = (f"graph {id!r}", *at)
        self.depth += 1
        if self.depth > MAX_BODY_DEPTH:
            raise LoadError(f"graphs lie more than {MAX_BODY_DEPTH} deep in each other", f"graph {id!r}")
        known: dict[str, FieldReader] = {
            "nodes": lambda value, at: self.entries(value, at, "nodes", self.node),
            "edges": lambda value, at: self.entries(value, at, "edges", self.edge),
            "parameters": self.named_values("parameters"),
            "conditions": _condition_set,
        }
        values, extra = split_fields(data, known, at, Graph)
        self.depth -= 1
        graph = Graph(id, **values, extra=extra)
        graph.nodes = mended_loops(graph.nodes, graph.edges)
        _check_names(graph, at)
        return graph

    def node(self, id: str, data: object, at: Titles) -> Node:
        at = (f"node {id!r}", *at)
        if isinstance(data, dict) and "nodes" in data:
            body = Parameter("body", {id: self.graph(id, data, at)})
            return Node(id, parameters={"body": body}, extra={AS_GRAPH: True})
        known: dict[str, FieldReader] = {
            "input_ports": lambda value, at: self.entries(value, at, "input_ports", self.input_port),
            "functions": lambda value, at: self.entries(value, at, "functions", self.function),
            "parameters": lambda value, at: self.entries(value, at, "parameters", self.parameter),
            "output_ports": lambda value, at: self.entries(value, at, "output_ports", self.output_port),
        }
        values, extra = split_fields(data, known, at, Node)
        node = Node(id, **values, extra=extra)
        note_texts(node)
        try:
            note_signatures(node)
        except LoadError as error:
            raise error.at(format_titles(at)) from None
        return node

    def input_port(self, id: str, data: object, at: Titles) -> InputPort:
        known: dict[str, FieldReader] = {
            "shape": shape_field,
            "type": text_field("type"),
            "default_value": self.value_of("default_value"),
            "reduce": reduce_field,
        }
        values, extra = split_fields(data, known, (f"input port {id!r}", *at), InputPort)
        return InputPort(id, **values, extra=extra)

    def output_port(self, id: str, data: object, at: Titles) -> OutputPort:
        known: dict[str, FieldReader] = {
            "value": self.value_of("value"),
            "shape": shape_field,
            "type": text_field("type"),
        }
        values, extra = split_fields(data, known, (f"output port {id!r}", *at), OutputPort)
        return OutputPort(id, **values, extra=extra)

    def function(self, id: str, data: object, at: Titles) -> Function:
        at = (f"function {id!r}", *at)
        known: dict[str, FieldReader] = {
            "function": text_field("function"),
            "args": self.named_values("args"),
            "value": self.value_of("value"),
        }
        values, extra = split_fields(_one_form(data, at), known, at, Function)
        return Function(id, **values, extra=extra)

    def parameter(self, id: str, data: object, at: Titles) -> Parameter:
        at = (f"parameter {id!r}", *at)
        known: dict[str, FieldReader] = {
            "value": self.value_of("value"),
            "default_initial_value": self.value_of("default_initial_value"),
            "time_derivative": text_field("time_derivative"),
            "function": text_field("function"),
            "args": self.named_values("args"),
            "conditions": lambda value, at: [*self.entries(value, at, "conditions", self.own_condition).values()],
        }
        values, extra = split_fields(_one_form(data, at), known, at, Parameter)
        return Parameter(id, **values, extra=extra)

    def own_condition(self, id: str, data: object, at: Titles) -> ParameterCondition:
        known: dict[str, FieldReader] = {"test": self.value_of("test"), "value": self.value_of("value")}
        values, extra = split_fields(data, known, (f"condition {id!r}", *at), ParameterCondition)
        return ParameterCondition(id, **values, extra=extra)

    def edge(self, id: str, data: object, at: Titles) -> Edge:
        at = (f"edge {id!r}", *at)
        ends = ("sender", "sender_port", "receiver", "receiver_port")
        known: dict[str, FieldReader] = {
            **{end: text_field(end) for end in ends},
            "parameters": self.named_values("parameters"),
        }
        values, extra = split_fields(data, known, at, Edge)
        if "weight" in values.get("parameters", {}):
            weight_field(values["parameters"]["weight"], at)
        for end in ends:
            if end not in values:
                raise LoadError(f"it has no {end}", format_titles(at), f"give the id of the {end.replace('_', ' ')}")
        return Edge(id, **values, extra=extra)

    def named_values(self, what: str) -> Callable[[object, Titles], dict[str, object]]:
        def read(value: object, at: Titles) -> dict[str, object]:
            if not isinstance(value, dict):
                raise wrong(what, value, "an object", at)
            return {
                checked_id(name, what, at): self.value(entry, f"{what}.{name}", at) for name, entry in value.items()
            }

        return read

    def value_of(self, what: str) -> Callable[[object, Titles], object]:
        return lambda value, at: self.value(value, what, at)

    def value(self, value: object, what: str, at: Titles) -> object:
        """A number, a text, or lists and objects of them; graphs and arrays of a file in their own form."""
        if isinstance(value, dict) and value:
            if list(value) == [ARRAY_KEY] and isinstance(value[ARRAY_KEY], str):
                return self.array(value[ARRAY_KEY], at)
            if all(isinstance(entry, dict) and "nodes" in entry for entry in value.values()):
                return {id: self.graph(id, entry, at) for id, entry in value.items()}
            if all(isinstance(entry, dict) and _is_graph_entry(entry) for entry in value.values()):
                return {id: self.value(entry, what, at) for id, entry in value.items()}
        if isinstance(value, list):
            check_list(value, what, at)
        if value is None or isinstance(value, str | bool | int | float | list | dict | np.ndarray):
            return value
        raise wrong(what, value, "a number, a text, a list or an object", at)

    def array(self, name: str, at: Titles) -> np.ndarray:
        try:
            return self.arrays(name)
        except LoadError as error:
            raise error.at(format_titles(at)) from None


def _is_graph_entry(value: dict[str, object]) -> bool:
    """Whether this is `{graph id: {nodes: ...}}`, as some files have it inside another id."""
    return len(value) == 1 and all(isinstance(entry, dict) and "nodes" in entry for entry in value.values())


def _model_entry(data: object) -> tuple[str, dict[str, object]]:
    """The id of the one model of a file and what the file says of it."""
    if not isinstance(data, dict) or not data:
        raise wrong("its content", data, "an object with one model", (), _FORM)
    if "graphs" in data and isinstance(data.get("id"), str):
        id, content = data["id"], {key: value for key, value in data.items() if key != "id"}
    elif len(data) == 1:
        ((id, content),) = data.items()
    else:
        keys = ", ".join(map(repr, list(data)[:5]))
        raise LoadError(f"it has the entries {keys}, expected one model", fix=_FORM)
    if not isinstance(content, dict) or "graphs" not in content:
        raise LoadError(f"{id!r} has no graphs, so it is not an MDF model", fix=_FORM)
    return id, content


def _one_form(data: object, at: Titles) -> object:
    """`function: {name: {args}}` as `function: name, args: {...}`."""
    if not isinstance(data, dict) or not isinstance(data.get("function"), dict):
        return data
    function = data["function"]
    if len(function) != 1:
        raise LoadError(f"function has {len(function)} names, expected one", format_titles(at))
    ((name, args),) = function.items()
    if data.get("args") and args:
        raise LoadError("its arguments stand in function and in args", format_titles(at), "leave one of them out")
    return {**data, "function": name, "args": args or data.get("args") or {}}


def _condition_set(value: object, at: Titles) -> ConditionSet:
    at = ("conditions", *at)

    def conditions(value: object, at: Titles) -> dict[str, Condition]:
        if not isinstance(value, dict):
            raise wrong("conditions", value, "an object", at)
        return {
            checked_id(id, "conditions", at): _condition(entry, (f"condition of {id!r}", *at))
            for id, entry in value.items()
        }

    values, extra = split_fields(value, {"node_specific": conditions, "termination": conditions}, at, ConditionSet)
    return ConditionSet(**values, extra=extra)


def _condition(value: object, at: Titles) -> Condition:
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise wrong("a condition", value, "an object with a type", at)
    kwargs = value.get("kwargs")
    if kwargs is not None and not isinstance(kwargs, dict):
        raise wrong("kwargs", kwargs, "an object", at)
    own = {key: entry for key, entry in value.items() if key not in ("type", "kwargs", "metadata")}
    extra = {"metadata": value["metadata"]} if "metadata" in value else {}
    if not kwargs and "kwargs" in value:
        extra["kwargs"] = kwargs
    arguments = {key: _argument(entry, (value["type"], *at)) for key, entry in {**own, **(kwargs or {})}.items()}
    return Condition(value["type"], arguments, extra)


def _argument(value: object, at: Titles) -> object:
    if isinstance(value, list):
        return [_argument(entry, at) for entry in value]
    if isinstance(value, dict) and "type" in value:
        return _condition(value, at)
    if isinstance(value, dict) and isinstance(value.get("id"), str):
        return value["id"]
    return value


def _check_names(graph: Graph, at: Titles) -> None:
    """Edges and conditions may only name what there is."""
    for edge in graph.edges.values():
        where = format_titles((f"edge {edge.id!r}", *at))
        for end, ports in (("sender", "output_ports"), ("receiver", "input_ports")):
            node, port = getattr(edge, end), getattr(edge, f"{end}_port")
            if node not in graph.nodes:
                raise LoadError(f"{end} is {node!r}, and there is no such node", where, listing(graph.nodes))
            if port not in getattr(graph.nodes[node], ports):
                known = listing(getattr(graph.nodes[node], ports))
                raise LoadError(f"{end}_port is {port!r}, and node {node!r} has no such port", where, known)
    for id in graph.conditions.node_specific if graph.conditions else ():
        if id not in graph.nodes:
            where = format_titles((f"condition of {id!r}", *at))
            raise LoadError(f"there is no node {id!r}", where, listing(graph.nodes))
