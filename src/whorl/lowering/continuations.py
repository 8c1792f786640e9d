"""What follows an If of two ranks goes on inside of both branches, where each value has the rank that it has there.

A program has no tensor whose rank only the run knows. So the nodes that read such a value, and all that depend on them,
are copied to the end of either branch; the If then gives what the region makes of it, which mostly has one rank again.
"""

from __future__ import annotations

from collections.abc import Sequence

from whorl.ir.graph import Node, Region, Value, walk
from whorl.ir.types import AnyShape, TensorType
from whorl.ir.walk import clone_node
from whorl.ops.control.flow import If

MOST_COPIED = 1024
"""Nodes that a program may have twice for that: each If of two ranks that depends on another doubles those behind."""


class Continuations:
    """Moves nodes into branches, as long as there is room for their copies.

    `origins` says of values what nodes they were made by; what an If gives then is made by that.
    """

    def __init__(self, origins: dict[Value, Node]) -> None:
        self.origins = origins
        self.room = MOST_COPIED

    def move(self, region: Region) -> bool:
        """Move what follows Ifs of two ranks in a region, and inside, into their branches; whether anything was."""
        moved = False
        position = 0
        while position < len(region.nodes):
            node = region.nodes[position]
            behind = _dependents(node, region.nodes[position + 1 :]) if _has_two_ranks(node, region) else []
            if behind and self._has_room(behind):
                self._move_behind(node, behind, region)
                moved = True
            elif node.regions:
                moved = any([self.move(inner) for inner in node.regions]) or moved
            position += 1
        return moved

    def _has_room(self, nodes: Sequence[Node]) -> bool:
        count = len(nodes) + sum(1 for node in nodes for region in node.regions for _ in walk(region))
        self.room -= count
        return self.room >= 0

    def _move_behind(self, branch: Node, behind: list[Node], region: Region) -> None:
        """Let the If give, of the nodes behind it and itself, what the region's results are."""
        made = [value for node in (branch, *behind) for value in node.outputs]
        read = [value for node in behind for value in node.inputs if value is not None]
        captured = [value for value in dict.fromkeys(read) if value not in set(made)]
        results = [value for value in dict.fromkeys(region.results) if value in set(made)]
        for inner in branch.regions:
            values = dict(zip(branch.outputs, inner.results, strict=True))
            values.update((v, inner.add_argument(v.name, v.type, v.known)) for v in captured)
            inner.nodes += [clone_node(node, values) for node in behind]
            inner.results = [values[value] for value in results]
        others = set(behind)
        region.nodes = [node for node in region.nodes if node not in others and node is not branch]
        origin = next((self.origins[value] for value in branch.outputs if value in self.origins), None)
        branch.inputs += captured
        branch.outputs = results
        for index, value in enumerate(results):
            value.owner, value.index = branch, index
            if origin is not None:
                self.origins[value] = origin
        region.nodes.append(branch)


def _has_two_ranks(node: Node, region: Region) -> bool:
    """Whether a node is an If with a result whose rank is not known, and which is no result of the region itself."""
    if not isinstance(node.op, If):
        return False
    unranked = [v for v in node.outputs if isinstance(v.type, TensorType) and isinstance(v.type.shape, AnyShape)]
    return bool(unranked) and not set(unranked).intersection(region.results)


def _dependents(node: Node, nodes: Sequence[Node]) -> list[Node]:
    """The nodes that read what a node gives, and those that depend on them."""
    made: set[Value | None] = set(node.outputs)
    result: list[Node] = []
    for each in nodes:
        if not made.isdisjoint(each.inputs):
            made.update(each.outputs)
            result.append(each)
    return result
