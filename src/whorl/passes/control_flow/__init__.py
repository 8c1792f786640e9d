"""Control flow at compile time: branches, loops, and what crosses the border of a region.

A loop whose operands are constant is run within a budget of iterations, seconds and bytes. What follows from an unknown
value is unknown; iterations before the first carried value that becomes unknown are peeled off (`partial`). Induction
variables depend on constants and the iteration number alone: they are followed even where others are unknown, and give
the trip count of a loop that a counter ends (`closed`). A node that fails ends the attempt and the loop stays, to fail
when it runs.

Across borders, small constants are copied into regions, which drops an operand because regions are closed; what is
loop-invariant is hoisted, if it cannot fail or an iteration surely runs it (`captured`).
"""

from __future__ import annotations

from collections.abc import Sequence

from whorl.ir.build import Builder
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ir.rewrite import rewrite
from whorl.ops.control.flow import If, Loop
from whorl.passes.context import Context
from whorl.passes.control_flow.branches import simplify_if
from whorl.passes.control_flow.captured import hoist_invariants, push_constants
from whorl.passes.control_flow.closed import settle_trip_count
from whorl.passes.control_flow.collections import fold_taken
from whorl.passes.control_flow.loops import inline_single, release_constant_states, remove_idle
from whorl.passes.control_flow.partial import run_constant_part

STEPS = (remove_idle, release_constant_states, inline_single, run_constant_part)
"""What is tried on a loop, in order: each gives what takes its place, or None."""


def simplify_control_flow(module: Module, context: Context) -> None:
    """Simplify every If and Loop, outer ones first."""
    read = _read(module)

    def visit(node: Node, build: Builder) -> Sequence[Value | None] | None:
        found: Sequence[Value | None] | None = None
        match node.op:
            case If():
                found = simplify_if(node, build, context, read)
            case Loop():
                found = next((values for step in STEPS if (values := step(node, build, context)) is not None), None)
                found = settle_trip_count(node, build, context, read) if found is None else found
            case _:
                found = fold_taken(node, build, context)
        if found is None and node.regions:
            push_constants(node, build, context)
            hoist_invariants(node, build, context)
        return found

    rewrite(module.main, context.inference, visit)


def _read(module: Module) -> set[Value | None]:
    """Every value that a node or a result of any region reads."""
    found: set[Value | None] = set()
    regions: list[Region] = [module.main]
    while regions:
        region = regions.pop()
        found.update(region.results)
        for node in region.nodes:
            found.update(node.inputs)
            regions += node.regions
    return found
