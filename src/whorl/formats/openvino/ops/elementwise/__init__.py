"""Ops on single elements: `arithmetic` of two operands, `functions` of one, `nonlinear` activations, `casting`."""
