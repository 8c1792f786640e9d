"""From kernel programs to machine code through llvmlite.

`emit` writes a program as LLVM IR: `frame` has its variables, `statements` its blocks, `expressions` and `scalars` the
values in them, `functions` the formulas that the vectoriser widens; nests that programs share are functions of their
own (`nest_functions`). Kernels add routines, which are compiled once and linked to every program that calls them.
`target` optimises and links a module for a machine, what stays unoptimised as one object (`bundles`), `cache` keeps
object code on disk. `callers` is how a program calls back into Python, `arrays` an entry that takes NumPy arrays.
`library` wraps a program in C functions.

A program fails with a status and no text (`statuses`): the caller finds the error by other means, the interpreter in a
session, the table of statuses in a library.
"""
