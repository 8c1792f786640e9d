"""Kernels that take an image plane by plane: splitting it by phases, sums and maxima of windows."""
