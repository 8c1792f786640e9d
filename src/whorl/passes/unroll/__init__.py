"""Programs without control flow: loops unrolled and branches if-converted, for runtimes that have neither.

A loop of a known trip count becomes copies of its body. One that may end early, with a known bound, becomes as many
copies, each under a predicate: carried values are selected by it, and collected ones are cut to the number of true
predicates. An If computes both branches and selects.

A copy that would not have run must not fail, so only what may run speculatively is converted: no random op, no run-time
integers as indices, sizes or divisors, no values whose types differ between the choices.

Rooms: `control_flow` goes over a module from the innermost loop outwards; `loops` and `branches` rewrite one node each;
`legality` says what cannot be unrolled; `fix_inputs` specialises a module to lengths and values of inputs, `remedy`
finds which of them would make a trip count known.
"""
