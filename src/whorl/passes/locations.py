"""Where nodes with branches or a body stand, as messages name them, and which of them a pass is to look at."""

from __future__ import annotations

from collections.abc import Callable

from whorl.errors import format_location
from whorl.ir.graph import Module, Node, Region
from whorl.ir.infer import region_title

Chooser = Callable[[Node], bool]
"""Whether a pass is to look at a node."""


def choose_all(_: Node) -> bool:
    return True


def names_of(node: Node) -> set[str]:
    """The name of a node, and those of its outputs."""
    return {node.name, *(value.name for value in node.outputs)} - {""}


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
