"""Composite ops decomposed to simpler nodes, loops among them, in a region whose shapes are known."""

from __future__ import annotations

from whorl.ir.build import Builder
from whorl.ir.graph import Node, Region, Value
from whorl.ir.infer import Inference


def decompose(region: Region) -> None:
    """Replace every node that can say itself by simpler ones, in the regions inside too."""
    inference = Inference()
    inference.depth = 1
    replaced: dict[Value, Value] = {}
    nodes, region.nodes = region.nodes, []
    build = Builder(region, inference)
    for node in nodes:
        node.inputs = [replaced.get(v, v) if v is not None else None for v in node.inputs]
        for inner in node.regions:
            decompose(inner)
        count = len(region.nodes)
        outputs = node.op.decompose(node.inputs, build)
        if outputs is None:
            region.nodes[count:] = [node]
            continue
        _name(region.nodes[count:], node)
        for old, new in zip(node.outputs, outputs, strict=False):
            new.name = old.name
            replaced[old] = new
    region.results = [replaced.get(v, v) for v in region.results]


def _name(nodes: list[Node], origin: Node) -> None:
    for node in nodes:
        node.name = node.name or origin.name
