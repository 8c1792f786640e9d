"""Constants that are computed once, when they are asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import numpy_helper
from onnx_text import model

import whorl
from whorl.ir.elements.mapping import map_file
from whorl.ir.types import Known, TensorType
from whorl.lowering.deferred import DeferredArray, array_from, origin_of
from whorl.lowering.graphs import lower_graph
from whorl.lowering.products import InPanels


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


@pytest.fixture
def mapped(tmp_path: Path) -> np.ndarray:
    path = tmp_path / "weights"
    path.write_bytes(np.arange(60, dtype=np.float32).tobytes())
    with path.open("rb") as file:
        return np.frombuffer(memoryview(map_file(file)), np.float32).reshape(6, 10)


def test_array_in_a_file_and_what_is_laid_out_from_it_are_had_again(mapped: np.ndarray) -> None:
    panels = DeferredArray.by(InPanels(4, True), [mapped], mapped.dtype, (2, 10, 4))
    elsewhere = DeferredArray.by(InPanels(4, True), [mapped * 1], mapped.dtype, (2, 10, 4))
    origin = origin_of(panels)
    assert origin is not None
    assert array_from(origin).numpy().tobytes() == panels.numpy().tobytes()
    assert origin_of(mapped) is not None
    pair = DeferredArray.side_by_side([panels, panels])
    pair_origin = origin_of(pair)
    assert pair_origin is not None
    assert array_from(pair_origin).numpy().tobytes() == pair.numpy().tobytes()
    assert origin_of(DeferredArray.side_by_side([panels, elsewhere])) is None


def test_array_in_memory_has_no_origin() -> None:
    array = np.ones((3, 3), np.float32)
    assert origin_of(array) is None
    assert origin_of(DeferredArray.by(InPanels(4), [array], array.dtype, (1, 3, 4))) is None
    assert origin_of(DeferredArray(array.dtype, (3, 3), lambda: array)) is None
