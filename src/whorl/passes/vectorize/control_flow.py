"""Goes over a module and computes every loop that allows it for all of its iterations at once."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.ir.build import Builder
from whorl.ir.graph import Module, Node, Value
from whorl.ir.rewrite import rewrite
from whorl.ops.control.flow import Loop
from whorl.passes.context import Context
from whorl.passes.locations import Chooser, choose_all, locations_of
from whorl.passes.unswitch import unswitch
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
            outputs, form = _vectorize(node, build, context)
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


def _vectorize(node: Node, build: Builder, context: Context) -> tuple[Sequence[Value | None], str]:
    """The outputs of a loop without the loop, and what it becomes: one form, or, if a condition that is the same in all
    iterations decides a branch of the body, a form for each. Errors: CannotVectorize."""
    before = len(build.region.nodes)
    try:
        return vectorize_loop(node, build, context.options.fast_math, context.options.linear)
    except CannotVectorize as reason:
        del build.region.nodes[before:]
        outputs = unswitch(node, build, context)
        if outputs is None:
            raise reason from None
    forms: list[str] = []
    for branch in build.region.nodes[-1].regions:
        (loop,) = (inner for inner in branch.nodes if isinstance(inner.op, Loop))
        branch.nodes.remove(loop)
        results, form = _vectorize(loop, Builder(branch, context.inference), context)
        branch.results = [value for value in results if value is not None]
        forms.append(form)
    _infer(build.region.nodes[-1], context)
    return outputs, f"one form a branch: {'; '.join(forms)}"


def _infer(node: Node, context: Context) -> None:
    context.inference.visited.clear()
    context.inference.node(node)
