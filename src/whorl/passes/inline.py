"""The nodes of a region put in the place of the node that holds it."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.ir.build import Builder
from whorl.ir.graph import Region, Value
from whorl.ir.walk import clone_node


def inline(region: Region, arguments: Sequence[Value], build: Builder) -> list[Value]:
    """Add copies of a region's nodes, with values for its arguments; returns the values of its results."""
    values = dict(zip(region.arguments, arguments, strict=True))
    for node in region.nodes:
        copy = clone_node(node, values)
        build.inference.visited.clear()
        build.inference.node(copy)
        build.region.nodes.append(copy)
    return [values[value] for value in region.results]
