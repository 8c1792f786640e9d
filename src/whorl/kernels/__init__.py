"""Whole-array routines that kernel programs call: products of matrices, convolutions, sums and maxima of windows.

A kernel has three facets, one file each in its folder: `meaning` is what it computes, in NumPy on flat arrays, with how
much memory each operand has and what it costs; `layout` is the order in memory in which it reads weights and images,
which ops and lowering prepare; `codegen` writes it as LLVM IR. `table` has a row a kernel. `machine` has the constants
of machines, `windows` the geometry that `convolution` and `plane` share, `aligned` memory that starts at a cache line.
"""
