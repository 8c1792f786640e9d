"""Convolutions, pooling, and columns that become images."""
