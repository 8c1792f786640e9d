"""Reading and writing at indices."""

from pathlib import Path

import numpy as np
import pytest
from evaluation import listed, module_of, unranked
from formats.openvino.one_layer import Fixed, check_layer, check_node, layer_model, read, scalar

from whorl.errors import SaveError
from whorl.formats.openvino.saving import save_openvino, write_net
from whorl.ops.ml.features import ArrayFeatureExtractor
from whorl.ops.movement.indexing import Gather, GatherElements, GatherND
from whorl.ops.movement.scattering import ScatterElements, ScatterND, TensorScatter
from whorl.ops.movement.selection import Compress

X = np.arange(12, dtype=np.float32).reshape(3, 4) + 1
DEEP = np.arange(24, dtype=np.float32).reshape(2, 3, 4) + 1
INDICES = [[0, 2], [-1, 1], [3, -4], [2], 1, [[0, 1], [2, -3]]]


@pytest.mark.parametrize("version", [1, 7, 8])
@pytest.mark.parametrize("indices", INDICES, ids=repr)
def test_slices_at_indices_outside_the_axis_are_zero(version: int, indices: list) -> None:
    places = np.array(indices, np.int64)
    check_layer("Gather", version, [X, Fixed(places), scalar(0)], dynamic=(False,))
    check_layer("Gather", version, [X, places, scalar(0)])
    check_layer("Gather", version, [X, places.astype(np.int32), scalar(-1)])


def test_truth_values_at_indices_outside_the_axis_are_false() -> None:
    check_layer("Gather", 8, [np.array([[True, True], [False, True]]), np.array([1, -1, 2]), scalar(0)])


@pytest.mark.parametrize("version", [1, 7, 8])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_slices_at_indices_are_written_as_they_were_read(version: int, axis: int) -> None:
    model = layer_model("Gather", version, [DEEP, np.array([[0, 7], [1, -1]]), scalar(axis)])
    net, _ = write_net(read(model))
    assert [layer.type for layer in net.layers] == ["Parameter", "Parameter", "Const", "Gather", "Result"]
    assert net.layers[3].version == ("opset8" if version == 8 else "opset7")


def test_indices_of_batches() -> None:
    check_layer("Gather", 8, [X, np.array([[0, 1], [2, 3], [1, -1]]), scalar(1)], {"batch_dims": 1})
    check_layer("Gather", 8, [DEEP, np.array([[0, 1], [2, 7]]), scalar(2)], {"batch_dims": 1})
    check_layer("Gather", 8, [DEEP, Fixed(np.array([[0, 1], [2, 2]])), scalar(1)], {"batch_dims": -1})
    places = np.array([[[0, 1], [1, 1], [0, 0]], [[3, 3], [2, 2], [1, 1]]])
    check_layer("Gather", 7, [DEEP, places, scalar(2)], {"batch_dims": 2})


def test_single_elements() -> None:
    check_layer("GatherElements", 6, [X, np.array([[0, -1, 1, 2], [0, 0, 0, 1]])], {"axis": 0})


@pytest.mark.parametrize("version", [5, 8])
def test_elements_at_tuples(version: int) -> None:
    deep = np.array([[[1], [0], [2]], [[1], [0], [3]]])
    for x, places, batch in ((X, [[0, 1], [2, -1]], 0), (X, [[0], [-1]], 0), (DEEP, [[[1], [0]], [[2], [1]]], 1)):
        check_layer("GatherND", version, [x, np.array(places)], {"batch_dims": batch}, dynamic=(False,))
    check_layer("GatherND", version, [DEEP, deep], {"batch_dims": 2}, dynamic=(False,))
    check_layer("GatherND", version, [DEEP, Fixed(deep)], {"batch_dims": 2})


def test_slices_replaced() -> None:
    check_layer("ScatterUpdate", 3, [X, np.array([0, 2]), -X[:2], scalar(0)])
    check_layer("ScatterUpdate", 3, [X, np.array([0, 2]), -X[:, :2], scalar(1)])
    check_layer("ScatterUpdate", 3, [X, np.array([[0, 2]]), -X[None, :2], scalar(0)])
    check_layer("ScatterUpdate", 3, [X, np.array([[0, 2], [1, 3]]), -X.reshape(3, 2, 2), scalar(-1)])


