"""Elements of many rows taken by their indices."""

import numpy as np
import pytest
from passes.vectorize.rules.ops import check_op

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("mapped", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("shape", [(), (1,), (2, 3)])
def test_rows_of_indices_take_from_rows_or_from_what_all_share(mapped, axis, shape):
    indices = np.resize(np.array([1, -2, 0, -1], np.int64), shape)
    check_op(f"Gather({{0}}, {{1}}) {{{{axis = {axis}}}}}", [X, indices], mapped)


@pytest.mark.parametrize("mapped", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("axis", [0, -1])
def test_elements_are_taken_from_the_row(mapped, axis):
    indices = np.array([[[0, -1], [1, 1]], [[1, 0], [-2, 0]]])
    check_op(f"GatherElements({{0}}, {{1}}) {{{{axis = {axis}}}}}", [X, indices], mapped)


@pytest.mark.parametrize("mapped", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize(("batch_dims", "indices"), [(0, [[1, 2], [0, -1]]), (0, [1]), (1, [[[2], [0]], [[1], [-1]]])])
def test_slices_are_taken_from_the_row(mapped, batch_dims, indices):
    check_op(f"GatherND({{0}}, {{1}}) {{{{batch_dims = {batch_dims}}}}}", [X, np.array(indices)], mapped)
