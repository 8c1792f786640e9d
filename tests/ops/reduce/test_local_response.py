"""LRN: its window is cut at the ends of the channels."""

import numpy as np
import pytest
from evaluation import evaluate
from one_program import LENGTHS, check_one_program

from whorl.ops.reduce.local_response import LRN


def normal(*shape, dtype=np.float32):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 20])
def test_local_response_window_is_cut_at_the_ends(size):
    x = normal(2, 6, 3).astype(np.float64)
    expected = np.empty_like(x)
    for c in range(6):
        low, high = max(0, c - (size - 1) // 2), min(5, c + -(-(size - 1) // 2))
        squares = (x[:, low : high + 1] ** 2).sum(1)
        expected[:, c] = x[:, c] / (2 + 0.1 / size * squares) ** 0.5
    np.testing.assert_allclose(evaluate(LRN(size, alpha=0.1, beta=0.5, bias=2.0), x), expected, rtol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 40])
def test_one_program_serves_every_length(size: int) -> None:
    rng = np.random.default_rng(size)
    cases = [[rng.standard_normal((n, n + 2, 3)).astype(np.float32)] for n in LENGTHS[:3]]
    check_one_program(LRN(size, alpha=0.5, beta=0.6), cases, tolerance=1e-6)
