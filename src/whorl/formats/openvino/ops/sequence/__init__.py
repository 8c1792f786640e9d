"""Ops on sequences, which become tensors."""
