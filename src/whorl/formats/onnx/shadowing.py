"""Names of an inner graph that hide a name of a graph around it."""

from __future__ import annotations

from collections.abc import Iterator

from whorl.errors import format_location
from whorl.formats.onnx.context import node_title
from whorl.formats.onnx.protos import AttributeProto, GraphProto


def shadowed_names(graph: GraphProto) -> Iterator[tuple[str, str]]:
    """(name, place of the inner graph) for each name that an inner graph gives anew."""
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
        holders = [a for a in node.attribute if a.type == AttributeProto.GRAPH or a.graphs]
        hidden_from = visible - set(node.output) if holders else visible
        for attribute in holders:
            graphs = [attribute.g] if attribute.type == AttributeProto.GRAPH else attribute.graphs
            for inner in graphs:
                yield from _shadowed(inner, hidden_from, (f"{attribute.name} of {node_title(node)}", *regions))
