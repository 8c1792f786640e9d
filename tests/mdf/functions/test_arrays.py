"""Functions of whole arrays have native forms with NumPy's bits."""

import pytest
from mdf.expressions.computing import assert_same_bits

SAME_BITS = [
    "numpy.sum(x)",
    "numpy.sum(M, axis=0)",
    "x.mean()",
    "numpy.dot(M, x)",
    "numpy.outer(x, y)",
    "numpy.argmax(x)",
    "numpy.cumsum(x)",
    "numpy.zeros_like(x) + 1",
    "numpy.array([a, b, 1.0])",
    "numpy.concatenate([x, y])",
    "numpy.max(x)",
    "x.max(axis=0)",
    "numpy.zeros(3) + a",
    "numpy.any(x > 0)",
]


@pytest.mark.parametrize("text", SAME_BITS)
def test_nodes_give_the_bits_of_numpy(text):
    assert_same_bits(text)
