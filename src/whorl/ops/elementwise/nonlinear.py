"""Activation functions: rectifiers, their smooth relatives, and gates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dtypes import FLOAT64, SIGNED, single
from whorl.ir.intervals import Interval, Intervals
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.types import AnyShape, Fact, TensorType, tensor
from whorl.ops.core.base import (
    COMPUTED_FLOATS,
    Elementwise,
    accumulator,
    broadcast_shapes,
    larger,
    require_dtype,
    same_dtype,
    widen,
)
from whorl.ops.elementwise.arithmetic import NUMBERS, WHOLE
from whorl.ops.elementwise.conversion import to_integer


class Activation(Elementwise, frozen=True):
    """A function of one number; float16 and bfloat16 are computed in float32 and rounded once."""

    abstract: ClassVar[bool] = True

    dtypes = COMPUTED_FLOATS

    def run(self, x: np.ndarray) -> np.ndarray:
        return self.apply(widen(x)).astype(x.dtype, copy=False)

    def apply(self, x: np.ndarray) -> np.ndarray:
        """The function of float32 or float64 numbers."""
        raise TypeError(f"{self.name} does not say its function")

    def scalar(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.cast(self.formula(k, k.cast(x, accumulator(x.dtype))), x.dtype)

    def formula(self, k: NativeBuilder, x: Expr) -> Expr:
        """The function of a float32 or float64 element, in native operations."""
        raise TypeError(f"{self.name} does not say its native form")


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + e^-x)."""
    return 1 / (1 + np.exp(-x))


def _softplus(k: NativeBuilder, x: Expr) -> Expr:
    """log(1 + e^x) as max(x, 0) + log(1 + e^-|x|), in native operations."""
    decay = k.apply("exp", k.apply("neg", k.apply("abs", x)))
    return k.add(k.apply("max", x, k.const(0, x.dtype)), k.apply("log1p", decay))


