"""Reductions of many rows, each for itself, and ops along an axis."""

import numpy as np
import pytest
from passes.vectorize.rules.ops import check_op

X = np.array([[0.5, -1, 3, 4], [2, -0.25, 7, 4], [1, 1, 1, 9]], np.float32)
REDUCTIONS = ("Sum", "Max", "Min", "Mean", "Prod", "L1", "L2", "SumSquare")


@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize("axes", [(0,), (-1,), (0, 1)])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_axes_count_within_a_row(op, axes, keepdims):
    numbers = np.array(axes, np.int64)
    check_op(f"Reduce{op}({{0}}, {{1}}) {{{{keepdims = {keepdims}}}}}", [X, numbers], [True, False], constants=(1,))


@pytest.mark.parametrize("more", ["keepdims = 0", "keepdims = 1", "noop_with_empty_axes = 1"])
def test_no_axes_are_all_of_one_row_or_none(more):
    check_op(f"ReduceMax({{0}}) {{{{{more}}}}}", [X], [True])


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin", "Softmax", "LogSoftmax"])
@pytest.mark.parametrize("axis", [0, -1])
def test_axis_is_that_of_one_row(op, axis):
    result = "int64[*]" if op.startswith("Arg") else "float32[*]"
    check_op(f"{op}({{0}}) {{{{axis = {axis}}}}}", [X], [True], result)


@pytest.mark.parametrize("op", ["CumSum", "CumProd"])
@pytest.mark.parametrize("axis", [0, -1])
def test_totals_count_within_a_row(op, axis):
    check_op(f"{op}({{0}}, {{1}})", [X, np.array(axis, np.int64)], [True, False], constants=(1,))


@pytest.mark.parametrize("op", ["ReduceLogSum", "ReduceLogSumExp"])
def test_logarithms_of_sums_belong_to_a_row(op):
    check_op(f"{op}({{0}}) {{{{keepdims = 0}}}}", [np.abs(X)], [True])


@pytest.mark.parametrize("axis", [0, -1])
def test_first_of_the_largest_is_that_of_a_row(axis):
    check_op(f"Hardmax({{0}}) {{{{axis = {axis}}}}}", [X], [True])
