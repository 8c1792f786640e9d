"""Selections of many rows."""

import numpy as np
import pytest
from passes.vectorize.programs import reason
from passes.vectorize.rules.ops import check_rows, program

X = np.array([[3, 1, 2, 2], [0, 5, 5, 1], [7, 7, 7, 0]], np.float32)


@pytest.mark.parametrize("axis", [0, -1])
def test_largest_belong_to_a_row(axis):
    check_rows(f"TopK({{0}}, {{1}}) {{{{axis = {axis}}}}}", [X, np.array([2])], [True, False])


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("mapped", [(True, False, False), (True, False, True), (False, False, True)])
def test_classes_have_values_of_the_row(axis, mapped):
    operands = [np.array([[0, -1], [2, 9]]), np.array(3), np.array([0.5, 2], np.float32)]
    check_rows(f"OneHot({{0}}, {{1}}, {{2}}) {{{{axis = {axis}}}}}", operands, mapped, constants=(1,))


@pytest.mark.parametrize("mapped", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("k", [-9, -1, 0, 2])
def test_diagonals_belong_to_the_row(mapped, upper, k):
    for x in (X, np.stack([X, -X])):
        check_rows(f"Trilu({{0}}, {{1}}) {{{{upper = {upper}}}}}", [x, np.array(k)], mapped)


@pytest.mark.parametrize(("axis", "length"), [("axis = 0", 3), ("axis = -1", 4), ("", 12)])
def test_what_a_condition_of_all_rows_takes_is_taken_of_each(axis, length):
    condition = np.arange(length) % 2 == 0
    check_rows(f"Compress({{0}}, {{1}}) {{{{{axis}}}}}", [X, condition], [True, False])


def test_condition_of_each_row_is_the_reason():
    text = program("Compress({0}, {1}) {{axis = 0}}", ["float32[3]", "bool[3]"], "float32[*]", [True, True], {})
    assert reason(text.replace("[n", "[1 + n")) == "Compress 'y': how many elements a Compress takes differs by row"
    assert reason(text) == "it may never run: Compress 'y' may fail on values that it does not see now"


@pytest.mark.parametrize("more", ["", "k = 1", "dtype = int32"])
def test_unit_matrix_has_the_shape_of_a_row(more):
    check_rows(f"EyeLike({{0}}) {{{{{more}}}}}", [X], [True], f"{'int32' if 'int32' in more else 'float32'}[*]")
