"""From kernel programs to machine code through llvmlite.

`emit` writes a program as LLVM IR text; `target` optimises and links it for a machine; `cache` keeps object code on
disk. `routine` and `formulas` are the builders of hand-written IR, from which `products`, `convolutions` and `planes`
make whole-array kernels and `exponentials`, `circular` and `special` functions that the vectoriser widens. Such
routines are modules of their own (`separate`), compiled once and linked to every program that calls them. `callers` is
how a program calls back into Python. `library_text`, `library_run` and `header` wrap a program in C functions.

A program fails with a status and no text: the caller finds the error by other means, the interpreter in a session, the
table of statuses in a library.
"""
