"""Goes over a module and computes every loop that allows it for all of its iterations at once."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.ir.build import Builder
from whorl.ir.graph import Module, Node, Value
from whorl.ir.rewrite import rewrite
from whorl.ops.control.flow import Loop
from whorl.passes.context import Context
from whorl.passes.locations import locations_of
from whorl.passes.vectorize.batched import CannotVectorize
from whorl.passes.vectorize.loops import vectorize_loop


def vectorize_control_flow(module: Module, context: Context) -> dict[str, str]:
    """Replace every loop that has a form without iterations; outer ones go first, whose inner ones then have rows.

    Returns the location of each of the others, with the reason.
    """
    reasons: dict[Node, str] = {}

    def visit(node: Node, build: Builder) -> Sequence[Value | None] | None:
        if not isinstance(node.op, Loop):
            return None
        before = len(build.region.nodes)
        try:
            outputs = vectorize_loop(node, build, context.options.fast_math)
        except CannotVectorize as reason:
            del build.region.nodes[before:]
            reasons[node] = str(reason)
            return None
        if not context.may_edit("vectorize"):
            del build.region.nodes[before:]
            return None
        return outputs

    edited = True
    while edited:
        reasons.clear()
        edited = rewrite(module.main, context.inference, visit)
    locations = locations_of(module)
    return {locations[node]: reason for node, reason in reasons.items() if node in locations}
