"""Activation functions that recurrent ops name, and how their parameters are handed out."""

import numpy as np

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
