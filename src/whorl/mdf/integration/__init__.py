"""How parameters with a time derivative go over a time step. Euler's method is part of MDF and is not here.

`names` has the integrators; `dependencies` says which parts of a node change with them; `linearity` whether a
derivative is linear; `steps` has the formulas, which the engine evaluates and a program emits; `adaptive` asks scipy.
"""
