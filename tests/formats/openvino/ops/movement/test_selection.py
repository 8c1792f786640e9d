"""Counting, diagonals, places, and elements picked by their size."""

import numpy as np
import pytest
from formats.openvino.one_layer import Input, check_layer, check_node, fixed, scalar

from whorl.ops.linear.einsum import Einsum
from whorl.ops.movement.selection import NonZero, OneHot, TopK, Trilu, Unique
from whorl.ops.random.distributions import Dropout

X = np.array([[3, 1, 2, 4, 0], [5, 7, 6, 1, 9]], np.float32)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.float32])
@pytest.mark.parametrize("bounds", [(0, 5, 1), (5, 0, -2), (0, 0, 1), (0, 7, 3)])
def test_counting(dtype: type, bounds: tuple[int, int, int]) -> None:
    start, stop, step = (np.array(number, dtype) for number in bounds)
    check_layer("Range", 1, [start, stop, step])
    check_layer("Range", 4, [start, stop, scalar(bounds[2])], {"output_type": "f32"})
    check_layer("Range", 4, [start, stop, step], {"output_type": "i64"})


@pytest.mark.parametrize("bounds", [(0.5, 3.9, 0.7), (0.5, 3.9, 1.7), (-0.5, 3.9, 1.0), (0, 3.9, 1.0)])
def test_counting_in_floats_for_integers(bounds: tuple[float, float, float]) -> None:
    numbers = [np.array(number, np.float32) for number in bounds]
    check_layer("Range", 4, numbers, {"output_type": "i32"})
    check_layer("Range", 4, numbers, {"output_type": "f32"})


def test_nothing_to_count_gives_no_numbers() -> None:
    check_layer("Range", 1, [np.array(3), np.array(1), np.array(1)], expected=[np.zeros(0, np.int64)])


@pytest.mark.parametrize("diagonal", [0, 1, -2, 9])
def test_diagonals(diagonal: int) -> None:
    for batch in ([], [fixed(2, 3)]):
        sizes = [scalar(3), scalar(4), scalar(diagonal), *batch]
        check_layer("Eye", 9, sizes, {"output_type": "i32"})


INDICES: list[tuple[Input, int]] = [
    (np.array([0, 2, -1, 5]), -1),
    (np.array([[0, 2], [1, -3]], np.int32), 0),
    (np.array(1), 0),
    (fixed(0, 2), 1),
    (fixed(0, -2), 1),
]


@pytest.mark.parametrize("version", [1, 16])
@pytest.mark.parametrize(("indices", "axis"), INDICES)
def test_marks(version: int, indices: Input, axis: int) -> None:
    values = [scalar(2, np.float32), scalar(-1, np.float32)]
    check_layer("OneHot", version, [indices, scalar(3), *values], {"axis": axis})


def test_marks_counted_from_the_end() -> None:
    inputs = [np.array([0, 2, -1, -5, 5]), scalar(3), scalar(2.0, np.float32), scalar(-1.0, np.float32)]
    check_layer("OneHot", 16, inputs, {"axis": -1, "negative_indices_mode": "normalize"})


def test_locations_of_what_is_not_zero() -> None:
    for x in (X, np.array([True, False]), np.array(5, np.float32), np.array(0, np.float32)):
        check_layer("NonZero", 3, [x], {"output_type": "i64"})
    check_layer("NonZero", 3, [X], {"output_type": "i32"})


@pytest.mark.parametrize("version", [1, 3, 11])
@pytest.mark.parametrize("mode", ["max", "min"])
@pytest.mark.parametrize("sort", ["value", "index", "none"])
def test_largest_and_least(version: int, mode: str, sort: str) -> None:
    attributes = {"axis": 1, "mode": mode, "sort": sort}
    check_layer("TopK", version, [X, scalar(3)], attributes)
    if version > 1:
        check_layer("TopK", version, [X.astype(np.int32), np.array(2)], attributes | {"index_element_type": "i64"})


