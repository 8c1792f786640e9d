"""Fourier transforms, window functions and mel weights."""
