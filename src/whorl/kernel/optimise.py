"""What is done to a kernel program before it becomes machine code, in order.

LLVM turns innermost parallel loops into vectors, and does not unroll short ones in full before that: rows of 16 or 32
elements would become single numbers. The steps bring programs into the form that this needs. Sums may be taken in any
order and fuse their products; everything else keeps its order.
"""

from __future__ import annotations

from whorl.debug import debug
from whorl.kernel.collapsed_loops import collapse_loops
from whorl.kernel.copies import remove_copies
from whorl.kernel.ownership import merge_takes
from whorl.kernel.program import Program
from whorl.kernel.reductions import write_out_reductions
from whorl.kernel.short_loops import cut_short_loops
from whorl.kernel.tiles import cut_into_parts
from whorl.kernel.transposes import tile_transposes
from whorl.kernel.verify import verify_program
from whorl.kernel.walk import copy_program
from whorl.phases import Phase, in_phase

STEPS = (
    merge_takes,
    remove_copies,
    write_out_reductions,
    collapse_loops,
    cut_into_parts,
    cut_short_loops,
    tile_transposes,
)


@in_phase(Phase.PASSES)
def optimise(program: Program) -> None:
    """Make a program faster, in place; what it computes stays the same, sums in an order of their own.

    Where WHORL_DEBUG says strict, the rules are checked before the first step and after each; where it says programs,
    the program remembers what it was, so that a run can tell whether both give the same.
    """
    if debug().by_programs:
        program.origin = copy_program(program)
    is_checked = debug().is_strict
    if is_checked:
        verify_program(program)
    for step in STEPS:
        step(program)
        if is_checked:
            verify_program(program)
