"""Reductions along axes, normalizations, and softmax kinds."""
