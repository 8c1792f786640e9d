"""Transposing, joining, cutting, reversing and rolling."""

import numpy as np
import pytest
from formats.openvino.one_layer import Input, check_layer, check_node, fixed, scalar

from whorl.ops.movement.axes import Concat, Slice, Split, Transpose

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def test_joining() -> None:
    check_layer("Concat", 1, [X, X], {"axis": 1})
    check_layer("Concat", 1, [X, X[:, :0]], {"axis": -2})
    check_layer("Concat", 1, [X], {"axis": 0})


def test_equal_parts() -> None:
    check_layer("Split", 1, [X, scalar(2)], {"num_splits": 2})
    check_layer("Split", 1, [X, scalar(-3)], {"num_splits": 2})


@pytest.mark.parametrize("lengths", [fixed(1, 3), fixed(1, -1, 2), np.array([1, -1, 2]), np.array([1, 1, 2])], ids=repr)
def test_parts_of_listed_lengths(lengths: Input) -> None:
    check_layer("VariadicSplit", 1, [X, scalar(-1), lengths])


@pytest.mark.parametrize(
    "order", [fixed(2, 0, 1), fixed(), np.array([2, 0, 1]), np.array([1, 2, 0], np.int32)], ids=repr
)
def test_transposing(order: Input) -> None:
    check_layer("Transpose", 1, [X, order])


SLICES: list[tuple[list[Input], list[bool]]] = [
    ([fixed(0, 1), fixed(2, 3), fixed(1, 1), fixed(0, 2)], [False, True]),
    ([fixed(-1), fixed(-10), fixed(-1), fixed(-1)], [False, True]),
    ([fixed(0, 0, 1), fixed(1, 3, 9), fixed(1, 2, 2)], [False, True]),
    ([np.array([3]), np.array([0]), np.array([-2]), np.array([2])], [False, True]),
    ([fixed(1), fixed(1), fixed(1), fixed(1)], [False, True]),
    ([fixed(1), fixed(1 << 62), fixed(1), fixed(1)], [False, True]),
]


@pytest.mark.parametrize(("ends", "dynamic"), SLICES)
def test_slices(ends: list[Input], dynamic: list[bool]) -> None:
    check_layer("Slice", 8, [X, *ends], dynamic=dynamic)


def test_reversing() -> None:
    for axes in (fixed(1), fixed(-1, 0), np.array([0, 2])):
        check_layer("Reverse", 1, [X, axes], {"mode": "index"})
    check_layer("Reverse", 1, [X, fixed(True, False, True, dtype=bool)], {"mode": "mask"})
    check_layer("Reverse", 1, [X, np.array([True, False, True])], {"mode": "mask"}, dynamic=(False,))


ROLLS: list[tuple[Input, Input]] = [
    (fixed(1), fixed(2)),
    (fixed(-1, 5), fixed(0, -1)),
    (np.array([-1, 5]), fixed(0, -1)),
    (fixed(1, 1), fixed(1, 1)),
    (np.array(1), fixed(1)),
]


@pytest.mark.parametrize(("shift", "axes"), ROLLS)
def test_rolling(shift: Input, axes: Input) -> None:
    check_layer("Roll", 7, [X, shift, axes])


def test_rolling_all_axes_by_one_number() -> None:
    check_layer("Roll", 7, [X, scalar(2), fixed(1, 2)], expected=[np.roll(X, (2, 2), (1, 2))])


def test_transposing_and_joining_written() -> None:
    check_node(Transpose((2, 0, 1)), [X])
    check_node(Transpose(), [X])
    check_node(Concat(-2), [X, X[:, :1], X[:, :0]])


def test_parts_written() -> None:
    check_node(Split(2, output_count=2), [X], outputs=2)
    check_node(Split(-1, 3, 3), [X], outputs=3)
    check_node(Split(-1, 2, 2), [X], outputs=2)
    check_node(Split(-1, output_count=2), [X, np.array([1, 3])], constants=[1], outputs=2)
    check_node(Split(-1, output_count=2), [X, np.array([1, 3])], outputs=2)


CUTS = [
    ([0, 1], [2, 3], None, None),
    ([-1], [-100], [1], [-1]),
    ([1, 0], [(1 << 31) - 1, -1], [2, 0], [2, 1]),
    ([3], [1], [-1], None),
]


@pytest.mark.parametrize("lists", CUTS)
def test_slices_written(lists: tuple) -> None:
    rows = [None if row is None else np.array(row, np.int64) for row in lists]
    check_node(Slice(), [X, *rows], constants=[1, 2, 3, 4])
    check_node(Slice(), [X, *rows], constants=[3])
