"""Softmax, its logarithm and its limit: one distribution for each line of elements along an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from whorl.ir import dims
from whorl.ir.graph import Op
from whorl.ir.intervals import Interval, Intervals
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, Operands, View
from whorl.ir.types import AnyShape, Fact, TensorType, tensor
from whorl.ops.core.base import COMPUTED_FLOATS, normal_axis, require_dtype, widen
from whorl.ops.native.index_maps import cast_view, widen_view
from whorl.ops.reduce.native_reductions import find_extremes, map_elements, reduce_view

SHORTEST, LONGEST = 16, 4096
"""Elements of a line that make whole vectors, and that one core computes as soon as it could ask another one."""
FEW = 8
"""Lines from which every core has some."""


class Distribution(Op, frozen=True):
    """A tensor of the input's type whose lines along `axis` each depend on one line of the input.

    float16 and bfloat16 are computed in float32 and rounded once. Lines of length 0 stay empty.
    """

    abstract: ClassVar[bool] = True

    any_length = True
    never_fails = True

    axis: int = -1

    def infer(self, x: Fact) -> TensorType:
        type = tensor(x)
        require_dtype(type.dtype, COMPUTED_FLOATS)
        if not isinstance(type.shape, AnyShape):
            normal_axis(self.axis, len(type.shape))
        return type

    def run(self, x: np.ndarray) -> np.ndarray:
        axis = normal_axis(self.axis, x.ndim)
        return self.distribute(widen(x), axis).astype(x.dtype, copy=False)

    def distribute(self, x: np.ndarray, axis: int) -> np.ndarray:
        """The lines of a widened tensor, in its own type."""
        raise TypeError(f"{self.name} does not distribute")

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (x,) = inputs
        if not x.size:
            return [x]
        return [cast_view(k, self.lines(k, k.materialise_reread(widen_view(k, x)), self.axis % len(x.shape)), x.dtype)]

    def lines(self, k: NativeBuilder, x: View, axis: int) -> View:
        """Native form for a widened tensor with elements, which is cheap to read."""
        raise TypeError(f"{self.name} has no lines")


def _below_largest(x: np.ndarray, axis: int) -> np.ndarray:
    return x - np.max(x, axis=axis, keepdims=True, initial=-np.inf)


def _native_below_largest(k: NativeBuilder, x: View, axis: int) -> View:
    return map_elements(k, k.sub, x, reduce_view(k, x, (axis,), "max"))


def _suits_one_core(x: View, axis: int) -> bool:
    """Whether lines lie in memory, are long enough for vectors, and not so few and long that cores share one."""
    length, lines = x.shape[-1], dims.product(x.shape[:-1])
    if axis < len(x.shape) - 1 or (isinstance(length, int) and length < SHORTEST):
        return False
    return not isinstance(lines, int) or lines >= FEW or (isinstance(length, int) and length <= LONGEST)


def _least(dtype: np.dtype) -> float:
    """The least number whose power is normal: arithmetic on those below takes a hundred times as long."""
    return float(np.log(np.finfo(dtype).tiny))


class Softmax(Distribution, frozen=True):
    """exp(x - largest) over its sum along an axis; NaN where the largest is infinite. Source: ONNX Softmax-13.

    Powers below the least normal number, as a mask of -100 makes them, are 0.
    """

    def distribute(self, x: np.ndarray, axis: int) -> np.ndarray:
        below = _below_largest(x, axis)
        powers = np.where(below < _least(x.dtype), x.dtype.type(0), np.exp(below))
        return powers / np.sum(powers, axis=axis, keepdims=True)

    def lines(self, k: NativeBuilder, x: View, axis: int) -> View:
        if _suits_one_core(x, axis):
            return self._line_by_line(k, x)
        powers = k.materialise(map_elements(k, lambda v: _power(k, v), _native_below_largest(k, x, axis), cost=16))
        return map_elements(k, k.div, powers, reduce_view(k, powers, (axis,), "sum"), cost=4)

    def _line_by_line(self, k: NativeBuilder, x: View) -> View:
        """Along the last axis: `for lines: largest; powers = exp(x - largest); total; powers / total`.

        So a line stays in the fastest memory until it is done.
        """
        result, length = k.temporary(x.dtype, x.shape), x.shape[-1]
        with k.nest(x.shape[:-1]) as line:

            def total_of(how: str, first: float, element: Callable[[Index], Expr]) -> Expr:
                start = k.const(first, x.dtype)
                return k.reduce([length], start, lambda total, inner: k.apply(how, total, element((*line, *inner))))

            largest = total_of("maximum", -np.inf, x.at)
            with k.loop(length, parallel=True) as inner:
                k.store(result, (*line, inner), _power(k, k.sub(x.at((*line, inner)), largest)))
            total = total_of("sum", 0.0, lambda index: k.load(result, index))
            with k.loop(length, parallel=True) as inner:
                k.store(result, (*line, inner), k.div(k.load(result, (*line, inner)), total))
        return k.view_of(result, x.shape)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        x = inputs[0]
        return None if x is None else Interval(0.0, 1.0, x.nan or not x.is_finite)


def _power(k: NativeBuilder, below: Expr) -> Expr:
    """exp, or 0 for a power that would not be normal."""
    x, least = k.let(below), k.const(_least(below.dtype), below.dtype)
    is_small = k.let(k.compare("lt", x, least))
    return k.select(is_small, k.const(0, x.dtype), k.apply("exp", k.select(is_small, least, x)))


class LogSoftmax(Distribution, frozen=True):
    """x - largest - log(sum(exp(x - largest))) along an axis. Source: ONNX LogSoftmax-13."""

    def distribute(self, x: np.ndarray, axis: int) -> np.ndarray:
        below = _below_largest(x, axis)
        return below - np.log(np.sum(np.exp(below), axis=axis, keepdims=True))

    def lines(self, k: NativeBuilder, x: View, axis: int) -> View:
        below = k.materialise_reread(_native_below_largest(k, x, axis))
        powers = map_elements(k, lambda v: k.apply("exp", v), below, cost=16)
        return map_elements(k, k.sub, below, reduce_view(k, powers, (axis,), "sum", finish=lambda t: k.apply("log", t)))


class Hardmax(Distribution, frozen=True):
    """1 at the first largest element along an axis (a NaN counts as largest), 0 elsewhere. Source: ONNX Hardmax-13."""

    def distribute(self, x: np.ndarray, axis: int) -> np.ndarray:
        result = np.zeros_like(x)
        if x.size:
            np.put_along_axis(result, np.argmax(x, axis=axis, keepdims=True), 1, axis=axis)
        return result

    def lines(self, k: NativeBuilder, x: View, axis: int) -> View:
        winners, one, zero = find_extremes(k, x, axis, largest=True), k.const(1, x.dtype), k.const(0, x.dtype)

        def at(index: Index) -> Expr:
            return k.select(k.compare("eq", k.broadcast_element(winners, index), index[axis]), one, zero)

        return k.view(x.dtype, x.shape, at, 3)
