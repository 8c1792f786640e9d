"""Functions of one real number: exponentials, logarithms, roots, circular and hyperbolic functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from whorl.ir.intervals import Interval, Intervals
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.types import Fact
from whorl.ops.core.base import COMPUTED_FLOATS, Elementwise, widen


class RealFunction(Elementwise, frozen=True):
    """A function of floating-point numbers; float16 and bfloat16 are computed in float32 and rounded once."""

    abstract: ClassVar[bool] = True

    dtypes = COMPUTED_FLOATS
    function: ClassVar[str]
    """The native operation."""

    def scalar(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.apply(self.function, x)


class Exp(RealFunction, frozen=True):
    """e to the power x. Source: ONNX Exp-13."""

    function = "exp"

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.exp(x)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        x = inputs[0]
        return None if x is None else Interval(0.0, math.inf, x.nan)


class Log(RealFunction, frozen=True):
    """The natural logarithm; -inf for 0, NaN below. Source: ONNX Log-13."""

    function = "log"

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.log(x)


class Sqrt(RealFunction, frozen=True):
    """The square root; NaN below 0. Source: ONNX Sqrt-13."""

    function = "sqrt"

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.sqrt(x)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        x = inputs[0]
        return None if x is None else Interval(0.0, math.inf, x.nan or x.low < 0)


class Sin(RealFunction, frozen=True):
    """The sine of an angle in radians. Source: ONNX Sin-22."""

    function = "sin"

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.sin(x)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        x = inputs[0]
        return None if x is None else Interval(-1.0, 1.0, not x.is_finite)


class Cos(RealFunction, frozen=True):
    """The cosine of an angle in radians. Source: ONNX Cos-22."""

    function = "cos"

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.cos(x)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        x = inputs[0]
        return None if x is None else Interval(-1.0, 1.0, not x.is_finite)


class Tan(RealFunction, frozen=True):
    """The tangent of an angle in radians. Source: ONNX Tan-22."""

    function = "tan"

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.tan(x)


class Asin(RealFunction, frozen=True):
    """The angle in radians whose sine is x; NaN outside [-1, 1]. Source: ONNX Asin-22."""

    function = "asin"

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.arcsin(x)


class Acos(RealFunction, frozen=True):
    """The angle in radians whose cosine is x; NaN outside [-1, 1]. Source: ONNX Acos-22."""

    function = "acos"

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.arccos(x)


class Atan(RealFunction, frozen=True):
    """The angle in radians whose tangent is x. Source: ONNX Atan-22."""

    function = "atan"

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.arctan(x)


class Sinh(RealFunction, frozen=True):
    """(e^x - e^-x) / 2. Source: ONNX Sinh-22."""

    function = "sinh"

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.sinh(x)


class Cosh(RealFunction, frozen=True):
    """(e^x + e^-x) / 2. Source: ONNX Cosh-22."""

    function = "cosh"

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.cosh(x)


class Tanh(RealFunction, frozen=True):
    """sinh(x) / cosh(x). Source: ONNX Tanh-13."""

    function = "tanh"

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.tanh(x)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        x = inputs[0]
        return None if x is None else Interval(-1.0, 1.0, x.nan)


class Asinh(RealFunction, frozen=True):
    """The number whose sinh is x. Source: ONNX Asinh-22."""

    function = "asinh"

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.arcsinh(x)


class Acosh(RealFunction, frozen=True):
    """The number whose cosh is x; NaN below 1. Source: ONNX Acosh-22."""

    function = "acosh"

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.arccosh(x)


class Atanh(RealFunction, frozen=True):
    """The number whose tanh is x; NaN outside [-1, 1]. Source: ONNX Atanh-22."""

    function = "atanh"

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.arctanh(x)


class Erf(RealFunction, frozen=True):
    """2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x. Source: ONNX Erf-13."""

    function = "erf"

    def run(self, x: np.ndarray) -> np.ndarray:
        from scipy.special import erf

        return erf(widen(x)).astype(x.dtype, copy=False)
