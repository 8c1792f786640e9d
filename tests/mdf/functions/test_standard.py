"""The standard functions of MDF compute what their specification says."""

import numpy as np
import pytest

from whorl.mdf.expressions.arrays import evaluate
from whorl.mdf.functions.standard import STANDARD

STANDARD_VALUES = {
    "linear": ({"variable0": 3.0, "slope": 2.0, "intercept": 1.0}, 7.0),
    "logistic": ({"variable0": 1.0, "gain": 2.0, "bias": 0.5, "offset": 1.0}, 1 / (1 + np.exp(-2.0))),
    "exponential": ({"variable0": 1.0, "scale": 3.0, "rate": 2.0, "bias": 1.0, "offset": 5.0}, 3 * np.exp(3.0) + 5),
    "MatMul": ({"A": np.eye(2) * 2, "B": np.ones(2)}, [2.0, 2.0]),
    "Relu": ({"A": np.array([-1.0, 2.0])}, [0.0, 2.0]),
    **{
        name: ({"variable0": 0.5, "scale": 2.0}, 2 * getattr(np, name)(0.5))
        for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan")
    },
}


@pytest.mark.parametrize("name", STANDARD)
def test_standard_functions(name):
    names, expected = STANDARD_VALUES[name]
    arguments, expression = STANDARD[name]
    assert list(arguments) == list(names)
    np.testing.assert_array_equal(evaluate(expression, names), expected)
