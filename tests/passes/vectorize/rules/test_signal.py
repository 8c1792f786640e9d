"""Fourier transforms of many rows: signals of length 2, which have sums of one order."""

import numpy as np
import pytest
from passes.vectorize.rules.ops import check_op

X = np.array([[[1], [2]], [[4], [-8]]], np.float32)


@pytest.mark.parametrize("axis", [0, 1, -2])
def test_axis_is_that_of_a_row(axis):
    check_op("DFT({0}, _, {1})", [X, np.array(axis)], [True, False], constants=(1,))


def test_axis_that_is_left_out_is_the_last_but_one():
    check_op("DFT({0}) {{onesided = 1}}", [X], [True])


def test_rows_are_more_signals():
    x = np.arange(6, dtype=np.float32).reshape(1, 6, 1)
    check_op("STFT({0}, {1}, {2})", [x, np.array(2), np.ones(2, np.float32)], [True, False, False], constants=(1,))
