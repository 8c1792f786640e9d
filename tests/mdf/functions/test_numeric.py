"""Functions of single numbers have native forms with NumPy's bits; composed ones differ in the last."""

import numpy as np
import pytest
from mdf.expressions.computing import NAMES, assert_same_bits, computed, value

SAME_BITS = [
    "abs(x) ** 0.5",
    "x // y",
    "z // y",
    "y // z",
    "x % y",
    "z % y",
    "x % -2",
    "numpy.exp(x)",
    "math.sin(a)",
    "numpy.tanh(x)",
    "numpy.log(abs(x))",
    "numpy.where(x > 0, x, -x)",
    "numpy.clip(x, -1, 1)",
    "numpy.maximum(x, y)",
    "max(a, b)",
    "numpy.heaviside(x, 0.5)",
    "numpy.floor(z)",
    "numpy.sign(z)",
    "numpy.trunc(z)",
    "numpy.isnan(z)",
    "int(a)",
    "numpy.copysign(x, y)",
    "numpy.power(abs(x), 1.7)",
]


@pytest.mark.parametrize("text", SAME_BITS)
def test_nodes_give_the_bits_of_numpy(text):
    assert_same_bits(text)


@pytest.mark.parametrize(
    "text",
    ["numpy.hypot(x, y)", "numpy.log1p(abs(x))", "numpy.expm1(x)", "numpy.expm1(x * 1e-9)", "numpy.log10(abs(x))",
     "numpy.arctan2(x, y)", "numpy.cbrt(x)", "numpy.std(x)", "numpy.linalg.norm(x)", "numpy.logaddexp(x, y)"],
)  # fmt: skip
def test_composed_functions_differ_in_the_last_bits_only(text):
    np.testing.assert_allclose(computed(text), value(text, **NAMES), rtol=1e-14)
