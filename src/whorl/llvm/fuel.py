"""How much a program does before it asks whether to go on."""

FUEL = 1 << 20
"""Scalar operations, about."""
