"""Softmax, its logarithm and its limit: one distribution for each line of elements along an axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whorl.ir.op import Op
from whorl.ir.types import AnyShape, Fact, TensorType, tensor
from whorl.ops.base import COMPUTED_FLOATS, normal_axis, require_dtype, widened


@dataclass(frozen=True)
class Distribution(Op, abstract=True):
    """A tensor of the input's type whose lines along `axis` each depend on one line of the input.

    float16 and bfloat16 are computed in float32 and rounded once. Lines of length 0 stay empty.
    """

    axis: int = -1

    def infer(self, x: Fact) -> TensorType:
        type = tensor(x)
        require_dtype(type.dtype, COMPUTED_FLOATS)
        if not isinstance(type.shape, AnyShape):
            normal_axis(self.axis, len(type.shape))
        return type

    def run(self, x: np.ndarray) -> np.ndarray:
        axis = normal_axis(self.axis, x.ndim)
        return self.distribute(widened(x), axis).astype(x.dtype, copy=False)

    def distribute(self, x: np.ndarray, axis: int) -> np.ndarray:
        """The lines of a widened tensor, in its own type."""
        raise TypeError(f"{self.name} does not distribute")


def _below_largest(x: np.ndarray, axis: int) -> np.ndarray:
    return x - np.max(x, axis=axis, keepdims=True, initial=-np.inf)


@dataclass(frozen=True)
class Softmax(Distribution):
    """exp(x - largest) over its sum along an axis; NaN where the largest is infinite. Source: ONNX Softmax-13."""

    def distribute(self, x: np.ndarray, axis: int) -> np.ndarray:
        powers = np.exp(_below_largest(x, axis))
        return powers / np.sum(powers, axis=axis, keepdims=True)


@dataclass(frozen=True)
class LogSoftmax(Distribution):
    """x - largest - log(sum(exp(x - largest))) along an axis. Source: ONNX LogSoftmax-13."""

    def distribute(self, x: np.ndarray, axis: int) -> np.ndarray:
        below = _below_largest(x, axis)
        return below - np.log(np.sum(np.exp(below), axis=axis, keepdims=True))


@dataclass(frozen=True)
class Hardmax(Distribution):
    """1 at the first largest element along an axis (a NaN counts as largest), 0 elsewhere. Source: ONNX Hardmax-13."""

    def distribute(self, x: np.ndarray, axis: int) -> np.ndarray:
        result = np.zeros_like(x)
        if x.size:
            np.put_along_axis(result, np.argmax(x, axis=axis, keepdims=True), 1, axis=axis)
        return result
