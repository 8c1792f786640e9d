"""What a graph in a parameter takes and gives as a body: as its metadata says it, or as its edges let it be seen.

Metadata names inputs and outputs in order (`onnx_inputs`, `onnx_outputs`). Ports that nothing feeds are formal inputs,
or are captured by name. Where older files have no metadata, the order is inferred if there is no doubt, else refused.
"""

from __future__ import annotations

import re
from collections.abc import Container

from msgspec import Struct

from whorl.errors import LoadError
from whorl.mdf.model import Graph, Node

INPUTS, OUTPUTS = "onnx_inputs", "onnx_outputs"
"""The keys in a graph's metadata with the ids of its formal inputs and outputs in their order."""
INFERRED = "inferred signature"
"""The key in `extra` of a graph under which its signature is kept while it is not written."""
_TRUTHS = {"Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal", "And", "Or", "Not", "Xor", "IsNaN", "IsInf"}
_BOOL_CODE = 9
_NUMBERED = re.compile(r"_?(\d+)")
_FIX = f"name them in the graph's metadata: {INPUTS} and {OUTPUTS}, in order"


class Signature(Struct, frozen=True):
    """The ids of formal inputs and outputs in order; an input that nothing reads is an empty text."""

    inputs: list[str]
    outputs: list[str]


def body_graph(value: object, what: str) -> Graph:
    """The graph that a parameter holds: itself, or the only entry of an object, however deep."""
    while isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    if not isinstance(value, Graph):
        raise LoadError(
            f"{what} is {type(value).__name__}, expected a graph", fix="write it as {graph id: {nodes, edges}}"
        )
    return value


