"""What is done to a kernel program before it becomes machine code, in order."""

from __future__ import annotations

from whorl.kernel.copies import remove_copies
from whorl.kernel.joined_loops import join_loops
from whorl.kernel.program import Program
from whorl.kernel.reductions import write_out_reductions
from whorl.kernel.short_loops import cut_short_loops
from whorl.kernel.tiles import cut_into_parts

STEPS = (remove_copies, write_out_reductions, join_loops, cut_into_parts, cut_short_loops)


def optimise(program: Program) -> None:
    """Make a program faster, in place; what it computes stays the same, sums in an order of their own."""
    for step in STEPS:
        step(program)
