"""Passes: from a module to a better module that computes the same.

A pass is `def name(module, context) -> None`, in place, over every region; the public API clones once at its door.
`pipeline.PASSES` is the one list, each entry with its reason, and the driver runs it until a whole round changes
nothing. A pass asks `context.may_edit(name)` right before each edit, so that edits are counted by name, can be
disabled, and stop after `limit`: the edit that goes wrong is found by bisection.

Bits are kept: integers wrap and regroup freely; of floats only what rounds alike is rewritten. Regrouping sums and
folding factors into weights needs `fast_math`. What could be folded but is not stands in the report with its reason.

A session runs a few of them at load, each once: `session.SESSION_PASSES`, with `keep_errors`, so that what fails at
run time still fails at the same node of the same region.

Rooms: `rules` is algebra as patterns; `unroll` unrolls all loops for runtimes without control flow.
"""
