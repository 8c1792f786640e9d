"""The passes that a session runs over the module that it has read; they load nothing of the others."""

from __future__ import annotations

from whorl.ir.graph import Module
from whorl.passes.context import Context, Pass, PassOptions
from whorl.passes.fold_small import fold_small
from whorl.passes.lift_invariants import lift_invariants
from whorl.passes.own_results import own_results
from whorl.passes.separate_strings import separate_strings

SESSION_PASSES: tuple[tuple[int, Pass], ...] = (
    (2, lift_invariants),  # first: what it moves out of loops may follow from constants
    (1, fold_small),  # in loops too, into which small constants were copied
    (0, separate_strings),  # at every level: what computes numbers then has native code, whose last bits are its own
    (1, own_results),  # last: what earlier passes fold are constants
)
"""What a session runs once over the module that it has read, each from a level of optimisation on, in this order.

All keep every bit of every output, and every error at its node; and they are cheap beside reading a file.
"""


def prepare(module: Module, level: int, hoisted_bytes: int) -> None:
    """Run the passes of a session up to a level over a module, in place; the values that a caller names stay.

    `hoisted_bytes`: what is computed before one loop may take so much memory.
    """
    context = Context(module, PassOptions(keep_errors=True, hoisted_bytes=hoisted_bytes))
    for least, each in SESSION_PASSES:
        if level >= least:
            each(module, context)
