"""Native form of linear models: a product with fixed coefficients, and what it says of classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.ir.dims import Dim
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, View
from whorl.kernels.product.layout import pack_matrix, panel_width
from whorl.ops.linear.native_products import multiply_views
from whorl.ops.ml.native_scores import Chosen, both_classes, first_largest, transform_rows
from whorl.ops.native.index_maps import cast_view, embed_array

_NARROW = 4
"""Columns up to which a product sums along rows."""


def table_view(k: NativeBuilder, x: View) -> View:
    """The tensor as rows of features."""
    if len(x.shape) == 2:
        return x
    return k.view(x.dtype, (1, *x.shape), lambda index: x.at(index[1:]), x.cost, k.flat(x))


def float_rows(k: NativeBuilder, x: View, features: int) -> View | None:
    """Rows of so many features as float32, which the program checks; None where there surely are others."""
    rows = table_view(k, x)
    if isinstance(rows.shape[1], int) and rows.shape[1] != features:
        return None
    k.fail_unless(k.compare("eq", k.length(rows.shape[1]), k.const(features)))
    return cast_view(k, k.view(rows.dtype, (rows.shape[0], features), rows.at, rows.cost, k.flat(rows)), FLOAT32)


def multiply_fixed(k: NativeBuilder, rows: View, matrix: np.ndarray) -> View:
    """rows @ matrix, for a matrix that is the same in every run."""
    inner, columns = matrix.shape
    if columns <= _NARROW:
        turned = embed_array(k, np.ascontiguousarray(matrix.T))
        return multiply_views(k, rows, k.view(matrix.dtype, matrix.shape, lambda at: turned.at(at[::-1]), 1))
    width = panel_width(rows.shape[0] if isinstance(rows.shape[0], int) else 1, matrix.dtype)
    panels = embed_array(k, pack_matrix(np.ascontiguousarray(matrix), width))
    return multiply_views(k, rows, k.view(matrix.dtype, (inner, columns), _no_element, 0), panels)


def _no_element(index: Index) -> Expr:
    raise TypeError("a matrix in panels has no elements of its own")


def add_row(k: NativeBuilder, scores: View, row: Sequence[float]) -> View:
    """The scores with a float32 added to each column."""
    numbers = embed_array(k, np.array(row, np.float32))
    return k.view(scores.dtype, scores.shape, lambda at: k.add(scores.at(at), numbers.at(at[1:])), scores.cost + 2)


def transform_view(k: NativeBuilder, scores: View, kind: str) -> View:
    """The post transform of rows of scores."""
    rows, columns = scores.shape
    if kind == "NONE" or (columns == 1 and kind != "PROBIT"):
        return scores
    buffer = k.temporary(scores.dtype, (rows, columns))
    k.fill(buffer, scores)
    transform_rows(k, buffer, (rows, columns), kind)
    return k.view_of(buffer, scores.shape)


def choose_largest(
    k: NativeBuilder, scores: View, labels: np.ndarray, least: float | None = None, reaches: bool = False
) -> View:
    """The label of the first of the largest scores in each row; of two classes the second one, where any score is
    above `least`, or also where it `reaches` that."""
    rows, columns = scores.shape
    assert isinstance(columns, int)
    chosen = Chosen.of_rows(k, rows)
    with k.nest((rows,)) as (row,):
        index = first_largest(k, columns, lambda column, row=row: scores.at((row, column)), scores.dtype)
        if least is not None:
            best = k.apply("max", *(scores.at((row, k.const(n))) for n in (0, 1)))
            is_second = k.compare("ge" if reaches else "gt", best, k.const(least, scores.dtype))
            index = k.select(is_second, k.const(1), index)
        k.store(chosen.buffer, (row,), index)
    return chosen.labels(k, labels)


def choose_by_sign(k: NativeBuilder, scores: View, labels: np.ndarray) -> View:
    """The second label where the only score of a row is above 0, else the first."""
    first, second = (k.const(int(label)) for label in labels)
    zero = k.const(0.0, scores.dtype)

    def at(index: Index) -> Expr:
        return k.select(k.compare("gt", scores.at((*index, k.const(0))), zero), second, first)

    return k.view(INT64, scores.shape[:1], at, scores.cost + 2)


def both_columns(k: NativeBuilder, score: View, kind: str, opposite: bool) -> View:
    """The scores of two classes from that of the second, which is the only column."""
    rows: Dim = score.shape[0]
    pair = k.temporary(score.dtype, (rows, 2), "pair")
    with k.nest((rows,)) as (row,):
        for n, value in enumerate(both_classes(k, k.let(score.at((row, k.const(0)))), kind, opposite)):
            k.store(pair, (row, k.const(n)), value)
    return k.view_of(pair, (rows, 2))
