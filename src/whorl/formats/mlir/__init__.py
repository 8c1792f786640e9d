"""MLIR text with the onnx dialect, as onnx-mlir reads and prints it."""
