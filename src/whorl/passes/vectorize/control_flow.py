"""Goes over a module and computes every loop that allows it for all of its iterations at once."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.ir.build import Builder
from whorl.ir.graph import Module, Node, Value
from whorl.ir.rewrite import rewrite
from whorl.ops.control.flow import Loop
from whorl.passes.context import Context
from whorl.passes.locations import Chooser, choose_all, locations_of
from whorl.passes.vectorize.batched import CannotVectorize
from whorl.passes.vectorize.loops import vectorize_loop


def vectorize_control_flow(
    module: Module, context: Context, is_chosen: Chooser = choose_all, removed: dict[str, str] | None = None
) -> dict[str, str]:
    """Replace every chosen loop that has a form without iterations; outer ones go first, whose inner ones then have
    rows.

    Returns the location of each of the others, with the reason; adds those that go, with their form, to `removed`.
    """
    reasons: dict[Node, str] = {}
    locations = locations_of(module)

    def visit(node: Node, build: Builder) -> Sequence[Value | None] | None:
        if not isinstance(node.op, Loop) or not is_chosen(node):
            return None
        before = len(build.region.nodes)
        try:
            outputs, form = vectorize_loop(node, build, context.options.fast_math, context.options.linear)
        except CannotVectorize as reason:
            del build.region.nodes[before:]
            reasons[node] = str(reason)
            return None
        if not context.may_edit("vectorize"):
            del build.region.nodes[before:]
            return None
        if removed is not None:
            removed[locations.get(node, node.title)] = form
        return outputs

    edited = True
    while edited:
        reasons.clear()
        locations |= locations_of(module)
        edited = rewrite(module.main, context.inference, visit)
    locations |= locations_of(module)
    return {locations[node]: reason for node, reason in reasons.items() if node in locations}
