"""Models with embedded loops in onnxruntime, against the same models as they were."""
