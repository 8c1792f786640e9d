"""Whole-array routines that kernel programs call: products of matrices, convolutions, sums and maxima of windows.

A kernel has three facets, a file each in its folder: `meaning` is what it computes, in NumPy on flat arrays, with how
much memory each operand has and what it costs; `layout` is the order in memory in which it reads weights and images,
which ops and lowering prepare; `llvm` writes its routine. `table` joins the facets: a new kernel is a folder and a row.
They are a layer before the ops because a layout is part of what lowering makes of an op, a meaning of what the
interpreter of programs runs, a routine of code; they lie together and depend on none of the three.

`machine` has the constants of machines, `windows` the geometry that `convolution` and `plane` share, `aligned` memory
that starts at a cache line.
"""
