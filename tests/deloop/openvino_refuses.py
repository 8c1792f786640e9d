"""What OpenVINO does not do with models that have no loops."""

MODELS: dict[str, str] = {"skl2onnx_cdist_manhattan": "Input order must have shape [n]"}
"""Models that it does not load, with a part of what it says."""
EMPTY: frozenset[str] = frozenset()
"""Models that it runs, but gives nothing or something else where an input is empty."""
