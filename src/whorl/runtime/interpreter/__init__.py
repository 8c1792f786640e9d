"""The interpreter: runs a region node by node with `op.run`. It is the meaning, and every test's oracle.

- `plan`: a region ready to run: a step for each node, a slot for each value.
- `step`: one node at run time, the run that it is part of, and errors with their location.
- `control`: If and Loop, and random ops, which share the state of a run.
"""