REDUCTIONS = ["none", "sum", "sub", "prod", "min", "max"]


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_elements_at_tuples_combined(reduction: str) -> None:
    places, updates = np.array([[0, 1], [2, 1], [0, -1]]), np.array([3, 4, 5])
    for dtype in (np.float32, np.int32):
        check_layer("ScatterNDUpdate", 15, [X.astype(dtype), places, updates.astype(dtype)], {"reduction": reduction})
    if reduction == "none":
        check_layer("ScatterNDUpdate", 4, [X, places[:, :1], -X])


def test_single_elements_replaced() -> None:
    check_layer("ScatterElementsUpdate", 3, [X, np.array([[0, 1, 2, 0]]), -X[:1], scalar(0)])
    check_layer("ScatterElementsUpdate", 3, [X, np.array([[0, -1], [1, 1], [2, 3]]), -X[:, :2], scalar(1)])


@pytest.mark.parametrize("reduction", ["none", "sum", "prod", "min", "max", "mean"])
@pytest.mark.parametrize("initial", [True, False])
def test_single_elements_combined(reduction: str, initial: bool) -> None:
    places, updates = np.array([[0, 1], [1, 1], [2, -1]]), np.array([[4, 5], [7, -8], [-3, -2]])
    attributes = {"reduction": reduction, "use_init_val": initial}
    for dtype in (np.float32, np.int32):
        inputs = [X.astype(dtype), places, updates.astype(dtype), scalar(1)]
        check_layer("ScatterElementsUpdate", 12, inputs, attributes)


def test_slices_written() -> None:
    for indices in ([0, -1], 1, [[0, 1], [2, -3]]):
        check_node(Gather(), [X, np.array(indices)])
        check_node(Gather(-1), [X, np.array(indices)], constants=[1])
    check_node(Gather(), [np.array([True, False]), np.array([1, 0, 1])])


def test_elements_written() -> None:
    check_node(GatherElements(0), [X, np.array([[0, -1, 1, 2], [0, 0, 0, 1]])])
    check_node(GatherND(), [X, np.array([[0, 1], [2, -1]])], dynamic=(False,))
    check_node(GatherND(2), [DEEP, np.array([[[1], [0], [2]], [[1], [0], [3]]])], constants=[1])


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "min", "max"])
def test_replaced_elements_written(reduction: str) -> None:
    for dtype in (np.float32, np.int64):
        x = X.astype(dtype)
        check_node(ScatterElements(1, reduction), [x, np.array([[0, 1], [1, 2], [2, -1]]), -x[:, :2]])
        check_node(ScatterND(reduction), [x, np.array([[0, 1], [2, 1], [0, -1]]), np.array([3, 4, 5], dtype)])


@pytest.mark.parametrize("mode", ["linear", "circular"])
def test_cache_written(mode: str) -> None:
    cache, update = np.zeros((2, 3, 4, 5), np.float32), np.arange(60, dtype=np.float32).reshape(2, 3, 2, 5)
    first = np.array([2, 1 if mode == "linear" else 3])
    check_node(TensorScatter(mode=mode), [cache, update, first])
    check_node(TensorScatter(mode=mode), [cache, update])


def test_picked_slices_written() -> None:
    for axis in (0, -1, None):
        check_node(Compress(axis), [X, np.array([True, False, True])])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5)])
@pytest.mark.parametrize("indices", [[4, 0, 0], [[1, 2], [3, 4]]])
def test_features_written(indices: list, shape: tuple[int, ...], dtype: type) -> None:
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    check_node(ArrayFeatureExtractor(), [x, np.array(indices)], constants=[1])
    check_node(ArrayFeatureExtractor(), [x, np.array(indices)], dynamic=[False])


def test_features_of_a_tensor_of_any_rank_are_refused(tmp_path: Path) -> None:
    module = module_of(ArrayFeatureExtractor(), [unranked(), listed(0, 1)])
    with pytest.raises(SaveError) as caught:
        save_openvino(module, tmp_path / "m.xml")
    assert str(caught.value) == (
        "ArrayFeatureExtractor 'op': takes features of a tensor whose rank is not known\n"
        "  fix: declare the shape of its input"
    )
