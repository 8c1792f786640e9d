"""Expressions as nodes of the hub give the numbers of NumPy; what has no nodes says so."""

import numpy as np
import pytest
from mdf.expressions.computing import NAMES, assert_same_bits, computed, value

from whorl.errors import UnsupportedError

SAME_BITS = [
    "a * b",
    "x ** 2",
    "x ** 3",
    "a / 0",
    "a if b > 2 else 7",
    "1 < a < 5",
    "x[0]",
    "x[1:3]",
    "x[::-1]",
    "M[2, 1:]",
    "M[:, 0]",
    "x[-1]",
    "(a, b)[1] * 2",
    "M @ x",
    "x @ y",
    "a and b",
    "(x > 1) & (y < 5)",
    "not a",
    "x[:, None] * y",
    "M.T",
    "-x",
    "x * (x > 0)",
    "x.shape[0] * a",
    "x if a > 0 else y",
]


@pytest.mark.parametrize("text", SAME_BITS)
def test_nodes_give_the_bits_of_numpy(text):
    assert_same_bits(text)


@pytest.mark.parametrize("text", ["x * a + y", "numpy.exp(-x) / (1 + a)", "x[0] if a > 2 else b", "M @ x"])
def test_nodes_need_no_shapes(text):
    np.testing.assert_allclose(computed(text, ranked=False), value(text, **NAMES), rtol=1e-15)


@pytest.mark.parametrize(
    "text", ["{'a': x}", "x in y", "numpy.sort(x)", "x[y > 0]", "'text'", "x if a > 0 else 1", "(x > 0) + (y > 0)"]
)
def test_what_has_no_nodes_is_stated(text):
    with pytest.raises(UnsupportedError, match="here: expression"):
        computed(text)
