"""The activation functions that RNN, GRU and LSTM may name, and how their parameters are handed out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from whorl.errors import TypeRuleError


def _affine(x: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    return alpha * x + beta


def _relu(x: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    return np.maximum(x, 0)


def _leaky_relu(x: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    return np.where(x >= 0, x, alpha * x)


def _thresholded_relu(x: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    return np.where(x >= alpha, x, np.zeros_like(x))


def _tanh(x: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    return np.tanh(x)


def _scaled_tanh(x: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    return alpha * np.tanh(beta * x)


def _sigmoid(x: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _hard_sigmoid(x: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    return np.clip(alpha * x + beta, 0, 1)


def _elu(x: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    return np.where(x >= 0, x, alpha * np.expm1(x))


def _softsign(x: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    return x / (1 + np.abs(x))


def _softplus(x: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    return np.logaddexp(x, 0)


_FUNCTIONS: dict[str, tuple[Callable[[np.ndarray, float, float], np.ndarray], float | None, float | None]] = {
    "affine": (_affine, 1.0, 0.0),
    "elu": (_elu, 1.0, None),
    "hardsigmoid": (_hard_sigmoid, 0.2, 0.5),
    "leakyrelu": (_leaky_relu, 0.01, None),
    "relu": (_relu, None, None),
    "scaledtanh": (_scaled_tanh, 1.0, 1.0),
    "sigmoid": (_sigmoid, None, None),
    "softplus": (_softplus, None, None),
    "softsign": (_softsign, None, None),
    "tanh": (_tanh, None, None),
    "thresholdedrelu": (_thresholded_relu, 1.0, None),
}
"""Function of (x, alpha, beta), and the default of each parameter; None where the function takes none."""


class Activation(Struct, frozen=True):
    """A function by its name in lower case, with its parameters; 0 for one that it does not take."""

    name: str
    alpha: float
    beta: float

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return _FUNCTIONS[self.name][0](x, self.alpha, self.beta)


def activation_functions(
    names: Sequence[str], alphas: Sequence[float] | None, betas: Sequence[float] | None
) -> list[Activation]:
    """The functions a list names, in any letter case.

    Each function that takes an alpha (a beta) uses up the next one of the list, or its default once the list has ended.
    """
    left_alphas, left_betas = list(alphas or ()), list(betas or ())
    result: list[Activation] = []
    for name in names:
        if name.lower() not in _FUNCTIONS:
            known = "Affine Elu HardSigmoid LeakyRelu Relu ScaledTanh Sigmoid Softplus Softsign Tanh ThresholdedRelu"
            raise TypeRuleError(f"activation {name!r} does not exist", fix=f"one of {known}")
        _, alpha, beta = _FUNCTIONS[name.lower()]
        result.append(Activation(name.lower(), _next(left_alphas, alpha), _next(left_betas, beta)))
    return result


def _next(left: list[float], default: float | None) -> float:
    if default is None:
        return 0.0
    return left.pop(0) if left else default
