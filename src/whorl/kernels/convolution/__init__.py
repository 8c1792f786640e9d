"""Convolutions: every feature a sum over taps of a phase-split input."""
