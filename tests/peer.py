"""One node run here and by onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import helper
from single_node import Array, feeds, onnxruntime_run, single_node

import whorl


def both(
    op_type: str, inputs: Sequence[Array | None], opset: int, results: Sequence[Any] = (np.float32,), **attributes: Any
) -> tuple[list[Array], list[Array]]:
    """What the node gives here, and what onnxruntime gives; `results` are the element types of its outputs."""
    model, passed = single_node(op_type, inputs, opset, len(results), **attributes), feeds(inputs)
    for info, dtype in zip(model.graph.output, results, strict=True):
        info.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return list(whorl.run(model, passed).values()), onnxruntime_run(model, passed)


def assert_same(
    op_type: str,
    inputs: Sequence[Array | None],
    opset: int,
    results: Sequence[Any] = (np.float32,),
    rtol: float = 1e-5,
    atol: float = 1e-5,
    **attributes: Any,
) -> None:
    """The node gives what onnxruntime gives, in shape, element type and, up to rounding, in value."""
    for mine, theirs in zip(*both(op_type, inputs, opset, results, **attributes), strict=True):
        assert mine.shape == theirs.shape and mine.dtype == theirs.dtype, attributes
        np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=atol, err_msg=str(attributes))
