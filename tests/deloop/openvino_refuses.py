"""What OpenVINO does not do with models that have no loops."""

LINEAR = "Unknown activation function: affine"
MODELS: dict[str, str] = {
    "skl2onnx_cdist_manhattan": "Input order must have shape [n]",
    "torchscript_decay": LINEAR,
    "selective_state_space": LINEAR,
    "moving_average": LINEAR,
}
"""Models that it does not load, with a part of what it says."""
EMPTY = frozenset({"simple_rnn", "relu_rnn_of_gemms"})
"""Models that it runs, but that end its process where there is no row: it divides by their number."""
