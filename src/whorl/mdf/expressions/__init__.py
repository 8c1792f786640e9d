"""Expressions of MDF: Python's syntax, of which a whitelist is allowed, evaluated with NumPy or written as nodes."""
