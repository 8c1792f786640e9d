"""Control flow at compile time: branches, loops, and what crosses the border of a region.

A loop whose operands are constant is evaluated within a budget of iterations, seconds and bytes; one of which a carried
value becomes unknown is peeled up to there (`peel`). Induction variables are evaluated even where others are unknown,
and give the trip count of a loop that a counter ends (`induction`). A branch that one condition decides in all
iterations becomes a branch between two loops (`unswitch`). A node that fails ends the attempt and the loop
remains, to fail when it runs.

Ifs on one condition become one, and what both branches compute alike goes before them (`merge_branches`). Across
borders, small constants are copied into regions, which drops an operand (`push_constants`); loop-invariant nodes
are hoisted (`licm`).
"""

from __future__ import annotations

from collections.abc import Sequence

from whorl.ir.build import Builder
from whorl.ir.graph import Module, Node, Value, walk_regions
from whorl.ir.rewrite import rewrite
from whorl.ops.control.flow import If, Loop
from whorl.passes.context import Context
from whorl.passes.fold_collections import fold_collections
from whorl.passes.induction import resolve_trip_count
from whorl.passes.licm import hoist_invariants
from whorl.passes.merge_branches import hoist_common, merge_branches
from whorl.passes.peel import peel_constant_iterations
from whorl.passes.push_constants import push_constants
from whorl.passes.simplify_if import simplify_if
from whorl.passes.simplify_loop import capture_unchanged_states, inline_single_iteration, remove_zero_trip_loop
from whorl.passes.unswitch import unswitch

STEPS = (remove_zero_trip_loop, capture_unchanged_states, inline_single_iteration, peel_constant_iterations)
"""Rewrites of a loop, in the order in which they are tried: each returns new outputs, or None."""

EDITS = (
    "IfGivesTheSame",
    "IfOfConst",
    "capture_unchanged_state",
    "evaluate_loop",
    "fold_collections",
    "hoist_common",
    "hoist_invariants",
    "inline_single_iteration",
    "merge_branches",
    "peel_loop",
    "push_constants",
    "remove_zero_trip_loop",
    "resolve_trip_count",
    "unswitch",
)
"""The names of all edits, by which they are counted and disabled."""


def simplify_control_flow(module: Module, context: Context) -> None:
    """Simplify every If and Loop, outer ones first."""
    for region in walk_regions(module.main):  # no list: branches that were merged are regions no longer
        merge_branches(region, context)
    used = set[Value | None]().union(*(region.used_values() for region in walk_regions(module.main)))

    def visit(node: Node, build: Builder) -> Sequence[Value | None] | None:
        match node.op:
            case If():
                outputs = simplify_if(node, build, context, used)
            case Loop():
                outputs = next((values for step in STEPS if (values := step(node, build, context)) is not None), None)
                outputs = resolve_trip_count(node, build, context, used) if outputs is None else outputs
                outputs = unswitch(node, build, context) if outputs is None else outputs
            case _:
                return fold_collections(node, build, context)
        if outputs is None:
            edits = context.edits
            push_constants(node, context)
            if isinstance(node.op, If) and context.edits == edits:  # else a branch may soon need less
                hoist_common(node, build.region, context)
            hoist_invariants(node, build.region, context)
        return outputs

    rewrite(module.main, context.inference, visit)
