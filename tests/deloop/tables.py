"""All models: those that become free of loops with their dims open, and those that keep them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from deloop import remaining
from deloop.cases import Case
from deloop.exits import EXITS
from deloop.maps import MAPS
from deloop.recurrent import RECURRENT
from deloop.reductions import REDUCTIONS

SLOWER = (
    "running_largest",
    "torchscript_break",
    "first_above_a_limit",
    "running_total_below_a_limit",
    "greedy_decoder_until_the_end",
    "decoder_of_a_table",
    "branch_of_equal_shapes",
    "branches_of_two_lengths",
    "branch_in_a_branch",
    "first_row_if_there_is_one",
    "guarded_gather",
    "guarded_division",
    "bounded_descent",
)
"""Models that onnxruntime is slower at without their loops, which go where a target is named."""
_ALL: Mapping[str, Case] = MAPS | REDUCTIONS | RECURRENT | EXITS
LOOP_FREE: Mapping[str, Case] = {
    name: replace(case, options={"target": "any"}) if name in SLOWER else case for name, case in _ALL.items()
}
REMAINING: Mapping[str, Case] = remaining.REMAINING
