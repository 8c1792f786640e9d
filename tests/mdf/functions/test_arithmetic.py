"""Operators of expressions are Python's, within bounds."""

import ast
import math

import numpy as np
import pytest

from whorl.errors import RunError
from whorl.mdf.functions.arithmetic import BINARY, COMPARISONS, UNARY


@pytest.mark.parametrize(
    ("kind", "a", "b", "expected"),
    [(ast.Div, 1, 0, math.inf), (ast.Pow, 10.0, 400, math.inf), (ast.FloorDiv, 7, 2, 3), (ast.Add, [1], [2], [1, 2])],
)
def test_number_out_of_range_is_what_numpy_gives(kind, a, b, expected):
    with np.errstate(all="ignore"):
        assert BINARY[kind](a, b) == expected


def test_complex_power_is_nan():
    assert math.isnan(BINARY[ast.Pow](-8.0, 0.5))


@pytest.mark.parametrize(
    ("kind", "a", "b", "message"),
    [
        (ast.Pow, 10, 10**10, "is too large"),
        (ast.Mult, 1 << 4000, 1 << 4000, "a product of whole numbers is too large"),
        (ast.Mult, "text", 10**9, "more than 1000000 items"),
        (ast.Add, np.ones((10**5, 1)), np.ones(10**5), "more than 268435456 elements"),
        (ast.MatMult, np.ones((10**5, 1)), np.ones((1, 10**5)), "more than 268435456 elements"),
        (ast.Mod, "%d", 3, "a text has no remainder"),
    ],
)
def test_operation_that_grows_without_bound_is_refused(kind, a, b, message):
    with pytest.raises(RunError, match=message):
        BINARY[kind](a, b)


def test_comparisons_and_signs_are_pythons():
    assert COMPARISONS[ast.In](2, (1, 2)) and COMPARISONS[ast.NotEq](1, 2)
    assert UNARY[ast.USub](3) == -3 and UNARY[ast.Not](0) is True
