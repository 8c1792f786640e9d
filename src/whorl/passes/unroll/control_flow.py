"""Unrolls every loop and if-converts every branch of a module, the innermost first.

The module should be optimised before, so that trip counts and conditions that follow from constants are constants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whorl.ir.build import Builder
from whorl.ir.graph import Module, Node, Value
from whorl.ir.rewrite import rewrite
from whorl.ops.control.flow import If, Loop
from whorl.ops.core.base import known_ints
from whorl.passes.context import Context
from whorl.passes.locations import Chooser, choose_all, locations_of
from whorl.passes.rules.pattern import is_constant
from whorl.passes.simplify_loop import iterations
from whorl.passes.unroll.branches import if_convert
from whorl.passes.unroll.legality import CannotUnroll
from whorl.passes.unroll.loops import NEVER, unroll_loop
from whorl.passes.unroll.remedy import Remedy, TripCountSources

MAX_NODES = 1 << 18
"""Nodes that a program without loops may have."""


def unroll_control_flow(
    module: Module,
    context: Context,
    max_iterations: int,
    is_chosen: Chooser = choose_all,
    removed: dict[str, str] | None = None,
) -> dict[str, CannotUnroll]:
    """Unroll every chosen Loop of no more than `max_iterations` and if-convert every If; inner ones go first.

    Returns the location of each one that remains, with the reason; adds those that go, with their form, to `removed`.
    """
    remaining: dict[str, CannotUnroll] = {}
    forms = {} if removed is None else removed
    edited = True
    while edited:
        remaining.clear()
        edited = _unroll_level(module, context, max_iterations, is_chosen, remaining, forms)
        if not edited and remaining:
            edited = _unroll_level(module, context, max_iterations, is_chosen, remaining, forms, is_outer=True)
    return remaining


def remedy_of(module: Module, remaining: Mapping[str, CannotUnroll]) -> Remedy:
    """What a caller can fix or allow so that what remains for its trip count or its lengths can be unrolled."""
    remedy, sources = Remedy(), TripCountSources(module)
    for node, location in locations_of(module).items():
        if location not in remaining:
            continue
        sources.add_lengths(remaining[location].lengths, remedy)
        has_lengths = bool(remaining[location].lengths)
        if isinstance(node.op, If) and not has_lengths and (decision := sources.decide(node, remedy)):
            remedy.decisions[location] = decision
        if isinstance(node.op, Loop):
            remedy.iterations = max(remedy.iterations, remaining[location].iterations)
            if iterations(node)[1] >= NEVER:
                sources.add(node, remedy)
    return remedy


def _unroll_level(
    module: Module,
    context: Context,
    max_iterations: int,
    is_chosen: Chooser,
    remaining: dict[str, CannotUnroll],
    removed: dict[str, str],
    is_outer: bool = False,
) -> bool:
    """Rewrite each Loop and If without others inside, if it can be; whether any was rewritten.

    One walk rewrites one level: a node that was visited before its inner ones were unrolled is innermost the next time.
    `is_outer`: loops with others inside instead, of known trip counts, so that those of the inner ones are known, too.
    """
    size = sum(1 for _ in module.nodes())
    locations = locations_of(module)

    def visit(node: Node, build: Builder) -> Sequence[Value | None] | None:
        nonlocal size
        if not isinstance(node.op, If | Loop) or _has_inner(node) is not is_outer or not is_chosen(node):
            return None
        if is_outer and not (isinstance(node.op, Loop) and _decides_inner(node)):
            return None
        before = len(build.region.nodes)
        try:
            if isinstance(node.op, If):
                outputs = if_convert(node, build)
            else:
                outputs = unroll_loop(node, build, max_iterations, MAX_NODES - size)
        except CannotUnroll as reason:
            del build.region.nodes[before:]
            remaining[locations.get(node, node.title)] = reason
            return None
        if not context.may_edit("unroll_control_flow"):
            del build.region.nodes[before:]
            return None
        added = len(build.region.nodes) - before
        size += added
        form = "both branches and a selection" if isinstance(node.op, If) else f"unrolled, {added} nodes"
        removed[locations.get(node, node.title)] = form
        return outputs

    edited = rewrite(module.main, context.inference, visit)
    for node in module.nodes():
        if isinstance(node.op, If | Loop) and is_chosen(node):
            remaining.setdefault(locations.get(node, node.title), CannotUnroll("what is inside remains"))
    return edited


def _decides_inner(node: Node) -> bool:
    """Whether a loop of a known trip count has an inner one whose trip count depends on the iteration."""
    fewest, most = iterations(node)
    if fewest != most:
        return False
    known: set[Value | None] = {None, node.regions[0].arguments[0]}
    for inner in node.regions[0].nodes:
        if isinstance(inner.op, Loop) and inner.inputs[0] is not None and known_ints(inner.inputs[0]) is None:
            return inner.inputs[0] in known
        if all(value in known or is_constant(value) for value in inner.inputs):
            known.update(inner.outputs)
    return False


def _has_inner(node: Node) -> bool:
    """Whether branches or a body contain nodes with regions of their own."""
    return any(inner.regions for region in node.regions for inner in region.nodes)
