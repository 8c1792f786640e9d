"""Shapes, and the same elements under another one."""

import numpy as np
import pytest
from formats.openvino.one_layer import Input, check_layer, check_node, fixed, scalar

from whorl.ops.movement.axes import Tile
from whorl.ops.movement.filling import ConstantOfShape, EyeLike, Range
from whorl.ops.movement.shapes import Expand, Flatten, Reshape, Shape, Size, Squeeze, Unsqueeze

X = np.arange(6, dtype=np.float32).reshape(2, 3)
THIN = np.arange(3, dtype=np.float32).reshape(1, 3, 1)


def test_shapes() -> None:
    for x in (X, np.array(1, np.float32)):
        check_layer("ShapeOf", 1, [x])
        check_layer("ShapeOf", 3, [x], {"output_type": "i32"})
        check_layer("ShapeOf", 3, [x], {"output_type": "i64"})


RESHAPES: list[tuple[tuple[int, ...], Input, bool]] = [
    ((2, 3), fixed(3, -1), False),
    ((2, 3), fixed(0, -1, 1), True),
    ((2, 3), fixed(-1, 0), True),
    ((2, 3), np.array([3, 2], np.int32), False),
    ((1, 1), fixed(), True),
    ((0, 3), fixed(3, 0), False),
]


@pytest.mark.parametrize(("shape", "target", "special"), RESHAPES)
def test_reshapes(shape: tuple[int, ...], target: Input, special: bool) -> None:
    check_layer("Reshape", 1, [np.ones(shape, np.float32), target], {"special_zero": special})


@pytest.mark.parametrize("version", [1, 15])
@pytest.mark.parametrize("axes", [[fixed(0)], [fixed(-1, 0)], [scalar(2)]], ids=repr)
def test_squeezes(version: int, axes: list[Input]) -> None:
    check_layer("Squeeze", version, [THIN, *axes])


def test_squeezes_of_all_thin_axes() -> None:
    for axes in ([], [fixed()]):
        check_layer("Squeeze", 1, [THIN, *axes], dynamic=(False,))


def test_axis_that_is_longer_remains() -> None:
    model_with_fixed_shapes = [THIN, fixed(0, 1)]
    check_layer("Squeeze", 1, model_with_fixed_shapes, dynamic=(False,))
    check_layer("Squeeze", 15, model_with_fixed_shapes, {"allow_axis_skip": True}, dynamic=(False,))


def test_unsqueezes() -> None:
    check_layer("Unsqueeze", 1, [X, fixed(0, -1)])
    check_layer("Unsqueeze", 1, [X, scalar(1)])
    check_layer("Unsqueeze", 1, [np.array(2, np.float32), fixed(0)])


BROADCASTS: list[tuple[int, list[Input], str]] = [
    (3, [X[:, :1], fixed(4, 2, 3)], "numpy"),
    (3, [X[:, :1], np.array([4, 2, 3])], "numpy"),
    (3, [X[:, :1], fixed(1, 4)], "bidirectional"),
    (1, [X[:, :1], fixed(4, 2, 3)], "numpy"),
    (1, [X[0], fixed(2, 3, 4), fixed(1)], "explicit"),
    (3, [X, fixed(2, 4, 3), fixed(0, 2)], "explicit"),
    (3, [X[0], fixed(3), fixed(0)], "explicit"),
    (3, [np.array(1, np.float32), fixed(3, 2)], "numpy"),
    (3, [X[0, :1], fixed(0, 2)], "numpy"),
]


@pytest.mark.parametrize(("version", "inputs", "mode"), BROADCASTS)
def test_broadcasts(version: int, inputs: list[Input], mode: str) -> None:
    check_layer("Broadcast", version, inputs, {"mode": mode})


@pytest.mark.parametrize("repeats", [[2, 1], [2], [2, 1, 3]], ids=repr)
def test_repeats_of_any_number(repeats: list[int]) -> None:
    for passed in (fixed(*repeats), np.array(repeats)):
        check_layer("Tile", 1, [X, passed], expected=[np.tile(X, repeats)])


def test_shapes_written() -> None:
    for op in (Shape(), Shape(1), Shape(-1), Shape(0, 1), Shape(1, -1), Size()):
        check_node(op, [np.zeros((2, 3, 4), np.float32)])
    check_node(Size(), [np.array(1, np.float32)])


def test_reshapes_written() -> None:
    check_node(Reshape(), [X, np.array([0, -1, 1])], constants=[1])
    check_node(Reshape(), [X, np.array([3, 2])])
    check_node(Reshape(allowzero=1), [np.zeros((0, 3), np.float32), np.array([3, 0])], constants=[1])


@pytest.mark.parametrize("axis", [0, 1, 2, 3, -1, -2])
def test_flattening_written(axis: int) -> None:
    check_node(Flatten(axis), [np.arange(24, dtype=np.float32).reshape(2, 3, 4)])


def test_axes_dropped_and_inserted_written() -> None:
    check_node(Squeeze(), [THIN, np.array([0, -1])], constants=[1])
    check_node(Squeeze(), [THIN, np.array([-1, 0])])
    check_node(Squeeze(), [THIN], dynamic=(False,))
    check_node(Unsqueeze(), [X, np.array([0, -1])], constants=[1])
    check_node(Unsqueeze(), [X, np.array([-1, 0])])
    check_node(Unsqueeze(), [X, np.array([1])])
    check_node(Unsqueeze(), [np.array(1, np.float32), np.array([0, 1])])


def test_broadcasts_written() -> None:
    check_node(Expand(), [X[:, :1], np.array([4, 1, 3])], constants=[1])
    check_node(Expand(), [X[:, :1], np.array([4, 1, 3])])
    check_node(Expand(), [X, np.array([1])], constants=[1])


def test_repeats_written() -> None:
    check_node(Tile(), [X, np.array([2, 3])], constants=[1])
    check_node(Tile(), [X, np.array([2, 3])])


@pytest.mark.parametrize("value", [None, np.array([3], np.int64), np.array([True]), np.array([2], np.int8)], ids=repr)
def test_filled_tensors_written(value: np.ndarray | None) -> None:
    check_node(ConstantOfShape(value), [np.array([2, 3])])
    check_node(ConstantOfShape(value), [np.array([2, 3])], constants=[0])
    check_node(ConstantOfShape(value), [np.array([0, 3])])
    check_node(ConstantOfShape(value), [np.zeros(0, np.int64)], constants=[0])


COUNTS = [(0, 5, 1), (5, 0, -2), (0, 0, 1), (3, 1, 1), (1, 3, -1), (0, 7, 3)]


@pytest.mark.parametrize("bounds", COUNTS)
@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_counting_written(bounds: tuple[int, int, int], dtype: type) -> None:
    numbers = [np.array(number, dtype) for number in bounds]
    for constants in ((), (0, 2), (0, 1, 2)):
        check_node(Range(), numbers, constants)


@pytest.mark.parametrize("k", [0, 1, -2])
def test_diagonals_written(k: int) -> None:
    check_node(EyeLike(np.dtype(np.int32), k), [np.zeros((3, 4), np.float32)])
    check_node(EyeLike(None, k), [np.zeros((3, 4), np.float32)])
