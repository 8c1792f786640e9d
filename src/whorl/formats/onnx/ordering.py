"""The order in which the nodes of a graph are read: the file's, save for nodes whose inputs come later."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from whorl.errors import LoadError, format_location
from whorl.formats.onnx.attributes import graphs_of
from whorl.formats.onnx.context import ReadContext, node_title
from whorl.formats.onnx.protos import GraphProto, NodeProto


class Order(Struct, frozen=True):
    """Nodes in an order in which each finds its inputs, and those that never do, with the names they lack."""

    nodes: list[NodeProto]
    stuck: list[tuple[NodeProto, set[str]]]


def reading_order(nodes: Sequence[NodeProto], known: Callable[[str], bool]) -> Order:
    """Every node as early as its inputs allow, the file's order among those that could be next.

    `known` says which names have a value before the first node. A name that is given anew by an earlier node of the
    file means that node's output.
    """
    maker: dict[str, int] = {}
    lacking: list[set[str]] = []
    waiting: dict[str, list[int]] = {}
    for k, node in enumerate(nodes):
        lacking.append({name for name in free_names(node) if name in maker or not known(name)})
        for name in lacking[k]:
            waiting.setdefault(name, []).append(k)
        for name in node.output:
            maker.setdefault(name, k)
    ready = [k for k, names in enumerate(lacking) if not names]
    ordered: list[NodeProto] = []
    while ready:
        node = nodes[heapq.heappop(ready)]
        ordered.append(node)
        for name in node.output:
            for k in waiting.pop(name, ()):
                lacking[k].discard(name)
                if not lacking[k]:
                    heapq.heappush(ready, k)
    return Order(ordered, [(node, names) for node, names in zip(nodes, lacking, strict=True) if names])


def stuck_error(stuck: Sequence[tuple[NodeProto, set[str]]], context: ReadContext) -> LoadError:
    """The reason why nodes cannot be ordered: a name without a producer, or a cycle."""
    maker = {name: k for k, (node, _) in enumerate(stuck) for name in node.output if name}
    for node, names in stuck:
        for name in sorted(names - maker.keys()):
            return _missing(name, node, context.regions)
    path: dict[int, None] = {}
    at = 0
    while at not in path:
        path[at] = None
        at = maker[min(stuck[at][1])]
    cycle = [*list(path)[list(path).index(at) :], at]
    shown = " reads ".join(node_title(stuck[k][0]) for k in cycle)
    return LoadError(f"nodes form a cycle: {shown}", context.location)


def _missing(name: str, node: NodeProto, regions: tuple[str, ...]) -> LoadError:
    """The error at the innermost node or graph that reads a name without a value."""
    for label, graph in _graphs(node):
        if name in _free_in(graph):
            inside = (f"{label} of {node_title(node)}", *regions)
            reader = next((inner for inner in graph.node if name in free_names(inner)), None)
            if reader is None:
                return LoadError(f"output {name!r} is not produced by any node", format_location(*inside))
            return _missing(name, reader, inside)
    where = format_location(node_title(node), *regions)
    return LoadError(f"reads {name!r}, which nothing produces", where, "add the missing input or node")


def _graphs(node: NodeProto) -> Iterator[tuple[str, GraphProto]]:
    """The graphs inside a node, with the names of their attributes."""
    for attribute in node.attribute:
        yield from ((attribute.name, graph) for graph in graphs_of(attribute))


def free_names(node: NodeProto) -> set[str]:
    """The names a node reads from its own graph or from around it, inside its subgraphs too."""
    names = {name for name in node.input if name}
    return names.union(*(_free_in(graph) for _, graph in _graphs(node))) if node.attribute else names


def _free_in(graph: GraphProto) -> set[str]:
    """Names used in a graph before the graph itself gives them a meaning."""
    own = {info.name for info in graph.input}
    own |= {t.name for t in graph.initializer} | {s.values.name for s in graph.sparse_initializer}
    made = {name for node in graph.node for name in node.output}
    free: set[str] = set()
    for node in graph.node:
        free |= free_names(node) - own
        own |= set(node.output)
    free |= {info.name for info in graph.output} - own
    return {name for name in free if name} - made
