"""Dead code elimination: unused nodes, unused carried values and outputs of loops and branches, unused captures.

A region is walked backwards, so that one walk finds chains of dead nodes.
"""

from __future__ import annotations

from whorl.ir.graph import Module, Node, Region, Value
from whorl.ops.control.flow import first_captured
from whorl.passes.context import Context
from whorl.passes.control_flow.unread import drop_unread


def remove_dead(module: Module, context: Context) -> None:
    """Remove what no result depends on, in every region. A removal is not an edit: `limit` does not count it."""
    _clean(module.main, context)


def _clean(region: Region, context: Context) -> None:
    """Go backwards, so that one walk finds chains of dead nodes."""
    read: set[Value | None] = set(region.results)
    kept: list[Node] = []
    for node in reversed(region.nodes):
        if not any(value in read for value in node.outputs) and _is_removable(node):
            context.report.edits["remove_dead"] += 1
            continue
        if node.regions and drop_unread(node, read, _is_removable):
            context.report.edits["remove_dead"] += 1
        for inner in node.regions:
            _clean(inner, context)
        if node.regions:
            _drop_captured(node)
        read.update(node.inputs)
        kept.append(node)
    region.nodes = kept[::-1]


def _is_removable(node: Node) -> bool:
    """Whether nothing but its results tells that a node ran."""
    return node.op.pure and all(_is_removable(inner) for region in node.regions for inner in region.nodes)


def _drop_captured(node: Node) -> None:
    """Remove the captured operands that no region reads."""
    first = first_captured(node)
    read = [set(region.results).union(*(inner.inputs for inner in region.nodes)) for region in node.regions]
    count = len(node.inputs) - first
    starts = [len(region.arguments) - count for region in node.regions]
    kept = [
        k
        for k in range(count)
        if any(
            region.arguments[start + k] in values
            for region, start, values in zip(node.regions, starts, read, strict=True)
        )
    ]
    if len(kept) == count:
        return
    node.inputs[first:] = [node.inputs[first + k] for k in kept]
    for region, start in zip(node.regions, starts, strict=True):
        region.arguments[start:] = [region.arguments[start + k] for k in kept]
        for index, argument in enumerate(region.arguments):
            argument.index = index
