"""Loops in files of older exporters: the body's inputs and outputs, and bodies that stand among the nodes."""

from __future__ import annotations

from collections.abc import Collection

from whorl.errors import LoadError
from whorl.formats.mdf.onnx.constants import is_text
from whorl.formats.mdf.onnx.operators import spread_arguments, text_attributes
from whorl.mdf.bodies import (
    INFERRED,
    INPUTS,
    OUTPUTS,
    body_graph,
    free_inputs,
    is_truth,
    loop_signature,
    outer_names,
    producer,
    scan_signature,
    written_signature,
)
from whorl.mdf.model import Edge, Graph, InputPort, LiteralText, Node, OutputPort, Parameter

PREFIX = "LoopSubgraph"
"""How an exporter begins the id of a body that it puts among the nodes; the id of the loop follows."""
_RESULT = "loop_result"


def note_signatures(node: Node) -> None:
    """Keep with each body of a node what it takes and gives, where that can be seen; the file stays as it is."""
    for parameter in node.parameters.values():
        name = (parameter.function or "").removeprefix("onnx::")
        source = node.parameters.get("body")
        if name not in ("Loop", "Scan") or source is None or not isinstance(source.value, dict):
            continue
        count = sum(port.value == parameter.id for port in node.output_ports.values()) or None
        inputs = [
            key
            for key in spread_arguments(parameter.function, parameter.args)
            if key not in ("M", "cond", "num_scan_inputs")
        ]
        known = {*node.input_ports, *node.parameters, *node.functions}
        graph = body_graph(source.value, "body")
        try:
            if written_signature(graph) is None:
                is_loop = name == "Loop"
                signature = loop_signature(graph, len(inputs), known, count) if is_loop else None
                graph.extra[INFERRED] = signature or scan_signature(graph, len(inputs), known)
        except LoadError as error:
            graph.extra[INFERRED] = error


def note_texts(node: Node) -> None:
    """Mark attributes of ONNX that are texts, so that they are not read as expressions."""
    known = {*node.input_ports, *node.parameters, *node.functions}
    for holder in (*node.parameters.values(), *node.functions.values()):
        for key in text_attributes(holder.function or ""):
            source = node.parameters.get(key)
            if source is not None and isinstance(source.value, str) and _is_literal(source.value, known):
                source.value = LiteralText(source.value)
            argument = holder.args.get(key)
            if isinstance(argument, str) and _is_literal(argument, known):
                holder.args[key] = LiteralText(argument)


def _is_literal(text: str, known: Collection[str]) -> bool:
    return text not in known and not is_text(text)


def mended_loops(nodes: dict[str, Node], edges: dict[str, Edge]) -> dict[str, Node]:
    """The nodes with a Loop for every body that stands among them, and edges added from its results.

    Such a file has edges into the loop, and names its results as numbers that nothing gives. Errors: LoadError.
    """
    mended: dict[str, Node] = {}
    for id, node in nodes.items():
        body = node.parameters.get("body")
        loop = id.removeprefix(PREFIX)
        if body is None or not id.startswith(PREFIX) or loop in nodes or not isinstance(body.value, dict):
            mended[id] = node
            continue
        mended[loop] = _loop(loop, body_graph(body.value, "body"), nodes, edges)
    return mended


def _loop(id: str, body: Graph, nodes: dict[str, Node], edges: dict[str, Edge]) -> Node:
    around = Graph(
        "", {key: node for key, node in nodes.items() if "body" not in node.parameters}, _inside(nodes, edges)
    )
    free = free_inputs(around, ())
    fed = {edge.receiver_port: edge for edge in edges.values() if edge.receiver == id}
    condition = next((port for port, edge in fed.items() if is_truth(around, edge.sender_port)), "")
    trip = next((port for port, edge in fed.items() if _is_whole(around, edge)), "")
    states_in = [port for port in fed if port not in (condition, trip)]
    results = [port for port in free if port.lstrip("_").isdigit() and producer(around, port) is None]
    states = len(results)
    captured = [name for name in outer_names(body) if not name.lstrip("_").isdigit()]
    spare = [name for name in free if name not in results and name not in captured]
    states_in += spare[: states - len(states_in)]
    if len(states_in) < states:
        raise LoadError(f"loop {id!r} has {len(states_in)} initial values, expected {states}", f"graph {body.id!r}")
    signature = loop_signature(body, states, captured)
    body.metadata = {**(body.metadata or {}), INPUTS: signature.inputs, OUTPUTS: signature.outputs}
    for receiver in around.nodes.values():
        for port in receiver.input_ports:
            if port in results:
                name = f"{id}.{port}_{receiver.id}"
                edges[name] = Edge(name, id, port, receiver.id, port)
    args: dict[str, object] = {
        "M": trip,
        "cond": condition,
        **{f"state_{k}": name for k, name in enumerate(states_in[:states])},
    }
    ports = dict.fromkeys([trip, condition, *states_in[:states], *captured])
    return Node(
        id,
        {port: InputPort(port) for port in ports if port},
        {},
        {"body": Parameter("body", {body.id: body}), _RESULT: Parameter(_RESULT, function="onnx::Loop", args=args)},
        {port: OutputPort(port, f"{_RESULT}[{k}]" if states > 1 else _RESULT) for k, port in enumerate(results)},
    )


def _inside(nodes: dict[str, Node], edges: dict[str, Edge]) -> dict[str, Edge]:
    return {key: edge for key, edge in edges.items() if edge.sender in nodes and edge.receiver in nodes}


def _is_whole(graph: Graph, edge: Edge) -> bool:
    """Whether what comes over an edge is a constant whole number."""
    node = graph.nodes.get(edge.sender)
    values: list[object] = [parameter.value for parameter in node.parameters.values()] if node else []
    return any(type(value) is int for value in values) and "to" not in (node.parameters if node else ())
