"""Functions of whole arrays have native forms with NumPy's bits."""

import pytest
from mdf.expressions.computing import assert_same_bits, computed

from whorl.errors import UnsupportedError

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
    "numpy.append(x[1:], a)",
    "numpy.append(a, x)",
    "numpy.append(M, x)",
    "numpy.append(M, M, axis=1)",
    "numpy.hstack([x[1:], a])",
    "numpy.hstack([a, b])",
    "numpy.hstack((M, M))",
    "numpy.roll(x, 1)",
    "numpy.roll(x, -2)",
    "numpy.roll(x, 7)",
    "numpy.roll(x, 0)",
    "numpy.take_along_axis(M, numpy.array([[3, 0, 1, 6, 2, 2, 5]]), 0)",
    "numpy.take_along_axis(x, numpy.array([3, 0, 0, 6]), 0)",
    "numpy.max(x)",
    "x.max(axis=0)",
    "numpy.zeros(3) + a",
    "numpy.any(x > 0)",
]


@pytest.mark.parametrize("text", SAME_BITS)
def test_nodes_give_the_bits_of_numpy(text):
    assert_same_bits(text)


REFUSED = {
    "numpy.roll(M, 1)": ("roll of other than one axis of a known length is not compiled", "write it with concatenate"),
    "numpy.roll(x, a)": ("roll of other than one axis of a known length is not compiled", "write it with concatenate"),
    "numpy.take_along_axis(M, numpy.array([[1]]), 0)": (
        "take_along_axis of these shapes is not compiled",
        "give indices the shape of the array, but for the axis",
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_has_no_form_says_so(text):
    with pytest.raises(UnsupportedError) as error:
        computed(text)
    message, fix = REFUSED[text]
    assert (error.value.message, error.value.fix) == (f"expression {text!r}: {message}", fix)
