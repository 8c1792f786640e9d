"""Ops of many rows that ask for shapes or change them: the axis of the rows stays the first."""

import numpy as np
import pytest
from passes.vectorize.rules.ops import check_op

X = np.arange(6, dtype=np.float32).reshape(2, 1, 3)
ONE = [True, False]


def ints(*numbers):
    return np.array(numbers, np.int64)


@pytest.mark.parametrize("start_end", ["", "start = 1", "start = -2, end = -1", "start = 5"])
def test_shape_is_that_of_one_row(start_end):
    check_op(f"Shape({{0}}) {{{{{start_end}}}}}", [X], [True], "int64[*]")


def test_size_is_that_of_one_row():
    check_op("Size({0})", [X], [True], "int64[]")


@pytest.mark.parametrize(
    ("op", "numbers"),
    [
        ("Unsqueeze", (0, -1)),
        ("Unsqueeze", (2,)),
        ("Squeeze", (1,)),
        ("Squeeze", (-2,)),
        ("Reshape", (3, 2)),
        ("Reshape", (0, -1)),
        ("Expand", (4, 2, 5, 3)),
        ("Expand", (2, 1, 1)),
    ],
)
def test_numbers_count_within_a_row(op, numbers):
    check_op(f"{op}({{0}}, {{1}})", [X, ints(*numbers)], ONE, constants=(1,))


@pytest.mark.parametrize("perm", ["", "perm = (2, 0, 1)", "perm = (0, 1, 2)"])
def test_rows_are_transposed_each_for_itself(perm):
    check_op(f"Transpose({{0}}) {{{{{perm}}}}}", [X], [True])


@pytest.mark.parametrize("mapped", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_what_all_rows_share_is_appended_to_each(mapped, axis):
    check_op(f"Concat({{0}}, {{1}}) {{{{axis = {axis}}}}}", [X, -X], mapped)


@pytest.mark.parametrize("axis", [-3, -1, 0, 1, 3])
def test_matrix_is_that_of_a_row(axis):
    for x in (X, X[:0]):
        check_op(f"Flatten({{0}}) {{{{axis = {axis}}}}}", [x], [True])


def test_number_is_a_matrix_of_one_element():
    check_op("Flatten({0}) {{axis = 0}}", [X[0, 0, 0]], [True])


def test_axes_that_are_not_named_are_squeezed_where_all_lengths_are_known():
    check_op("Squeeze({0})", [X], [True])


@pytest.mark.parametrize("numbers", [(0, -1), (-1, 3), (0, 0, -1)])
def test_rest_of_a_row_is_known_without_elements(numbers):
    check_op("Reshape({0}, {1})", [np.zeros((2, 3, 0), np.float32), ints(*numbers)], ONE, constants=(1,))
