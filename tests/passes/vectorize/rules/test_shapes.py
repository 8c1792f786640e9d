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