@pytest.mark.parametrize("equation", ["ij,jk->ik", "ij,jk", "...j,jk->...k"])
def test_sums_of_products(equation: str) -> None:
    check_layer("Einsum", 7, [X, X.T.copy()], {"equation": equation})


def test_diagonal_of_a_batch() -> None:
    cube = np.arange(18, dtype=np.float32).reshape(2, 3, 3)
    check_layer("Einsum", 7, [cube], {"equation": "Bii->Bi"})


def test_different_elements() -> None:
    for ordered in (True, False):
        check_layer("Unique", 10, [np.array([3, 1, 2, 3, 1])], {"sorted": ordered})
        rows = np.array([[3, 1], [2, 1], [3, 1]], np.float32)
        check_layer("Unique", 10, [rows, scalar(0)], {"sorted": ordered, "index_element_type": "i32"})
        check_layer("Unique", 10, [rows, fixed(1)], {"sorted": ordered, "count_element_type": "i32"})


def test_marks_and_different_elements_of_other_types() -> None:
    for dtype in (np.int32, np.uint8, np.bool_):
        values = [scalar(1, dtype), scalar(0, dtype)]
        check_layer("OneHot", 1, [np.array([0, 2], np.int32), scalar(3, np.int32), *values], {"axis": -1})
        check_layer("Unique", 10, [np.array([1, 0, 1, 1]).astype(dtype)], {"sorted": True})


def test_locations_in_sorted_rows() -> None:
    for right in (True, False):
        attributes = {"right_mode": right}
        check_layer("SearchSorted", 15, [np.array([1, 2, 2, 3], np.float32), X], attributes)
        rows = np.array([[1, 2, 2], [3, 4, 5]], np.float32)
        check_layer("SearchSorted", 15, [rows, X], attributes)
        bounds = fixed(1, 2, 3, dtype=np.float32)
        check_layer("Bucketize", 3, [X, bounds], {"with_right_bound": right, "output_type": "i32"})


@pytest.mark.parametrize("op", [TopK(), TopK(0), TopK(-1, 0)], ids=repr)
def test_largest_and_least_written(op: TopK) -> None:
    for dtype in (np.float32, np.int64, np.int32):
        check_node(op, [(X % 4).astype(dtype), np.array([2])], constants=[1], outputs=2)
    check_node(op, [X, np.array([2])], outputs=2)
    check_node(op, [X, np.array([2])], outputs=1)


def test_locations_written() -> None:
    check_node(NonZero(), [X])
    check_node(NonZero(), [np.array([True, False, True])])


def test_marks_written() -> None:
    for dtype in (np.float32, np.int64):
        pair = np.array([-1, 2], dtype)
        check_node(OneHot(), [np.array([0, 2, -1, 5]), np.array(3), pair])
        check_node(OneHot(0), [np.array([[0, 2], [-3, 1]]), np.array([3]), pair], constants=[1])
    check_node(OneHot(1), [np.array([0, 1], np.float32), np.array(3, np.float32), np.array([0, 1], np.float32)], [1])


@pytest.mark.parametrize("upper", [0, 1])
def test_triangles_written(upper: int) -> None:
    for k in (None, np.array(1), np.array(-1), np.array(9)):
        check_node(Trilu(upper), [X, k])
        check_node(Trilu(upper), [np.stack([X, X]).astype(np.int64), k], constants=[1])


def test_sums_of_products_written() -> None:
    check_node(Einsum("ij, jk -> ik"), [X, X.T.copy()])


def test_different_elements_written() -> None:
    for op in (Unique(), Unique(0), Unique(1, 0)):
        check_node(op, [np.array([[3, 1], [2, 1], [3, 1]], np.float32)], outputs=4)
    check_node(Unique(), [np.array([3, 1, 2, 3, 1])], outputs=2)


def test_nothing_is_dropped() -> None:
    check_node(Dropout(), [X], outputs=2)
    check_node(Dropout(), [X, np.array(0.5, np.float32), np.array(False)], constants=[1, 2], outputs=2)
