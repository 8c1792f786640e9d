"""Passes: from a module to a better module that computes the same."""
