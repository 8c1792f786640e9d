"""Reading elements at indices."""

from pathlib import Path

import numpy as np
import pytest
from evaluation import listed, module_of, unranked
from formats.openvino.ir_text import constant, layer, net, parameter, result
from formats.openvino.net_text import program_of, written
from formats.openvino.one_layer import Fixed, check_layer, check_node, fixed, layer_model, read, scalar

from whorl.errors import LoadError, SaveError
from whorl.formats.openvino.saving import save_openvino, write_net
from whorl.ops.elementwise.comparison import Where
from whorl.ops.ml.features import ArrayFeatureExtractor
from whorl.ops.movement.indexing import Gather, GatherElements, GatherND
from whorl.ops.movement.selection import Compress

X = np.arange(12, dtype=np.float32).reshape(3, 4) + 1
DEEP = np.arange(24, dtype=np.float32).reshape(2, 3, 4) + 1
INDICES = [[0, 2], [-1, 1], [3, -4], [2], 1, [[0, 1], [2, -3]]]


@pytest.mark.parametrize("version", [1, 7, 8])
@pytest.mark.parametrize("indices", INDICES, ids=repr)
def test_slices_at_indices_outside_the_axis_are_zero(version: int, indices: list) -> None:
    positions = np.array(indices, np.int64)
    check_layer("Gather", version, [X, Fixed(positions), scalar(0)], dynamic=(False,))
    check_layer("Gather", version, [X, positions, scalar(0)])
    check_layer("Gather", version, [X, positions.astype(np.int32), scalar(-1)])


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
    positions = np.array([[[0, 1], [1, 1], [0, 0]], [[3, 3], [2, 2], [1, 1]]])
    check_layer("Gather", 7, [DEEP, positions, scalar(2)], {"batch_dims": 2})


def test_single_elements() -> None:
    check_layer("GatherElements", 6, [X, np.array([[0, -1, 1, 2], [0, 0, 0, 1]])], {"axis": 0})


@pytest.mark.parametrize("version", [5, 8])
def test_elements_at_tuples(version: int) -> None:
    deep = np.array([[[1], [0], [2]], [[1], [0], [3]]])
    for x, positions, batch in ((X, [[0, 1], [2, -1]], 0), (X, [[0], [-1]], 0), (DEEP, [[[1], [0]], [[2], [1]]], 1)):
        check_layer("GatherND", version, [x, np.array(positions)], {"batch_dims": batch}, dynamic=(False,))
    check_layer("GatherND", version, [DEEP, deep], {"batch_dims": 2}, dynamic=(False,))
    check_layer("GatherND", version, [DEEP, Fixed(deep)], {"batch_dims": 2})


def test_slices_written() -> None:
    for indices in ([0, -1], 1, [[0, 1], [2, -3]]):
        check_node(Gather(), [X, np.array(indices)])
        check_node(Gather(-1), [X, np.array(indices)], constants=[1])
    check_node(Gather(), [np.array([True, False]), np.array([1, 0, 1])])


def test_elements_written() -> None:
    check_node(GatherElements(0), [X, np.array([[0, -1, 1, 2], [0, 0, 0, 1]])])
    check_node(GatherND(), [X, np.array([[0, 1], [2, -1]])], dynamic=(False,))
    check_node(GatherND(2), [DEEP, np.array([[[1], [0], [2]], [[1], [0], [3]]])], constants=[1])


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


@pytest.mark.parametrize("version", [1, 7, 8])
def test_axis_in_a_row_of_one_and_an_index_without_axes(version: int) -> None:
    check_layer("Gather", version, [DEEP, np.array([0, 2, 5]), fixed(1)])
    check_layer("Gather", version, [DEEP, np.array(7), scalar(-2)])


def test_indices_of_batches_beyond_the_axis() -> None:
    check_layer("Gather", 8, [DEEP, np.array([[0, 1], [2, -7]]), scalar(1)], {"batch_dims": 1})
    deep = np.array([[[0, 1], [2, 7]], [[0, 1], [2, -1]]])
    check_layer("Gather", 8, [DEEP, deep, scalar(2)], {"batch_dims": 1})


def test_axis_that_is_computed_is_refused() -> None:
    layers = [parameter(0, "2,3"), parameter(1, "2", "i64"), parameter(2, "", "i64")]
    layers += [layer(3, "Gather", 3, version="opset8", name="g"), result(4)]
    with pytest.raises(LoadError) as caught:
        program_of(net(layers, "0:0-3:0 1:0-3:1 2:0-3:2 3:3-4:0"))
    assert str(caught.value) == (
        "Gather 'g' (line 7): OV501: input 2, the axis, is computed at run time\n  fix: make it a Const"
    )


@pytest.mark.parametrize(("batch", "message"), [("5", "batch_dims is 5"), ("-9", "batch_dims is -8")])
def test_more_batch_axes_than_there_are_is_refused(batch: str, message: str) -> None:
    layers = [parameter(0, "2,3"), parameter(1, "2", "i64"), constant(2, 0, 8, "", "i64")]
    layers += [layer(3, "Gather", 3, version="opset8", name="g", batch_dims=batch), result(4)]
    with pytest.raises(LoadError) as caught:
        program_of(net(layers, "0:0-3:0 1:0-3:1 2:0-3:2 3:3-4:0"), bytes(8))
    assert str(caught.value).startswith(f"Gather 'g' (line 7): OV501: {message}, its inputs have rank 2 and 1")


def test_indices_that_are_surely_inside_need_no_zeros() -> None:
    layers = [parameter(0, "4,?", name="x"), constant(1, 0, 16, "2", "i64"), constant(2, 16, 8, "", "i64")]
    layers += [layer(3, "Gather", 3, version="opset8", name="g"), result(4)]
    connections = "0:0-3:0 1:0-3:1 2:0-3:2 3:3-4:0"
    inside, outside = (program_of(net(layers, connections), np.array([3, k, 0]).tobytes()) for k in (-4, -5))
    assert "Where" not in inside
    assert 'Gather "g" (%x' in inside
    assert 'Where "g"' in outside


def test_choice_between_slices_and_other_numbers_remains_a_choice() -> None:
    """Only zeros outside of the axis are what a Gather of OpenVINO gives."""
    text = """
        main(%m: bool[2], %x: float32[2], %y: float32[2]) {
            %z: float32[2] = Where(%m, %x, %y)
            return z = %z
        }"""
    assert "Select-1(0, 1, 2) auto_broadcast=numpy" in written(text)


def test_choice_between_truth_values_is_logic() -> None:
    x = np.array([True, False, True, False])
    check_node(Where(), [x, ~x, x])
    check_node(Where(), [x[:2], np.array([[True], [False]]), np.array(True)])


def test_slices_at_negative_axes_written() -> None:
    check_node(Gather(-2), [DEEP > 2, np.array([[0, -1]])])
    check_node(GatherElements(-1), [X, np.array([[0], [-1], [1]])])
    check_node(Compress(-2), [DEEP, np.array([True, False, True])])
    check_node(Compress(0), [DEEP, np.array([False, False])])
