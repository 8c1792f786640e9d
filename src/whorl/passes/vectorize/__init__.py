"""All iterations at once: ops over a new first axis of rows, and closed forms of what loops carry.

`batched` is what an op is computed on for many rows; `rules` say how, an entry an op; `regions` applies them to a body,
with `inner_loops` for the loops in it, and `modules` to a whole model. `branches` opens the branches of a body,
`recurrences` finds what carried values are, by `forms`, and `loops` puts all together: a loop whose carried values all
have a closed form becomes ops on all of its iterations, which are `stacks` of rows.
"""
