"""Where nodes with branches or a body stand, as messages name them."""

from __future__ import annotations

from whorl.errors import format_location
from whorl.ir.graph import Module, Node, Region
from whorl.ir.infer import region_title


def locations_of(module: Module) -> dict[Node, str]:
    """The location of every node with branches or a body."""
    locations: dict[Node, str] = {}
    stack: list[tuple[Region, tuple[str, ...]]] = [(module.main, ())]
    while stack:
        region, around = stack.pop()
        for node in region.nodes:
            if node.regions:
                locations[node] = format_location(node.title, *around)
                stack += [(inner, (region_title(node, k), *around)) for k, inner in enumerate(node.regions)]
    return locations
