"""A graph that says what its ONNX model took and gave, as that model: the same inputs and outputs, and no time."""

from __future__ import annotations

from whorl.errors import LoadError
from whorl.formats.mdf.onnx.bodies import GraphNodes, GraphScope
from whorl.formats.mdf.onnx.importer import NAMES, TYPES
from whorl.formats.mdf.onnx.types import type_of_data
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference
from whorl.mdf.bodies import Signature, written_signature
from whorl.mdf.compile.tracer import is_stateful
from whorl.mdf.model import Graph


def onnx_module(graph: Graph) -> Module | None:
    """The model that a graph was written from; None where it says no types of its inputs, or has got a memory since.

    Errors: LoadError.
    """
    signature, types = written_signature(graph), _entries(graph, TYPES)
    if signature is None or has_memory(graph) or not types.keys() >= set(signature.inputs):
        return None
    return _module(graph, signature, types)


def has_memory(graph: Graph) -> bool:
    """Whether an evaluation may differ from the one before."""
    parameters = [parameter for node in graph.nodes.values() for parameter in node.parameters.values()]
    return graph.conditions is not None or any(p.conditions or is_stateful(p) for p in parameters)


def _module(graph: Graph, signature: Signature, types: dict[str, object]) -> Module:
    names, scope = _entries(graph, NAMES), GraphScope(Region("main"), Inference())
    for id in signature.inputs:
        type = type_of_data(types[id], f"input {id!r} of graph {graph.id!r}")
        argument = scope.region.add_argument(str(names.get(id, id)), type)
        scope.inference.set_type(argument, type)
        scope.values[id] = argument
    nodes = GraphNodes(graph, scope, "declared")
    scope.own = nodes.port
    # From the first node on, or a long chain of them would need as deep a recursion.
    for node in graph.nodes.values():
        for port in node.output_ports:
            nodes.port(port)
    outputs = [str(names.get(id, id)) for id in signature.outputs]
    # An output that is called like an input is that input; a node between them would define the name again.
    inputs = {argument.name: argument for argument in scope.region.arguments}
    values = [inputs.get(name) or nodes.output(id) for name, id in zip(outputs, signature.outputs, strict=True)]
    scope.region.results = values
    module = Module(scope.region, outputs)
    for name, id in zip(outputs, signature.outputs, strict=True):
        if id in types:
            module.declared[name] = type_of_data(types[id], f"output {id!r} of graph {graph.id!r}")
    module.metadata = {"graph_name": graph.id, "producer_name": "whorl"}
    return module


def _entries(graph: Graph, key: str) -> dict[str, object]:
    """An object in the metadata. Errors: LoadError."""
    entries = (graph.metadata or {}).get(key, {})
    if not isinstance(entries, dict):
        raise LoadError(f"metadata {key} is no object", f"graph {graph.id!r}", "write an entry for each id")
    return entries
