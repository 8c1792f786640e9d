"""Functions of a scalar that generated code calls: `table` finds one by the name of an operation.

`exponentials`, `circular` and `special` are formulas without branches, which the loop vectoriser widens.
"""
