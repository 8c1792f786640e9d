"""Nodes that reading a net leaves without readers, such as constants that say an axis."""

from __future__ import annotations

from whorl.ir.graph import Module, Value


def drop_unread(module: Module) -> None:
    """Remove nodes whose outputs nobody reads, in every region; a loop or branch stays whole."""
    regions = [module.main, *(state.initial for state in module.states if state.initial is not None)]
    for region in regions:
        read: set[Value | None] = set(region.results)
        kept = []
        for node in reversed(region.nodes):
            if node.regions or not node.op.pure or any(value in read for value in node.outputs):
                read.update(node.inputs)
                regions += node.regions
                kept.append(node)
        region.nodes = kept[::-1]
