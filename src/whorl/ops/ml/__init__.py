"""The ops of ai.onnx.ml: trees, support vectors, linear models, features, labels; and training steps."""
