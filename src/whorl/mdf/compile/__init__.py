"""Compilation: a graph over time as one module of the hub, with a Loop over the evaluations."""
