"""Native forms of matrix products, on the views that a kernel builder `k` makes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.ir import dims
from whorl.ir.dims import Dim
from whorl.ir.dtypes import FLOAT32, FLOAT64, INT32, INT64, is_float
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Buffer, Expr
from whorl.ir.native.view import Index, View
from whorl.kernels.aligned import CACHE_LINE
from whorl.kernels.machine import FEW_ROWS
from whorl.kernels.product.layout import panel_width
from whorl.ops.native.index_maps import (
    all_fixed,
    broadcast_scalar,
    cast_view,
    is_larger,
    ravel_index,
    require_lengths,
    reshape_view,
    widen_view,
)

SMALL = 512
"""Multiplications up to which a product is written out as loops."""
_NARROW_BYTES = 32
"""Columns up to which loops over the rows of a matrix have too little to do at once."""
_NARROW_COLUMNS = 4
"""Columns up to which a product of matrices of any lengths has too little to do at once, unless it has many rows."""
_MANY_ROWS = 32
"""Rows from which panels are worth filling."""
_TILE = 12
"""Rows that keep the registers of the widest machines busy."""
_LEAST_BLOCK, _MOST_BLOCK, _NEAR_BYTES = 24, 144, 1 << 19
"""Bounds of the rows of a block, and of the memory that they take."""


def multiply_views(k: NativeBuilder, a: View, b: View, panels: View | None = None) -> View:
    """The matrix product of two views, in memory; any ranks from 1, broadcast before the last two axes.

    Sums of float16 and bfloat16 are float32 and rounded once. `panels` is b, a matrix, in panels. Error bound
    of an element: K * eps * sum |a| |b|; integers wrap. Panels of int32 are words of bytes (`byte_products`).
    """
    dtype = a.dtype
    a, b = widen_view(k, a), widen_view(k, b)
    shape = product_lengths(a.shape, b.shape)
    inner = a.shape[-1]
    require_lengths(k, b.shape[-2:][:1], (inner,))
    for operand in (a, b):
        k.require_broadcast(operand.shape[:-2], _batch(a.shape, b.shape))
    if not dims.product(shape) or not inner:
        return broadcast_scalar(k, k.const(0, dtype), shape)
    left = a.shape if len(a.shape) > 1 else (1, inner)
    right = b.shape if len(b.shape) > 1 else (inner, 1)
    a, b = reshape_view(k, a, left), reshape_view(k, b, right)
    if len(right) == 2:
        rows = dims.product(left[:-1])
        result = _multiply_matrices(k, reshape_view(k, a, (rows, inner)), b, panels)
    else:
        result = _multiply_batches(k, a, b)
    return cast_view(k, reshape_view(k, result, shape), dtype)


def product_lengths(a: Sequence[Dim], b: Sequence[Dim]) -> tuple[Dim, ...]:
    """The shape of a matrix product of known shapes."""
    return (*_batch(a, b), *tuple(a[:-1])[-1:], *tuple(b[1:])[-1:])


def _batch(a: Sequence[Dim], b: Sequence[Dim]) -> tuple[Dim, ...]:
    """The shape before the matrices of a product, each length that of an operand where it is not 1."""
    longer, shorter = sorted((tuple(a[:-2]), tuple(b[:-2])), key=len, reverse=True)
    shorter = (1,) * (len(longer) - len(shorter)) + shorter
    return tuple(n if m == 1 else m for n, m in zip(longer, shorter, strict=True))


def _multiply_matrices(k: NativeBuilder, a: View, b: View, panels: View | None) -> View:
    rows, columns = a.shape[0], b.shape[1]
    result = k.temporary(a.dtype, (rows, columns))
    _multiply(k, a, b, result, (), panels)
    return k.view_of(result, product_lengths(a.shape, b.shape))


def _multiply_batches(k: NativeBuilder, a: View, b: View) -> View:
    """One product after the other; an operand that costs more than a load is computed before."""
    shape = product_lengths(a.shape, b.shape)
    a, b = k.materialise_reread(a), k.materialise_reread(b)
    result = k.temporary(a.dtype, shape)
    with k.nest(shape[:-2], parallel=False) as index:
        _multiply(k, _matrix_at(k, a, index), _matrix_at(k, b, index), result, index, None)
    return k.view_of(result, product_lengths(a.shape, b.shape))


def _matrix_at(k: NativeBuilder, x: View, index: Index) -> View:
    """The matrix that broadcasting puts at an index before the last two axes."""
    own = index[len(index) - (len(x.shape) - 2) :]
    prefix = tuple(k.const(0) if n == 1 else i for n, i in zip(x.shape[:-2], own, strict=True))
    flat = k.flat(x)
    first = k.mul(ravel_index(k, prefix, x.shape[:-2]), k.const(dims.product(x.shape[-2:])))
    direct = None if flat is None else lambda position: flat(k.add(first, position))
    return k.view(x.dtype, x.shape[-2:], lambda at: x.at((*prefix, *at)), x.cost, direct)


def _multiply(k: NativeBuilder, a: View, b: View, result: Buffer, prefix: Index, panels: View | None) -> None:
    """The product of two matrices into a buffer, behind a prefix of its index."""
    if not all_fixed((*a.shape, *b.shape)):
        return _multiply_at_run_time(k, a, b, result, prefix, panels)
    (rows, inner), columns = a.fixed_shape, b.fixed_shape[1]
    is_known = a.dtype in (FLOAT32, FLOAT64)
    if panels is None and (not is_known or rows * inner * columns <= SMALL or columns == 1):
        return _by_loops(k, a, b, result, prefix)
    if panels is None and rows == 1 and _runs_down(k, b):
        return _by_sums(k, a, b, result, prefix)
    source, first = k.address(a)
    matrix = k.contiguous(b) if panels is None and rows <= FEW_ROWS else None
    if matrix is not None:
        buffer, at = matrix
        for row in range(rows):
            target = (*prefix, k.const(row), k.const(0))
            line = (*first[:-1], k.add(first[-1], k.const(row * inner)))
            k.call("vector_matmul", [(result, target), (source, line), (buffer, at)], (inner, columns))
        return None
    width = panel_width(rows, a.dtype) if panels is None else panels.fixed_shape[2]
    packed = k.address(panels) if panels is not None else (pack_columns(k, b, width), (k.const(0),) * 3)
    height = block_rows(rows, inner, a.dtype)
    whole, rest = divmod(rows, height)

    def multiply(row: Expr, count: int) -> None:
        left = (source, (*first[:-1], k.add(first[-1], k.mul(row, k.const(inner)))))
        target = (result, (*prefix, row, k.const(0)))
        k.call(_packed_kernel(a.dtype), [target, left, packed], (count, inner, columns, width))

    with k.loop(whole) as block:
        multiply(k.mul(block, k.const(height)), height)
    if rest:
        multiply(k.const(whole * height), rest)
    return None


def _multiply_at_run_time(
    k: NativeBuilder, a: View, b: View, result: Buffer, prefix: Index, panels: View | None
) -> None:
    """The product of matrices with lengths that only the run knows: by panels, unless it surely is small."""
    (rows, inner), columns = a.shape, b.shape[1]
    is_known = a.dtype in (FLOAT32, FLOAT64)
    is_narrow = columns == 1 or is_larger(_NARROW_COLUMNS, columns) or inner == 1
    if panels is None and (not is_known or is_narrow or (rows == 1 and _runs_down(k, b))):
        by = _by_sums if _runs_down(k, b) else _by_loops
        a, b = k.materialise_reread(a), k.materialise_reread(b)
        if not is_known or isinstance(rows, int) or not isinstance(columns, int) or 1 in (columns, inner):
            return by(k, a, b, result, prefix)
        has_many = k.let(k.compare("ge", k.length(rows), k.const(_MANY_ROWS)))
        with k.when(has_many):
            _by_panels(k, a, b, result, prefix, None)
        with k.when(k.apply("not", has_many)):
            by(k, a, b, result, prefix)
        return None
    if panels is None and rows == 1 and (matrix := k.contiguous(b)) is not None:
        source, lengths = k.address(a), (k.length(inner), k.length(columns))
        return k.call("vector_matmul", [(result, (*prefix, k.const(0), k.const(0))), source, matrix], lengths)
    return _by_panels(k, a, b, result, prefix, panels)


def _by_panels(k: NativeBuilder, a: View, b: View, result: Buffer, prefix: Index, panels: View | None) -> None:
    """The kernel for matrices of any lengths."""
    (rows, inner), columns, source = a.shape, b.shape[1], k.address(a)
    width = panel_width(1, a.dtype) if panels is None else panels.fixed_shape[2]
    packed = k.address(panels) if panels is not None else (pack_columns(k, b, width), (k.const(0),) * 3)
    target = (result, (*prefix, k.const(0), k.const(0)))
    lengths = (as_number(k, rows), as_number(k, inner), as_number(k, columns), width)
    return k.call(_packed_kernel(a.dtype), [target, source, packed], lengths)


def _packed_kernel(dtype: np.dtype) -> str:
    """The kernel that reads panels; those of int32 are words of bytes."""
    return "packed_dots" if dtype == INT32 else "packed_matmul"


def as_number(k: NativeBuilder, length: Dim) -> int | Expr:
    """A length as a kernel takes it."""
    return length if isinstance(length, int) else k.length(length)


def block_rows(rows: int, inner: int, dtype: np.dtype) -> int:
    """How many rows to multiply together: all, or so many that they stay in the cache, in blocks about equal."""
    most = max(_LEAST_BLOCK, min(_MOST_BLOCK, _NEAR_BYTES // (inner * dtype.itemsize) // _TILE * _TILE))
    if rows <= most:
        return rows
    blocks = -(-rows // most)
    each = -(-rows // blocks)
    return min(most, -(-each // _TILE) * _TILE)


def pack_columns(k: NativeBuilder, b: View, width: int) -> Buffer:
    """A matrix copied into panels. Behind the columns of the last one are zeros up to a whole vector, then anything.

    What is left in memory may be numbers that are not normal, whose products take a hundred times as long.
    """
    inner, columns = b.shape
    count = dims.call("floor", columns + (width - 1), width)
    panels = k.temporary(b.dtype, (count, inner, width))
    whole, rest = dims.call("floor", columns, width), dims.call("mod", columns, width)
    for first, number, length in ((0, whole, width), (whole, count - whole, rest)):
        if not number or not length:
            continue
        with k.nest((number, inner, length)) as (p, row, lane):
            panel = k.add(p, k.const(first))
            column = k.add(k.mul(panel, k.const(width)), lane)
            k.store(panels, (panel, row, lane), b.at((row, column)))
    behind = dims.call("mod", width - rest, CACHE_LINE // b.dtype.itemsize)
    if count != whole and behind and b.dtype in (FLOAT32, FLOAT64):
        with k.nest((count - whole, inner, behind)) as (p, row, lane):
            at = (k.add(p, k.const(whole)), row, k.add(lane, k.const(rest)))
            k.store(panels, at, k.const(0, b.dtype))
    return panels


def _runs_down(k: NativeBuilder, b: View) -> bool:
    """Whether elements of a column are neighbours in memory."""
    with k.into([]):
        row, column = k.variable(INT64, "probe"), k.variable(INT64, "probe")
        last = k.last_index(b.at((row, column)))
    return last is row


def _by_sums(k: NativeBuilder, a: View, b: View, result: Buffer, prefix: Index) -> None:
    """for i, j: y = sum over k of a[i, k] * b[k, j]; a sum of floats may be taken in any order."""
    (rows, inner), columns = a.shape, b.shape[1]
    add = "sum" if is_float(a.dtype) else "add"
    with k.nest((rows, columns)) as (i, j):

        def step(total: Expr, at: Index) -> Expr:
            return k.apply(add, total, k.mul(a.at((i, at[0])), b.at((at[0], j))))

        k.store(result, (*prefix, i, j), k.reduce((inner,), k.const(0, a.dtype), step))


def _by_loops(k: NativeBuilder, a: View, b: View, result: Buffer, prefix: Index) -> None:
    """for i: y[i] = 0; for k: for j: y[i, j] += a[i, k] * b[k, j]."""
    (rows, inner), columns = a.shape, b.shape[1]
    if is_larger(_NARROW_BYTES // a.dtype.itemsize, columns) or inner == 1:
        return _by_sums(k, k.materialise_reread(a), k.materialise_reread(b), result, prefix)
    a, b = k.materialise_reread(a), k.materialise_reread(b) if rows != 1 else b
    with k.loop(rows) as i:
        with k.loop(columns, parallel=True) as j:
            k.store(result, (*prefix, i, j), k.const(0, a.dtype))
        with k.loop(inner) as step:
            factor = k.let(a.at((i, step)))
            with k.loop(columns, parallel=True) as j:
                total = k.load(result, (*prefix, i, j))
                k.store(result, (*prefix, i, j), k.add(total, k.mul(factor, b.at((step, j)))))
    return None
