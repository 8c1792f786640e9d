"""Products of many rows. The numbers are small integers, so that every order of a sum gives the same."""

import numpy as np
import pytest
from passes.vectorize.rules.ops import check_op


def whole(*shape):
    return (np.arange(np.prod(shape)) % 7 - 3).reshape(shape).astype(np.float32)


@pytest.mark.parametrize("mapped", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize(
    ("a", "b"), [((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((3,), (5, 3, 4))]
)
def test_rows_are_matrices_side_by_side(mapped, a, b):
    check_op("MatMul({0}, {1})", [whole(*a), whole(*b)], mapped)
