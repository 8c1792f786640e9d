"""Kernels of windows over each channel of an image without weights: their maxima and sums."""
