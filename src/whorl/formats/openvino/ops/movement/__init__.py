"""Ops that move elements: shapes, axes, slices, gather and scatter, padding, selection, blocks of depth and space."""
