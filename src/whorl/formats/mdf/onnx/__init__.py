"""ONNX in MDF: `onnx::*` functions (`operators`, `calls`, `control`, `bodies`), and ONNX models as MDF and back."""
