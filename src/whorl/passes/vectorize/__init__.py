"""All iterations at once: ops over a new first axis of rows, and closed forms of what loops carry.

`batched` is what an op is computed on for many rows; `rules` say how, an entry an op; `regions` applies them to a body
or a whole model. `recurrences` are the closed forms of carried values, and `loops` puts both together: a loop whose
carried values all have one becomes ops on all of its iterations.
"""
