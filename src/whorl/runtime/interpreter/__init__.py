"""The interpreter: runs a region node by node with `op.run`. It is the meaning, and every test's oracle.

- `plan`: a region ready to run: a step for each node, a slot for each value.
- `step`: one node at run time, the run that it is part of, and errors with their location.
- `control`: If, Loop and random ops, which need the run.
- `accelerator`: the interface of compiled code, which may run parts of a plan and the rest of a loop instead.
"""
