"""Constants that are computed once, when they are asked for."""

from __future__ import annotations

import numpy as np
from onnx import numpy_helper
from onnx_text import model

import whorl
from whorl.ir.types import Known, TensorType
from whorl.lowering.deferred import DeferredArray
from whorl.lowering.graphs import lower_graph


def test_array_is_computed_once_and_row_major():
    calls: list[int] = []

    def compute() -> np.ndarray:
        calls.append(1)
        return np.arange(6, dtype=np.float32).reshape(2, 3).T

    array = DeferredArray(np.dtype(np.float32), (3, 2), compute)
    assert not calls
    assert array.numpy() is array.numpy() and len(calls) == 1
    assert array.numpy().flags.c_contiguous and array.numpy().tolist() == [[0, 3], [1, 4], [2, 5]]


def test_array_that_moved_is_the_other_one():
    array = DeferredArray(np.dtype(np.float32), (2,), lambda: np.ones(2, np.float32))
    rows = np.zeros((3, 2), np.float32)
    rows[1] = array.numpy()
    array.move_to(rows[1])
    rows[1, 0] = 5
    assert array.numpy().tolist() == [5, 1]


def test_weights_are_laid_out_after_the_program_is_made():
    """Until somebody asks for the arrays, there are only their types."""
    proto = model("main (float[n, 64] x) => (float[n, 64] y) { y = MatMul(x, w) }")
    proto.graph.initializer.append(numpy_helper.from_array(np.ones((64, 64), np.float32), "w"))
    region = whorl.load(proto).main
    graph = lower_graph(region, [Known(TensorType(np.dtype(np.float32), (9, 64)))])
    (panels,) = graph.constants
    assert isinstance(panels, DeferredArray)
    assert graph.arrays[0] is panels.numpy() and graph.arrays[0].shape == panels.shape
