"""Logarithms of sums along axes."""

from __future__ import annotations

import numpy as np

from whorl.ir.dims import Dim
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import View
from whorl.ops.core.base import COMPUTED_FLOATS
from whorl.ops.native.index_maps import reshape_view
from whorl.ops.reduce.native_reductions import map_elements, reduce_view, reduced_shape
from whorl.ops.reduce.reductions import Reduction, total_of


class ReduceLogSum(Reduction, frozen=True):
    """The logarithm of the sum along axes; -inf for no elements. Source: ONNX ReduceLogSum-28."""

    dtypes = COMPUTED_FLOATS

    def reduce(self, data: np.ndarray, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
        return np.log(total_of(data, axes, keepdims))

    def after(self, k: NativeBuilder, total: Expr, count: Dim) -> Expr:
        return k.apply("log", total)


class ReduceLogSumExp(Reduction, frozen=True):
    """The logarithm of the sum of exponentials along axes; -inf for no elements. Source: ONNX ReduceLogSumExp-28.

    The largest element is taken out first, so that a result in range never overflows on the way.
    """

    dtypes = COMPUTED_FLOATS

    def reduce(self, data: np.ndarray, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
        largest = np.maximum.reduce(data, axis=axes, keepdims=True, initial=-np.inf)
        shift = np.where(np.isfinite(largest), largest, data.dtype.type(0))
        result = np.log(total_of(np.exp(data - shift), axes, True)) + shift
        return result if keepdims else np.squeeze(result, axis=axes)

    def total(self, k: NativeBuilder, data: View, axes: tuple[int, ...]) -> View:
        x, zero, infinite = k.materialise_reread(data), k.const(0, data.dtype), k.const(np.inf, data.dtype)

        def finite(largest: Expr) -> Expr:
            return k.select(k.compare("lt", k.apply("abs", largest), infinite), largest, zero)

        shift = reduce_view(k, x, axes, "max", finish=finite)
        powers = map_elements(k, lambda v, s: k.apply("exp", k.sub(v, s)), x, shift, cost=16)
        total = reduce_view(k, powers, axes, "sum")
        result = k.materialise(map_elements(k, lambda t, s: k.add(k.apply("log", t), s), total, shift, cost=16))
        return reshape_view(k, result, reduced_shape(data.shape, axes, bool(self.keepdims)))
