"""Loops unrolled and branches made selections, for runtimes without control flow.

It optimises first, so that trip counts and conditions that follow from constants are known, and goes from the innermost
loop outwards. A loop of a known trip count becomes copies of its body. One that may end early, with a known bound,
becomes as many copies, each under a predicate: carried values are selected by it, and what is collected is cut to the
number of predicates that held. An If computes both branches and selects.

A copy that would not have run must not fail. So a body or branch stays that reads run-time integers as indices, sizes
or divisors, and so do random ops and values whose types differ between the choices. What stays is an error with every
reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whorl.errors import format_location
from whorl.ir.build import Builder
from whorl.ir.graph import Module, Node, Value
from whorl.ir.infer import region_title
from whorl.ir.rewrite import rewrite
from whorl.ops.control.flow import If, Loop
from whorl.passes.context import Context
from whorl.passes.control_flow.loops import iterations
from whorl.passes.removal.bounds import Bounds, Remedy
from whorl.passes.removal.branches import select_outputs
from whorl.passes.removal.reasons import Kept
from whorl.passes.removal.unrolling import unroll

MOST_NODES = 1 << 18
"""Nodes that a program without loops may have."""


def remove_control_flow(module: Module, context: Context, most: int) -> dict[str, Kept]:
    """Unroll every Loop of at most `most` iterations and let every If compute both branches; inner ones go first.

    Gives the place of each that stays, with the reason.
    """
    stays: dict[str, Kept] = {}
    edited = True
    while edited:
        stays.clear()
        edited = _round(module, context, most, stays)
    return stays


def remedy_of(module: Module, stays: Mapping[str, Kept]) -> Remedy:
    """What to fix or allow, so that loops that stay for the number of their iterations do not."""
    remedy, bounds = Remedy(), Bounds(module)
    for node, title in _titles(module).items():
        if title in stays and isinstance(node.op, Loop):
            remedy.iterations = max(remedy.iterations, stays[title].iterations)
            if iterations(node)[1] == float("inf"):
                bounds.add(node, remedy)
    return remedy


def _round(module: Module, context: Context, most: int, stays: dict[str, Kept]) -> bool:
    """Remove what has nothing inside that can be removed; whether anything was."""
    size = sum(1 for _ in module.nodes())
    titles = _titles(module)

    def visit(node: Node, build: Builder) -> Sequence[Value | None] | None:
        nonlocal size
        if not isinstance(node.op, If | Loop) or any(
            inner.regions for region in node.regions for inner in region.nodes
        ):
            return None
        before = len(build.region.nodes)
        try:
            found = (
                select_outputs(node, build) if isinstance(node.op, If) else unroll(node, build, most, MOST_NODES - size)
            )
        except Kept as kept:
            del build.region.nodes[before:]
            stays[titles.get(node, node.title)] = kept
            return None
        size += len(build.region.nodes) - before
        return found if context.may_edit("remove_control_flow") else None

    edited = rewrite(module.main, context.inference, visit)
    for node in module.nodes():
        if isinstance(node.op, If | Loop) and titles.get(node, node.title) not in stays:
            stays[titles.get(node, node.title)] = Kept("what is inside stays")
    return edited


def _holds_others(node: Node) -> bool:
    """Whether branches or a body hold nodes with regions of their own."""
    return any(inner.regions for region in node.regions for inner in region.nodes)


def _titles(module: Module) -> dict[Node, str]:
    """Every node with branches or a body, with its place in the program."""
    found: dict[Node, str] = {}
    stack = [(module.main, ())]
    while stack:
        region, around = stack.pop()
        for node in region.nodes:
            if node.regions:
                found[node] = format_location(node.title, *around)
                stack += [(inner, (region_title(node, k), *around)) for k, inner in enumerate(node.regions)]
    return found
