"""Determinants of matrices: by NumPy, and in native code by elimination with row pivots in memory for one matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ir.dtypes import FLOAT32, FLOAT64, INT64
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Buffer, Expr
from whorl.ir.native.view import Operands, View
from whorl.ir.types import AnyShape, Fact, TensorType, tensor
from whorl.ops.core.base import COMPUTED_FLOATS, check_types, require_dtype, widen
from whorl.ops.core.pieces import LARGE, determinants
from whorl.ops.native.index_maps import cast_view, widen_view

FEW = 7
"""Numbers of float32 whose product is surely within float64."""


class Det(Op, frozen=True):
    """The determinant of each matrix; 1 for an empty one. Source: ONNX Det-22.

    Shapes: [*, M, M] to [*]. float16 and bfloat16 are computed in float32 and rounded once.
    """

    any_length = never_fails = True

    def infer(self, x: Fact) -> TensorType:
        type = tensor(x)
        require_dtype(type.dtype, COMPUTED_FLOATS)
        if isinstance(type.shape, AnyShape):
            return type
        if len(type.shape) < 2 or dims.differ(*type.shape[-2:]):
            raise TypeRuleError(f"shape {list(type.shape)} does not end in a square matrix")
        return type.with_shape(type.shape[:-2])

    def run(self, x: np.ndarray) -> np.ndarray:
        check_types(self, x)
        return np.asarray(determinants(widen(x))).astype(x.dtype, copy=False)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x = inputs[0]
        size = x.shape[-1]
        if not isinstance(size, int) or x.shape[-2] != size or size >= LARGE:
            return None
        return [cast_view(k, determinants_view(k, widen_view(k, x), size), x.dtype)]


def determinants_view(k: NativeBuilder, x: View, size: int) -> View:
    """The determinants of matrices [*, size, size].

    As in NumPy they are a sign and a sum of logarithms first, so that no product of pivots overflows on the way; few
    pivots of float32 are multiplied in float64.
    """
    outer = x.shape[:-2]
    matrix, result = k.temporary(x.dtype, (size, size), "matrix"), k.temporary(x.dtype, outer, "det")
    k.reserve(result, outer) if result.grows else None
    with k.nest(outer, parallel=False) as index:
        with k.nest((size, size)) as cell:
            k.store(matrix, cell, x.at((*index, *cell)))
        k.store(result, index, k.cast(_eliminate(k, matrix, size), x.dtype))
    return k.view_of(result, outer)


def _eliminate(k: NativeBuilder, a: Buffer, size: int) -> Expr:
    """The determinant of a matrix, which is overwritten; 0 where a column has no pivot."""
    is_product = a.dtype == FLOAT32 and size <= FEW
    sign, total = (k.variable(FLOAT64, hint, once=False) for hint in ("sign", "total"))
    zero, one = k.const(0.0, FLOAT64), k.const(1.0, FLOAT64)
    k.assign(sign, one)
    k.assign(total, one if is_product else zero)
    with k.loop(size) as c:
        left = k.sub(k.const(size - 1), c)
        pivot = _find_pivot(k, a, c, left)
        with k.when(k.compare("ne", pivot, c)):
            k.assign(sign, k.sub(zero, sign))
            _swap_rows(k, a, size, c, pivot)
        head = k.let(k.load(a, (c, c)))
        wide = k.let(k.cast(head, FLOAT64))
        turned = k.select(k.compare("lt", wide, zero), k.sub(zero, sign), sign)
        k.assign(sign, k.select(k.compare("eq", wide, zero), zero, turned))
        height = k.apply("abs", wide)
        k.assign(total, k.mul(total, height) if is_product else k.add(total, k.apply("log", height)))
        with k.when(k.compare("ne", wide, zero)), k.loop(left) as r:
            row = k.add(k.add(c, r), k.const(1))
            factor = k.let(k.div(k.load(a, (row, c)), head))
            with k.loop(left, parallel=True) as j:
                column = k.add(k.add(c, j), k.const(1))
                moved = k.mul(factor, k.load(a, (c, column)))
                k.store(a, (row, column), k.sub(k.load(a, (row, column)), moved))
    return k.mul(sign, total if is_product else k.apply("exp", total))


def _find_pivot(k: NativeBuilder, a: Buffer, c: Expr, left: Expr) -> Expr:
    """The row from `c` on with the largest element of a column, the first of equal ones."""
    pivot, best = k.variable(INT64, "pivot", once=False), k.variable(a.dtype, "best", once=False)
    k.assign(pivot, c)
    k.assign(best, k.apply("abs", k.load(a, (c, c))))
    with k.loop(left) as r:
        row = k.add(k.add(c, r), k.const(1))
        element = k.let(k.apply("abs", k.load(a, (row, c))))
        with k.when(k.compare("gt", element, best)):
            k.assign(pivot, row)
            k.assign(best, element)
    return pivot


def _swap_rows(k: NativeBuilder, a: Buffer, size: int, first: Expr, second: Expr) -> None:
    with k.loop(size) as j:
        x, y = k.let(k.load(a, (first, j))), k.let(k.load(a, (second, j)))
        k.store(a, (first, j), y)
        k.store(a, (second, j), x)
