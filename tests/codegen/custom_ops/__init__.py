"""Custom ops of onnxruntime, without onnxruntime: its table of functions is one of the tests' own."""
