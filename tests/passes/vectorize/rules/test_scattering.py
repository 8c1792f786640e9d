"""What is written at indices of many rows lands in its own row."""

import itertools

import numpy as np
import pytest
from passes.vectorize.rules.ops import check_op

X = np.arange(12, dtype=np.float32).reshape(3, 4)
THREE = [m for m in itertools.product((False, True), repeat=3) if any(m)]


@pytest.mark.parametrize("mapped", THREE)
@pytest.mark.parametrize("reduction", ["none", "add", "max"])
@pytest.mark.parametrize("axis", [0, -1])
def test_elements_are_written_into_their_row(mapped, reduction, axis):
    indices = np.array([[0, -1], [2, 1]])
    op = f'ScatterElements({{0}}, {{1}}, {{2}}) {{{{axis = {axis}, reduction = "{reduction}"}}}}'
    check_op(op, [X, indices, X[:2, :2] * 10], mapped)


@pytest.mark.parametrize("mapped", THREE)
@pytest.mark.parametrize("reduction", ["none", "mul"])
@pytest.mark.parametrize(
    ("indices", "updates"), [([[0], [-1]], X[:2] * 3), ([0, -1], X[0, 0]), ([[[1, 2]]], X[:1, :1])]
)
def test_slices_are_written_into_their_row(mapped, reduction, indices, updates):
    op = f'ScatterND({{0}}, {{1}}, {{2}}) {{{{reduction = "{reduction}"}}}}'
    check_op(op, [X, np.array(indices), np.asarray(updates)], mapped)


@pytest.mark.parametrize("mapped", [(True, True, True), (True, False, False), (False, False, True)])
def test_caches_belong_to_the_row(mapped):
    cache = np.zeros((2, 4, 3), np.float32)
    check_op("TensorScatter({0}, {1}, {2})", [cache, cache[:, :1] + 1, np.array([0, 3])], mapped)


@pytest.mark.parametrize("axes", ["batch_axis = 0, time_axis = 1", "batch_axis = 1, time_axis = 0"])
@pytest.mark.parametrize("mapped", [(True, True), (True, False), (False, True)])
def test_sequences_are_reversed_each_for_itself(axes, mapped):
    x = np.arange(18, dtype=np.float32).reshape(3, 3, 2)
    check_op(f"ReverseSequence({{0}}, {{1}}) {{{{{axes}}}}}", [x, np.array([1, 3, 2])], mapped)
