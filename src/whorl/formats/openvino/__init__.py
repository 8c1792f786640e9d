"""OpenVINO IR, versions 10 and 11: `.xml` with weights in a `.bin` beside it."""

PROFILES = ("", "ov-cpu", "openvino-cpu")
"""Whose meaning IR is read with where they differ: the documentation's, or that of its CPU plugin (two names)."""
