"""Resizing, sampling, and the suppression of overlapping boxes."""
