"""What an MDF file says: models, graphs, nodes and their parts, each with the fields that whorl does not know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

# Values in a document are what JSON can hold (and complex structures of it), or NumPy arrays for numeric lists that
# came from an .npz file. Dicts keep the order of the file, which has a meaning.

Datum: TypeAlias = Any
"""A value while a graph runs: a number, truth value, text, list, object or array. Python's and NumPy's operators decide
at run time what it can do."""
STORED_FROM = 64
"""The number of elements from which an array goes into the .npz file, where there is one."""


class LiteralText(str):
    """A text of a file that means itself and is no expression, as attributes of ONNX that are texts."""


@dataclass(slots=True)
class InputPort:
    """A port that edges lead into. `default_value` marks where a cycle is cut; `reduce` joins several edges."""

    id: str
    shape: tuple[int, ...] | None = None
    type: str | None = None
    default_value: object = None
    reduce: str = "overwrite"
    extra: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class OutputPort:
    """A port that edges lead out of; `value` is an expression over the node's names."""

    id: str
    value: object = None
    shape: tuple[int, ...] | None = None
    type: str | None = None
    extra: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class Function:
    """A stateless step of a node: a named function with arguments, or an expression in `value`."""

    id: str
    function: str | None = None
    args: dict[str, object] = field(default_factory=dict)
    value: object = None
    extra: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class ParameterCondition:
    """After the update, where `test` holds the parameter becomes `value`."""

    id: str
    test: object = None
    value: object = None
    extra: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class Parameter:
    """A named value of a node: fixed, computed, or kept from step to step."""

    id: str
    value: object = None
    default_initial_value: object = None
    time_derivative: str | None = None
    function: str | None = None
    args: dict[str, object] = field(default_factory=dict)
    conditions: list[ParameterCondition] = field(default_factory=list)
    extra: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class Node:
    """The unit of scheduling."""

    id: str
    input_ports: dict[str, InputPort] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    parameters: dict[str, Parameter] = field(default_factory=dict)
    output_ports: dict[str, OutputPort] = field(default_factory=dict)
    metadata: dict[str, object] | None = None
    extra: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class Edge:
    """A connection of an output port to an input port; `parameters["weight"]` scales what flows."""

    id: str
    sender: str
    sender_port: str
    receiver: str
    receiver_port: str
    parameters: dict[str, object] = field(default_factory=dict)
    extra: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class Condition:
    """When a node runs, or when a run ends: a type and its arguments, which may hold conditions."""

    type: str
    kwargs: dict[str, object] = field(default_factory=dict)
    extra: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class ConditionSet:
    """The conditions of a graph: of its nodes, and of the end of each time scale."""

    node_specific: dict[str, Condition] = field(default_factory=dict)
    termination: dict[str, Condition] = field(default_factory=dict)
    extra: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class Graph:
    """Nodes and edges. `parameters` of a graph are kept and never read, as the reference engine does."""

    id: str
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[str, Edge] = field(default_factory=dict)
    parameters: dict[str, object] = field(default_factory=dict)
    conditions: ConditionSet | None = None
    metadata: dict[str, object] | None = None
    extra: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class Model:
    """A file: its graphs, of which the first one runs."""

    id: str
    graphs: dict[str, Graph] = field(default_factory=dict)
    format: str = "ModECI MDF v0.4"
    generating_application: str = ""
    onnx_opset_version: str | None = None
    metadata: dict[str, object] | None = None
    extra: dict[str, object] = field(default_factory=dict)
