"""Kernels of convolutions with a filter for each channel."""
