"""Names of an inner graph that hide a name of a graph around it."""

from __future__ import annotations

from collections.abc import Iterator

from whorl.errors import format_location
from whorl.formats.onnx.attributes import graphs_of
from whorl.formats.onnx.context import node_title
from whorl.formats.onnx.protos import GraphProto


def shadowed_names(graph: GraphProto) -> Iterator[tuple[str, str]]:
    """(name, location of the inner graph) for each name that an inner graph gives anew."""
    yield from _shadowed(graph, set(), ())


def _shadowed(graph: GraphProto, outer: set[str], regions: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    own = [info.name for info in graph.input]
    own += [t.name for t in graph.initializer] + [s.values.name for s in graph.sparse_initializer]
    own += [name for node in graph.node for name in node.output if name]
    for name in dict.fromkeys(own):
        if name in outer:
            yield name, format_location(regions[0], *regions[1:])
    visible = outer | set(own)
    for node in graph.node:
        inside = [(attribute.name, graph) for attribute in node.attribute for graph in graphs_of(attribute)]
        hidden_from = visible - set(node.output) if inside else visible
        for name, graph in inside:
            yield from _shadowed(graph, hidden_from, (f"{name} of {node_title(node)}", *regions))
