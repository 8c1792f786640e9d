"""Activation functions that recurrent ops name, and how their parameters are handed out."""

import numpy as np
import pytest

from whorl.errors import TypeRuleError
from whorl.ops.recurrent.activations import activation_functions
from whorl.ops.recurrent.rnn import RNN


def test_functions_without_parameters_use_none_up():
    x = np.array([[[2.0]], [[-2.0]]], np.float32)
    w, r = np.ones((2, 1, 1), np.float32), np.zeros((2, 1, 1), np.float32)
    op = RNN(direction="bidirectional", activations=("Relu", "LeakyRelu"), activation_alpha=(0.25,))
    assert op.run(x, w, r)[0].tolist() == [[[[2.0]], [[2.0]]], [[[0.0]], [[-0.5]]]]


def test_parameters_left_out_have_the_defaults_of_the_ops():
    x = np.array([[[0.5]], [[-2.0]]], np.float32)
    w, r = np.ones((1, 1, 1), np.float32), np.zeros((1, 1, 1), np.float32)
    defaults = {
        "affine": [0.5, -2.0],
        "Elu": [0.5, np.exp(-2) - 1],
        "HardSigmoid": [0.6, 0.1],
        "LeakyRelu": [0.5, -0.02],
        "ScaledTanh": [np.tanh(0.5), np.tanh(-2)],
        "ThresholdedRelu": [0.0, 0.0],
    }
    for name, expected in defaults.items():
        y = RNN(activations=(name,)).run(x, w, r)[0]
        np.testing.assert_allclose(y.reshape(-1), expected, rtol=1e-6, err_msg=name)


X = np.array([-2.0, -0.0, 0.5, 3.0])
FUNCTIONS = {
    "Affine": (2.0, 1.0, 2 * X + 1),
    "Elu": (2.0, None, np.where(X < 0, 2 * (np.exp(X) - 1), X)),
    "HardSigmoid": (0.5, 0.25, np.clip(0.5 * X + 0.25, 0, 1)),
    "LeakyRelu": (0.5, None, np.where(X < 0, 0.5 * X, X)),
    "Relu": (None, None, [0, 0, 0.5, 3]),
    "ScaledTanh": (2.0, 0.5, 2 * np.tanh(0.5 * X)),
    "Sigmoid": (None, None, 1 / (1 + np.exp(-X))),
    "Softplus": (None, None, np.log(1 + np.exp(X))),
    "Softsign": (None, None, X / (1 + np.abs(X))),
    "Tanh": (None, None, np.tanh(X)),
    "ThresholdedRelu": (0.5, None, [0, 0, 0.5, 3]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_is_its_formula(name):
    alpha, beta, expected = FUNCTIONS[name]
    alphas, betas = ([] if number is None else [number] for number in (alpha, beta))
    (function,) = activation_functions([name.upper()], alphas, betas)
    np.testing.assert_allclose(function(X), expected, rtol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_function_keeps_the_element_type_and_shape(name, dtype):
    (function,) = activation_functions([name], None, None)
    with np.errstate(all="ignore"):
        for x in (X.astype(dtype), np.zeros((0, 2), dtype), np.array([np.nan, np.inf, -np.inf], dtype)):
            assert function(x).dtype == dtype and function(x).shape == x.shape
        assert np.isnan(function(np.array([np.nan], dtype))).all() or name == "ThresholdedRelu"


def test_parameters_are_used_up_by_the_functions_that_take_them():
    functions = activation_functions(["Relu", "Elu", "Affine", "LeakyRelu"], [3.0, 4.0], [5.0])
    assert [(f.alpha, f.beta) for f in functions] == [(0.0, 0.0), (3.0, 0.0), (4.0, 5.0), (0.01, 0.0)]


def test_function_that_does_not_exist_is_refused():
    with pytest.raises(TypeRuleError) as raised:
        activation_functions(["Tanh", "Gelu"], None, None)
    assert str(raised.value) == (
        "activation 'Gelu' does not exist\n  fix: one of Affine Elu HardSigmoid LeakyRelu Relu ScaledTanh Sigmoid "
        "Softplus Softsign Tanh ThresholdedRelu"
    )