def written_signature(graph: Graph) -> Signature | None:
    """What the metadata says, or what was inferred before; None where neither says anything."""
    inferred = graph.extra.get(INFERRED)
    if isinstance(inferred, LoadError):
        raise inferred
    if isinstance(inferred, Signature):
        return inferred
    metadata = graph.metadata or {}
    if INPUTS not in metadata and OUTPUTS not in metadata:
        return None
    lists = []
    for key in (INPUTS, OUTPUTS):
        names = metadata.get(key, [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise LoadError(f"metadata {key} is no list of texts", f"graph {graph.id!r}")
        lists.append(names)
    return Signature(*lists)


def loop_signature(graph: Graph, states: int, known: Container[str], outputs: int | None = None) -> Signature:
    """The signature of the body of a Loop: (iteration, condition, states) to (condition, states, collected).

    `known` are ids of the graphs around it, which are captured and no inputs; `outputs` is how many results the loop
    has. What cannot be seen for certain is an error. Errors: LoadError.
    """
    written = written_signature(graph)
    if written is not None:
        return written
    iteration, go_on_in, states_in = _loop_inputs(graph, states, known)
    leaves = leaf_ports(graph)
    go_on = next((port for port in leaves if is_truth(graph, port)), None)
    if go_on is None and go_on_in:
        go_on = next((port for port in leaves if _sources(graph, port) == {go_on_in}), None)
    if go_on is None:
        raise LoadError("none of its outputs is a truth value, the condition", f"graph {graph.id!r}", _FIX)
    rest = [port for port in leaves if port != go_on]
    in_order = len(rest) == outputs or (states == 1 and outputs is None and not _hidden(graph, go_on))
    results = rest[:states] if in_order else [_next_of(graph, port, rest) for port in states_in]
    collected = [port for port in rest if port not in results]
    if len(results) < states or (outputs is not None and len(results) + len(collected) != outputs):
        shown = ", ".join(map(repr, [*results, *collected])) or "none"
        raise LoadError(f"its outputs seem to be {shown}, expected {outputs or states}", f"graph {graph.id!r}", _FIX)
    return Signature([iteration, go_on_in, *states_in], [go_on, *results, *collected])


def scan_signature(graph: Graph, inputs: int, known: Container[str]) -> Signature:
    """The signature of the body of a Scan: (states, slices) to (states, collected)."""
    written = written_signature(graph)
    if written is not None:
        return written
    free = free_inputs(graph, known)
    if len(free) != inputs or not _is_ordered(free):
        shown = ", ".join(map(repr, free)) or "nothing"
        raise LoadError(f"it reads {shown}, and the order of its {inputs} inputs is lost", f"graph {graph.id!r}", _FIX)
    return Signature(free, leaf_ports(graph))


def branch_signature(graph: Graph) -> Signature:
    """The signature of a branch of an If, which has no inputs."""
    written = written_signature(graph)
    return written if written is not None else Signature([], leaf_ports(graph))


def free_inputs(graph: Graph, known: Container[str]) -> list[str]:
    """Ids of input ports that no edge leads into and that mean nothing outside, each once.

    Ids that are numbers, as exporters make them, are in the order of the numbers.
    """
    fed = {(edge.receiver, edge.receiver_port) for edge in graph.edges.values()}
    free = dict.fromkeys(
        port.id
        for node in graph.nodes.values()
        for port in node.input_ports.values()
        if (node.id, port.id) not in fed and port.default_value is None and port.id not in known
    )
    return numbered_order(list(free))


def outer_names(graph: Graph) -> list[str]:
    """Ids that a graph, or one inside it, reads from outside: formal inputs that metadata names are none of them."""
    written = written_signature(graph)
    own = set(written.inputs) if written else set()
    names = free_inputs(graph, own)
    made = {port for node in graph.nodes.values() for port in node.output_ports}
    outputs = written.outputs if written else []
    names += [name for name in outputs if name not in made | own]
    for node in graph.nodes.values():
        for parameter in node.parameters.values():
            for inner in _graphs_in(parameter.value):
                names += [name for name in outer_names(inner) if name not in own | made]
    return list(dict.fromkeys(names))


def _graphs_in(value: object) -> list[Graph]:
    if isinstance(value, Graph):
        return [value]
    return [graph for entry in value.values() for graph in _graphs_in(entry)] if isinstance(value, dict) else []


def numbered_order(names: list[str]) -> list[str]:
    """Names in the order of the numbers that they are, or as they come where one is none."""
    matches = [_NUMBERED.fullmatch(name) for name in names]
    if not all(matches):
        return names
    return sorted(names, key=lambda name: int(name.lstrip("_")))


def leaf_ports(graph: Graph) -> list[str]:
    """Ids of output ports that no edge leaves."""
    left = {(edge.sender, edge.sender_port) for edge in graph.edges.values()}
    return [
        port.id
        for node in graph.nodes.values()
        for port in node.output_ports.values()
        if (node.id, port.id) not in left
    ]


def _is_ordered(names: list[str]) -> bool:
    """Whether one name, or numbers as names, leave no doubt about an order."""
    return len(names) < 2 or all(map(_NUMBERED.fullmatch, names))


def _loop_inputs(graph: Graph, states: int, known: Container[str]) -> tuple[str, str, list[str]]:
    """The ids of iteration and condition, empty where nothing reads them, and of the states."""
    free = free_inputs(graph, known)
    iteration = go_on = ""
    if len(free) > states:
        iteration = next((name for name in free if _is_named(name, "iter", "trip") or name == "i"), "")
        passed_on = [name for name in free if _is_only_passed_on(graph, name)]
        named = [name for name in free if _is_named(name, "cond", "keep", "go_on")]
        go_on = named[0] if named else passed_on[0] if len(passed_on) == 1 else ""
    rest = [name for name in free if name not in (iteration, go_on)]
    if len(rest) != states or not _is_ordered(rest):
        shown = ", ".join(map(repr, free)) or "nothing"
        raise LoadError(f"it reads {shown}, and which are its {states} states is lost", f"graph {graph.id!r}", _FIX)
    return iteration, go_on, rest


def _is_only_passed_on(graph: Graph, name: str) -> bool:
    """Whether all that reads an input is Identity."""
    readers = [node for node in graph.nodes.values() if name in node.input_ports]
    functions = [p.function for node in readers for p in node.parameters.values() if p.function]
    return bool(functions) and all(function == "onnx::Identity" for function in functions)


def _hidden(graph: Graph, go_on: str) -> list[str]:
    """Outputs that only the condition is made of; any of them may be a result of the body too."""
    node = producer(graph, go_on)
    feeding = [edge.sender_port for edge in graph.edges.values() if node and edge.receiver == node.id]
    return feeding


def _is_named(name: str, *hints: str) -> bool:
    return any(hint in name.lower() for hint in hints)


def producer(graph: Graph, port: str) -> Node | None:
    """The node that has an output port of this id."""
    return next((node for node in graph.nodes.values() if port in node.output_ports), None)


def is_truth(graph: Graph, port: str) -> bool:
    """Whether an output port surely gives a truth value."""
    node = producer(graph, port)
    if node is None:
        return False
    value = node.output_ports[port].value
    parameter = node.parameters.get(value) if isinstance(value, str) else None
    if parameter is None or not parameter.function:
        return parameter is not None and isinstance(parameter.value, bool)
    name = parameter.function.removeprefix("onnx::")
    if name == "Cast":
        code = node.parameters.get("to")
        return (code.value if code else parameter.args.get("to")) == _BOOL_CODE
    if name in ("Identity", "Constant"):
        source = parameter.args.get("input", "value")
        source_parameter = node.parameters.get(source) if isinstance(source, str) else None
        if source_parameter is not None:
            return isinstance(source_parameter.value, bool)
        feeds = [edge for edge in graph.edges.values() if edge.receiver == node.id and edge.receiver_port == source]
        if feeds:
            return is_truth(graph, feeds[0].sender_port)
        return isinstance(source, str) and _is_named(source, "cond", "keep")
    return name in _TRUTHS


def _next_of(graph: Graph, state: str, leaves: list[str]) -> str:
    """The output that is a state's next value.

    That is `b_out` for `b_in`; else the only leaf that hangs on it, or what the only node reading it gives.
    """
    twin = state.replace("_in", "_out")
    if twin != state and producer(graph, twin) is not None:
        return twin
    hanging = [port for port in leaves if state in _sources(graph, port)]
    if len(hanging) == 1:
        return hanging[0]
    readers = [node for node in graph.nodes.values() if state in node.input_ports]
    if len(readers) == 1 and len(readers[0].output_ports) == 1:
        return next(iter(readers[0].output_ports))
    raise LoadError(f"it is not clear which output is the next {state!r}", f"graph {graph.id!r}", _FIX)


def _sources(graph: Graph, port: str) -> set[str]:
    """The ids of all input ports that an output hangs on."""
    names: set[str] = set()
    nodes = [producer(graph, port)]
    visited: set[str] = set()
    while nodes:
        node = nodes.pop()
        if node is None or node.id in visited:
            continue
        visited.add(node.id)
        names |= node.input_ports.keys()
        nodes += [graph.nodes[edge.sender] for edge in graph.edges.values() if edge.receiver == node.id]
    return names


def port_index(node: Node, port: str) -> int:
    """Which part of a result with several a port stands for: its place among the ports of the same value."""
    value = node.output_ports[port].value
    return [other.id for other in node.output_ports.values() if other.value == value].index(port)


def result_index(node: Node, port: str) -> int | None:
    """Which result a port stands for that only names a function of ONNX; None for any other port."""
    value = node.output_ports[port].value
    named = (node.parameters.get(value) or node.functions.get(value)) if isinstance(value, str) else None
    is_onnx = named is not None and (named.function or "").startswith(("onnx::", "onnx_ops."))
    return port_index(node, port) if is_onnx else None
