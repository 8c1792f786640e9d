"""Models of one node, and what onnxruntime makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

Array = np.ndarray


def single_node(
    op_type: str, inputs: Sequence[Array | None], opset: int, outputs: int = 1, **attributes: Any
) -> onnx.ModelProto:
    """A model with inputs x0, x1, ... (None: blank) and outputs y0, y1, ... of one node."""
    names = ["" if value is None else f"x{k}" for k, value in enumerate(inputs)]
    while names and not names[-1]:
        names.pop()
    results = [f"y{k}" for k in range(outputs)]
    node = helper.make_node(op_type, names, results, **attributes)
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in zip(names, inputs, strict=False)
        if value is not None
    ]
    answers = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in results]
    graph = helper.make_graph([node], "one_node", infos, answers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def feeds(inputs: Sequence[Array | None]) -> dict[str, Array]:
    """The inputs under the names that `single_node` gives them."""
    return {f"x{k}": value for k, value in enumerate(inputs) if value is not None}


def onnxruntime_run(model: onnx.ModelProto, passed: dict[str, Array]) -> list[Array]:
    """What onnxruntime computes, on one thread and without graph rewrites."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(session.run(None, passed))
