"""Models with loops of every kind, in ONNX's text form, each with one value of a body that is recorded."""
