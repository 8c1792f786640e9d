"""Loop-invariant code motion through all loops of a module in one walk, inner loops first: what a session does at load.

Before a loop is looked at, what it carries but never changes is captured, and small constants are copied into its body,
where they meet the nodes that read them. Afterwards what was hoisted from an inner loop may leave the outer one too.
"""

from __future__ import annotations

from whorl.ir.build import Builder
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ops.control.flow import Loop
from whorl.passes.context import Context
from whorl.passes.licm import hoist_invariants
from whorl.passes.push_constants import push_constants
from whorl.passes.simplify_loop import capture_unchanged_states, unchanged_states


def lift_invariants(module: Module, context: Context) -> None:
    """Hoist invariants out of every Loop. Branches keep their nodes, since a run may not reach them."""
    if any(node.regions for node in module.main.nodes):
        _lift(module.main, context)


def _lift(region: Region, context: Context) -> None:
    """Rewrite a region, what is inside its nodes first."""
    replaced: dict[Value, Value] = {}
    nodes, region.nodes = region.nodes, []
    for node in nodes:
        if replaced:
            node.inputs = [replaced.get(value, value) if value is not None else None for value in node.inputs]
        region.nodes.append(_lifted(node, region, context, replaced) if node.regions else node)
    region.results = [replaced.get(value, value) for value in region.results]


def _lifted(node: Node, before: Region, context: Context, replaced: dict[Value, Value]) -> Node:
    """What takes the place of a node with regions; nodes that go before it are added, and new values noted."""
    node = _with_fewer_states(node, before, context, replaced)
    push_constants(node, context)
    for inner in node.regions:
        _lift(inner, context)
    if isinstance(node.op, Loop):
        hoist_invariants(node, before, context)
    return node


def _with_fewer_states(node: Node, before: Region, context: Context, replaced: dict[Value, Value]) -> Node:
    """A loop that captures what it carried but never changed, if it has other results; any other node as it is."""
    if not isinstance(node.op, Loop) or not 0 < len(unchanged_states(node)) < len(node.outputs):
        return node
    outputs = capture_unchanged_states(node, Builder(before, context.inference), context)
    if outputs is None:
        return node
    replaced.update((old, new) for old, new in zip(node.outputs, outputs, strict=True) if new is not None)
    return before.nodes.pop()
