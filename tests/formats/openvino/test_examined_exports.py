"""What ONNX says otherwise than IR: types of indices, outputs that nobody reads, channels by depth."""

import numpy as np
import onnxruntime
import pytest
from formats.openvino.one_layer import layer_model, read, scalar

import whorl

X = np.arange(12, dtype=np.float32).reshape(3, 4)
ONE = np.array([7], np.float32)
ROW = np.full((1, 4), 7, np.float32)
INDICES = {
    "GatherElements-6": ([X, np.array([[1, 2, 0, 1]])], {"axis": 0}, [[4, 9, 2, 7]]),
    "GatherND-8": ([X, np.array([[1, 2]])], {}, [6]),
    "GatherND-5": ([X, np.array([[1, 2]])], {}, [6]),
    "ScatterUpdate-3": ([X[:2], np.array([1]), ROW, scalar(0)], {}, [[0, 1, 2, 3], [7] * 4]),
    "ScatterNDUpdate-4": ([X[:2], np.array([[0, 1]]), ONE], {}, [[0, 7, 2, 3], [4, 5, 6, 7]]),
    "ScatterNDUpdate-15": ([X[:1], np.array([[0, 1]]), ONE], {"reduction": "sum"}, [[0, 8, 2, 3]]),
    "ScatterElementsUpdate-3": ([X[:1], np.array([[2]]), ONE[None], scalar(1)], {}, [[0, 1, 7, 3]]),
    "ScatterElementsUpdate-12": ([X[:1], np.array([[2]]), ONE[None], scalar(1)], {"reduction": "sum"}, [[0, 1, 9, 3]]),
}


def in_onnxruntime(type, version, inputs, data, folder):
    """The outputs of a layer that was read, written as ONNX and run."""
    whorl.save(read(layer_model(type, version, inputs, data)), folder / "m.onnx")
    session = onnxruntime.InferenceSession(folder / "m.onnx")
    arrays = [x for x in inputs if isinstance(x, np.ndarray)]
    return session.run(None, dict(zip([each.name for each in session.get_inputs()], arrays, strict=True)))


@pytest.mark.parametrize("what", INDICES)
def test_indices_of_32_bits_are_converted(what, tmp_path):
    type, version = what.split("-")
    inputs, data, expected = INDICES[what]
    inputs = [inputs[0], inputs[1].astype(np.int32), *inputs[2:]]
    (actual,) = in_onnxruntime(type, int(version), inputs, data, tmp_path)
    assert actual.tolist() == expected


def test_outputs_that_onnx_demands_are_there(tmp_path):
    data = {"axis": 0, "mode": "min", "sort": "index", "index_element_type": "i64"}
    values, positions = in_onnxruntime("TopK", 3, [np.array([5, 1, 4, 2], np.float32), scalar(2)], data, tmp_path)
    assert values.tolist() == [1, 2] and positions.tolist() == [1, 3]


def test_channels_by_depth(tmp_path):
    x = np.arange(16, dtype=np.float32).reshape(1, 2, 2, 4)
    data = {"block_size": 2, "mode": "depth_first"}
    (actual,) = in_onnxruntime("SpaceToDepth", 1, [x], data, tmp_path)
    first = [[[0, 2]], [[1, 3]], [[4, 6]], [[5, 7]]]
    assert actual.tolist() == [[*first, *(np.array(first) + 8).tolist()]]
