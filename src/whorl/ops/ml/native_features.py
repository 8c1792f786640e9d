"""Native forms of feature preparation: selecting, scaling, normalising and filling the columns of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, FLOAT32, FLOAT64, INT32
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, View
from whorl.ops.ml.native_linear import table_view
from whorl.ops.native.index_maps import cast_view, embed_array, flat_element

Column = Callable[[Index], Expr]
"""An element of a row of numbers, for an index whose last axis they follow."""


def column_values(k: NativeBuilder, x: View, values: np.ndarray) -> Column | None:
    """One number for all features, or one each, which the program checks; None where they surely do not fit."""
    if len(values) == 1:
        number = k.const(values[0].item(), values.dtype)
        return lambda index: number
    if not x.shape or (isinstance(x.shape[-1], int) and x.shape[-1] != len(values)):
        return None
    k.fail_unless(k.compare("eq", k.length(x.shape[-1]), k.const(len(values))))
    row = embed_array(k, values)
    return lambda index: row.at(index[-1:])


def scale_columns(k: NativeBuilder, x: View, offset: np.ndarray, scale: np.ndarray) -> View | None:
    """(x - offset) * scale as float32, of float64 in float64."""
    wide = cast_view(k, x, FLOAT64 if x.dtype == FLOAT64 else FLOAT32)
    offsets, scales = (column_values(k, x, values.astype(wide.dtype)) for values in (offset, scale))
    if offsets is None or scales is None:
        return None

    def at(index: Index) -> Expr:
        return k.cast(k.mul(k.sub(wide.at(index), offsets(index)), scales(index)), FLOAT32)

    return k.view(FLOAT32, x.shape, at, x.cost + 5)


def impute(k: NativeBuilder, x: View, values: np.ndarray, replaced: float) -> View:
    """The value of the column where x equals the replaced number; the first value in all columns, where the numbers
    of values and of columns differ."""
    number = None if replaced != replaced else k.const(replaced, x.dtype)
    is_each = k.compare("eq", k.length(x.shape[-1]), k.const(len(values))) if x.shape else k.const(False, BOOL)
    row = embed_array(k, values)

    def at(index: Index) -> Expr:
        element = x.at(index)
        if number is None:
            is_missing = k.apply("isnan", element, dtype=BOOL)
        else:
            is_missing = k.compare("eq", element, number)
        column = k.select(is_each, index[-1], k.const(0)) if index else k.const(0)
        return k.select(is_missing, row.at((column,)), element)

    return k.view(x.dtype, x.shape, at, x.cost + 4)


def exceed(k: NativeBuilder, x: View, threshold: float) -> View:
    """1 where x > threshold, else 0; integers are compared as float64."""
    dtype = x.dtype if x.dtype in (FLOAT32, FLOAT64) else FLOAT64
    limit = k.const(threshold, dtype)
    return k.view(
        x.dtype,
        x.shape,
        lambda index: k.cast(k.compare("gt", k.cast(x.at(index), dtype), limit), x.dtype),
        x.cost + 2,
    )


def normalise_rows(k: NativeBuilder, x: View, norm: str) -> View:
    """Rows over their MAX, L1 or L2 norm as float32, in memory; a row of norm 0 stays. Sums in any order."""
    rows = table_view(k, k.materialise_reread(x))
    result = k.temporary(FLOAT32, rows.shape, "normal")
    zero = k.const(0.0, FLOAT32)

    def element(row: Expr, column: Expr) -> Expr:
        return k.cast(rows.at((row, column)), FLOAT32)

    def square(row: Expr, column: Expr) -> Expr:
        own = rows.at((row, column))
        return k.cast(k.mul(own, own), FLOAT32)

    with k.nest(rows.shape[:1]) as (row,):
        terms = {"MAX": element, "L1": lambda r, c: k.apply("abs", element(r, c)), "L2": square}[norm]
        how, first = ("maximum", -np.inf) if norm == "MAX" else ("sum", 0.0)
        total = k.reduce(
            rows.shape[1:], k.const(first, FLOAT32), lambda acc, at, row=row: k.apply(how, acc, terms(row, at[0]))
        )
        with k.loop(rows.shape[1], parallel=True) as column:
            own = element(row, column)
            if norm == "L2":
                share = k.apply("sqrt", k.div(square(row, column), total))
                is_negative = k.compare("lt", k.apply("bits", own, dtype=INT32), k.const(0, INT32))
                share = k.select(is_negative, k.apply("neg", share), share)
            else:
                share = k.div(own, total)
            k.store(result, (row, column), k.select(k.compare("eq", total, zero), own, share))
    whole = k.view_of(result, rows.shape)
    return whole if len(x.shape) == 2 else k.view(FLOAT32, x.shape, lambda at: whole.at((k.const(0), *at)), 1)


def select_columns(k: NativeBuilder, x: View, indices: View) -> View:
    """x[..., indices] of at least two axes; an index outside ends the program with a failure."""
    indices = k.materialise(k.copy(indices) if k.may_change(indices) else indices)
    x = k.materialise_costly(x)
    count = k.let(k.length(x.shape[-1]))
    chosen = flat_element(k, indices)
    with k.loop(indices.size) as position:
        index = k.let(chosen(position))
        k.fail_unless(k.apply("and", k.compare("ge", index, k.const(0)), k.compare("lt", index, count)))
    before = len(x.shape) - 1
    shape = (*x.shape[:-1], indices.size) if before else (1, indices.size)
    return k.view(x.dtype, shape, lambda at: x.at((*at[:before], chosen(at[-1]))), x.cost + 1)


def line_up(k: NativeBuilder, inputs: Sequence[View], widths: Sequence[Dim]) -> View:
    """Tables side by side as float32, each cut or filled with zeros to its width, in memory."""
    tables = [table_view(k, x) for x in inputs]
    for table in tables[1:]:
        k.fail_unless(k.compare("eq", k.length(table.shape[0]), k.length(tables[0].shape[0])))
    total: Dim = 0
    for width in widths:
        total = total + width
    shape = tables[0].shape[0], total
    result = k.temporary(FLOAT32, shape, "features")
    start: Dim = 0
    for table, width in zip(tables, widths, strict=True):
        first, length = k.let(k.length(start)), k.let(k.length(width))
        is_whole = table.shape[1] == width
        used = length if is_whole else k.let(k.apply("min", length, k.length(table.shape[1])))
        with k.loop(shape[0]) as row:
            with k.loop(used, parallel=True) as column:
                k.store(result, (row, k.add(first, column)), k.cast(table.at((row, column)), FLOAT32))
            if not is_whole:
                with k.loop(k.sub(length, used), parallel=True) as column:
                    k.store(result, (row, k.add(k.add(first, used), column)), k.const(0.0, FLOAT32))
        start = start + width
    return k.view_of(result, shape)
