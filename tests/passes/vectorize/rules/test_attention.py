"""Attention of many rows. The heads are one key wide, so that sums have one order."""

import itertools

import numpy as np
import pytest
from passes.vectorize.rules.ops import check_op

Q, K = np.arange(6, dtype=np.float32).reshape(2, 1, 3, 1), np.arange(4, dtype=np.float32).reshape(2, 1, 2, 1)
MASKS = [np.zeros(2), np.eye(3, 2), np.ones((1, 1, 3, 2)), np.arange(12).reshape(2, 1, 3, 2)]


@pytest.mark.parametrize("mask", MASKS, ids=lambda mask: str(mask.shape))
@pytest.mark.parametrize("mapped", [(True, True, True, False), (True, False, False, True), (False, False, False, True)])
def test_mask_is_that_of_the_row(mask, mapped):
    check_op("Attention({0}, {1}, {2}, {3})", [Q, K, K + 1, mask.astype(np.float32)], mapped)


@pytest.mark.parametrize(
    "mapped", [(True, False, False, False), (True, False, False, True), (False, False, False, True)]
)
def test_positions_belong_to_the_row(mapped):
    x, table = np.arange(16, dtype=np.float32).reshape(2, 1, 2, 4), np.arange(8, dtype=np.float32).reshape(4, 2)
    check_op("RotaryEmbedding({0}, {1}, {2}, {3})", [x, table, table / 2, np.array([[0, 3], [1, 2]])], mapped)


@pytest.mark.parametrize("mapped", [m for m in itertools.product((False, True), repeat=3) if any(m)])
def test_angles_of_each_sequence_belong_to_the_row(mapped):
    x, angles = np.arange(8, dtype=np.float32).reshape(1, 1, 2, 4), np.arange(4, dtype=np.float32).reshape(1, 2, 2)
    check_op("RotaryEmbedding({0}, {1}, {2})", [x, angles, angles + 1], mapped)