class Relu(Elementwise, frozen=True):
    """max(x, 0); NaN stays. Source: ONNX Relu-14."""

    dtypes = (SIGNED & WHOLE) | COMPUTED_FLOATS

    def run(self, x: np.ndarray) -> np.ndarray:
        return larger(x, 0)

    def scalar(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.apply("max", x, k.const(0, x.dtype))

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        x = inputs[0]
        return None if x is None else Interval(max(x.low, 0), max(x.high, 0), x.nan)

    def selected_operand(self, inputs: Intervals, operands: Sequence[Fact | None]) -> int | None:
        return 0 if inputs[0] is not None and inputs[0].has_no_sign else None


class LeakyRelu(Activation, frozen=True):
    """x where x >= 0, else alpha * x. Source: ONNX LeakyRelu-16."""

    alpha: float = single(0.01)

    def apply(self, x: np.ndarray) -> np.ndarray:
        return np.where(x >= 0, x, self.alpha * x)

    def formula(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.select(k.compare("ge", x, k.const(0, x.dtype)), x, k.mul(k.const(self.alpha, x.dtype), x))


class PRelu(Elementwise, frozen=True):
    """x where x >= 0, else slope * x. Shapes: the slope broadcasts to x. Source: ONNX PRelu-16."""

    dtypes = NUMBERS

    def infer(self, x: Fact, slope: Fact) -> TensorType:
        require_dtype(same_dtype(x, slope), self.dtypes)
        shape, broadcast = tensor(x).shape, broadcast_shapes(tensor(slope).shape, tensor(x).shape)
        if isinstance(broadcast, AnyShape) or isinstance(shape, AnyShape):
            return tensor(x)
        if len(broadcast) > len(shape) or any(map(dims.differ, broadcast, shape)):
            raise TypeRuleError(f"the slope is {slope.type}, which does not broadcast to {x.type}")
        return tensor(x)

    def run(self, x: np.ndarray, slope: np.ndarray) -> np.ndarray:
        result = np.where(x < 0, slope * x, x)
        if result.shape != x.shape:
            raise RunError(f"the slope of shape {list(slope.shape)} does not broadcast to {list(x.shape)}")
        return result

    def scalar(self, k: NativeBuilder, x: Expr, slope: Expr) -> Expr:
        return k.select(k.compare("lt", x, k.const(0, x.dtype)), k.mul(slope, x), x)


class ThresholdedRelu(Activation, frozen=True):
    """x where x > alpha, else 0. Source: ONNX ThresholdedRelu-22."""

    alpha: float = 1.0

    def apply(self, x: np.ndarray) -> np.ndarray:
        return np.where(x > self.alpha, x, 0)

    def formula(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.select(k.compare("gt", x, k.const(self.alpha, x.dtype)), x, k.const(0, x.dtype))


class Elu(Activation, frozen=True):
    """x where x >= 0, else alpha * (e^x - 1). Source: ONNX Elu-22."""

    alpha: float = 1.0

    def apply(self, x: np.ndarray) -> np.ndarray:
        return np.where(x < 0, self.alpha * np.expm1(x), x)

    def formula(self, k: NativeBuilder, x: Expr) -> Expr:
        less = k.mul(k.const(self.alpha, x.dtype), k.apply("expm1", x))
        return k.select(k.compare("lt", x, k.const(0, x.dtype)), less, x)


class Celu(Activation, frozen=True):
    """max(0, x) + min(0, alpha * (e^(x / alpha) - 1)). Source: ONNX Celu-28."""

    alpha: float = 1.0

    def apply(self, x: np.ndarray) -> np.ndarray:
        return np.maximum(x, 0) + np.minimum(self.alpha * np.expm1(x / self.alpha), 0)

    def formula(self, k: NativeBuilder, x: Expr) -> Expr:
        zero, alpha = k.const(0, x.dtype), k.const(self.alpha, x.dtype)
        less = k.mul(alpha, k.apply("expm1", k.div(x, alpha)))
        return k.add(k.apply("max", x, zero), k.apply("min", less, zero))


class Selu(Activation, frozen=True):
    """gamma * x where x > 0, else gamma * alpha * (e^x - 1). Source: ONNX Selu-22."""

    alpha: float = 1.67326319217681884765625
    gamma: float = 1.05070102214813232421875

    def apply(self, x: np.ndarray) -> np.ndarray:
        return self.gamma * np.where(x <= 0, self.alpha * np.expm1(x), x)

    def formula(self, k: NativeBuilder, x: Expr) -> Expr:
        less = k.mul(k.const(self.alpha, x.dtype), k.apply("expm1", x))
        return k.mul(k.const(self.gamma, x.dtype), k.select(k.compare("le", x, k.const(0, x.dtype)), less, x))


class HardSigmoid(Activation, frozen=True):
    """max(0, min(1, alpha * x + beta)). Source: ONNX HardSigmoid-22."""

    alpha: float = single(0.2)
    beta: float = 0.5

    def apply(self, x: np.ndarray) -> np.ndarray:
        return np.maximum(np.minimum(self.alpha * x + self.beta, 1), 0)

    def formula(self, k: NativeBuilder, x: Expr) -> Expr:
        line = k.add(k.mul(k.const(self.alpha, x.dtype), x), k.const(self.beta, x.dtype))
        return k.apply("max", k.apply("min", line, k.const(1, x.dtype)), k.const(0, x.dtype))


class HardSwish(Activation, frozen=True):
    """x * max(0, min(1, x / 6 + 1/2)). Source: ONNX HardSwish-22."""

    def apply(self, x: np.ndarray) -> np.ndarray:
        return x * np.maximum(np.minimum(x / 6 + 0.5, 1), 0)

    def formula(self, k: NativeBuilder, x: Expr) -> Expr:
        line = k.add(k.div(x, k.const(6, x.dtype)), k.const(0.5, x.dtype))
        return k.mul(x, k.apply("max", k.apply("min", line, k.const(1, x.dtype)), k.const(0, x.dtype)))


class Shrink(Elementwise, frozen=True):
    """x + bias where x < -lambd, x - bias where x > lambd, else 0. Source: ONNX Shrink-9."""

    bias: float = 0.0
    lambd: float = 0.5
    dtypes = NUMBERS

    def run(self, x: np.ndarray) -> np.ndarray:
        wide = x.astype(FLOAT64) if x.dtype in WHOLE else widen(x)
        shrunk = np.where(wide < -self.lambd, wide + self.bias, np.where(wide > self.lambd, wide - self.bias, 0))
        return to_integer(shrunk, x.dtype) if x.dtype in WHOLE else shrunk.astype(x.dtype, copy=False)

    def scalar(self, k: NativeBuilder, x: Expr) -> Expr:
        wide = k.cast(x, FLOAT64 if x.dtype in WHOLE else accumulator(x.dtype))
        bias, low, high = (k.const(n, wide.dtype) for n in (self.bias, -self.lambd, self.lambd))
        above = k.select(k.compare("gt", wide, high), k.sub(wide, bias), k.const(0, wide.dtype))
        return k.cast(k.select(k.compare("lt", wide, low), k.add(wide, bias), above), x.dtype)


class Sigmoid(Activation, frozen=True):
    """1 / (1 + e^-x). Source: ONNX Sigmoid-13."""

    def apply(self, x: np.ndarray) -> np.ndarray:
        return sigmoid(x)

    def formula(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.apply("sigmoid", x)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        x = inputs[0]
        return None if x is None else Interval(0.0, 1.0, x.nan or not x.is_finite)


class Softplus(Activation, frozen=True):
    """log(1 + e^x), without overflow. Source: ONNX Softplus-22."""

    def apply(self, x: np.ndarray) -> np.ndarray:
        return np.logaddexp(x, 0)

    def formula(self, k: NativeBuilder, x: Expr) -> Expr:
        return _softplus(k, x)


class Softsign(Activation, frozen=True):
    """x / (1 + |x|). Source: ONNX Softsign-22."""

    def apply(self, x: np.ndarray) -> np.ndarray:
        return x / (1 + np.abs(x))

    def formula(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.div(x, k.add(k.const(1, x.dtype), k.apply("abs", x)))


class Mish(Activation, frozen=True):
    """x * tanh(log(1 + e^x)). Source: ONNX Mish-22."""

    def apply(self, x: np.ndarray) -> np.ndarray:
        return x * np.tanh(np.logaddexp(x, 0))

    def formula(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.mul(x, k.apply("tanh", _softplus(k, x)))


class Gelu(Activation, frozen=True):
    """x times the normal distribution function of x.

    `approximate="tanh"`: x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))). Source: ONNX Gelu-20.
    """

    approximate: str = "none"

    def infer(self, *inputs: Fact | None) -> TensorType:
        if self.approximate not in ("none", "tanh"):
            raise TypeRuleError(f"approximate {self.approximate!r} does not exist", fix="none or tanh")
        return super().infer(*inputs)

    def apply(self, x: np.ndarray) -> np.ndarray:
        if self.approximate == "tanh":
            return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
        from scipy.special import erfc

        return 0.5 * x * erfc(-math.sqrt(0.5) * x)

    def formula(self, k: NativeBuilder, x: Expr) -> Expr:
        half = k.mul(k.const(0.5, x.dtype), x)
        if self.approximate == "tanh":
            cube = k.mul(k.mul(k.mul(k.const(0.044715, x.dtype), x), x), x)
            angle = k.mul(k.const(math.sqrt(2 / math.pi), x.dtype), k.add(x, cube))
            return k.mul(half, k.add(k.const(1, x.dtype), k.apply("tanh", angle)))
        return k.mul(half, k.apply("erfc", k.mul(k.const(-math.sqrt(0.5), x.dtype), x)))


class Swish(Activation, frozen=True):
    """x * sigmoid(alpha * x). Source: ONNX Swish-24."""

    alpha: float = 1.0

    def apply(self, x: np.ndarray) -> np.ndarray:
        return x * sigmoid(self.alpha * x)

    def formula(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.mul(x, k.apply("sigmoid", k.mul(k.const(self.alpha, x.dtype), x)))


class SwiGLU(Elementwise, frozen=True):
    """gate * sigmoid(alpha * gate) * value. Shapes: both are equal, nothing broadcasts. Source: ONNX SwiGLU-28."""

    alpha: float = 1.0
    dtypes = COMPUTED_FLOATS

    def infer(self, gate: Fact, value: Fact) -> TensorType:
        require_dtype(same_dtype(gate, value), self.dtypes)
        a, b = tensor(gate), tensor(value)
        if isinstance(a.shape, AnyShape) or isinstance(b.shape, AnyShape):
            return a if isinstance(b.shape, AnyShape) else b
        if len(a.shape) != len(b.shape) or any(dims.differ(x, y) for x, y in zip(a.shape, b.shape, strict=True)):
            raise TypeRuleError(f"the gate is {a}, the value {b}, expected equal shapes")
        return a.with_shape(tuple(y if isinstance(y, int) else x for x, y in zip(a.shape, b.shape, strict=True)))

    def run(self, gate: np.ndarray, value: np.ndarray) -> np.ndarray:
        if gate.shape != value.shape:
            raise RunError(f"the shapes {list(gate.shape)} of the gate and {list(value.shape)} of the value differ")
        wide = widen(gate)
        return (wide * sigmoid(self.alpha * wide) * widen(value)).astype(gate.dtype, copy=False)

    def scalar(self, k: NativeBuilder, gate: Expr, value: Expr) -> Expr:
        wide, factor = (k.cast(x, accumulator(x.dtype)) for x in (gate, value))
        opened = k.mul(wide, k.apply("sigmoid", k.mul(k.const(self.alpha, wide.dtype), wide)))
        return k.cast(k.mul(opened, factor), gate.dtype)
