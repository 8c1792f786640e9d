"""Normalizations of many rows; each has statistics of its own, and may have parameters of its own."""

import itertools

import numpy as np
import pytest
from passes.vectorize.programs import reason
from passes.vectorize.rules.ops import check_op, program

X = np.array([[[1, -2, 3, 4], [5, 6, -7, 8]], [[0, 1, 0, 2], [4, 4, 4, 4]]], np.float32)
TWO = np.array([0.5, 2], np.float32)
THREE = [m for m in itertools.product((False, True), repeat=3) if any(m)]


@pytest.mark.parametrize("mapped", THREE)
@pytest.mark.parametrize("axis", [-1, 1, 2])
def test_axes_from_one_on_belong_to_a_row(mapped, axis):
    shape = X.shape[axis:]
    scale = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    check_op(f"LayerNormalization({{0}}, {{1}}, {{2}}) {{{{axis = {axis}}}}}", [X, scale, scale + 1], mapped)
    check_op(
        f"RMSNormalization({{0}}, {{1}}) {{{{axis = {axis}}}}}", [X, scale], [mapped[0] or not mapped[1], mapped[1]]
    )


@pytest.mark.parametrize("mapped", THREE)
def test_instances_have_parameters_of_the_row(mapped):
    check_op("InstanceNormalization({0}, {1}, {2})", [X, TWO, TWO + 1], mapped)


@pytest.mark.parametrize("mapped", [(True, False, False, False, False), (False, True, False, True, False), (True,) * 5])
def test_batches_have_parameters_of_the_row(mapped):
    check_op("BatchNormalization({0}, {1}, {2}, {3}, {4})", [X, TWO, TWO + 1, TWO * 2, TWO], mapped)


def test_statistics_of_training_belong_to_a_row():
    op = "BatchNormalization({0}, {1}, {2}, {3}, {4}) {{training_mode = 1}}"
    check_op(op, [X, TWO, TWO, TWO, TWO], [True, False, False, False, False])


def test_vector_that_is_normalized_by_its_row_is_the_reason():
    text = program(
        "BatchNormalization({0}, {1}, {1}, {1}, {1})", ["float32[3]", "float32[1]"], "float32[3]", [True, True], {}
    )
    assert reason(text) == "BatchNormalization 'y': a BatchNormalization of a vector has one channel for all rows"


def test_groups_of_rows_are_counted_where_their_number_is_known():
    op = "GroupNormalization({0}, {1}, {1}) {{num_groups = 2}}"
    check_op(op, [X.reshape(1, 4, 4), np.ones(4, np.float32)], [True, False])
    text = program(op, ["float32[1, 4, 4]", "float32[4]"], "float32[*]", [True, True], {})
    why = "the scale of a GroupNormalization differs by row, and the number of rows is not known"
    assert reason(text) == f"GroupNormalization 'y': {why}"


@pytest.mark.parametrize(
    "op",
    [
        "LpNormalization({0}) {{axis = 0, p = 1}}",
        "LpNormalization({0})",
        "LRN({0}) {{size = 3}}",
        "MeanVarianceNormalization({0}) {{axes = (0, 2)}}",
        "MeanVarianceNormalization({0}) {{axes = (-1,)}}",
    ],
)
def test_axes_belong_to_a_row(op):
    check_op(op, [X], [True])
