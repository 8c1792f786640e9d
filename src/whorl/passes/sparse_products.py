"""Products with constant matrices of mostly zeros: computed by what is not zero, where the other factor is finite.

y[.., j] = sum over i of x[.., i] * w[i, j], where a column j has at most k entries that are not zero, becomes the sum
over k of x[.., rows[k, j]] * w[rows[k, j], j]; shorter columns end with zeros. Zero times an infinity or a NaN is NaN:
the sum of 0 * x says whether all of x is finite, and the whole product is computed where it is not. Terms are added in
another order, as other machines do it. Columns lie side by side, so that vectors add them up.
"""

from __future__ import annotations

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.constants import Constant, as_array
from whorl.ir.dtypes import FLOAT32, FLOAT64
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ir.rewrite import rewrite
from whorl.ir.types import tensor
from whorl.ops.control.flow import If
from whorl.ops.elementwise.arithmetic import Mul
from whorl.ops.elementwise.comparison import Equal
from whorl.ops.linear.products import MatMul
from whorl.ops.movement.indexing import Gather
from whorl.ops.reduce.reductions import ReduceSum
from whorl.passes.context import Context
from whorl.passes.rules.pattern import constant_of

SIDE = 64
"""Rows and columns that a matrix has at least."""
VECTOR, ROWS = 8, 16
"""One of so many entries of a column may differ from zero, for a vector and for rows: to fetch an element takes a few
times as long as to multiply one that is read in order, and of a matrix several times."""


def sparse_products(module: Module, context: Context) -> None:
    """Compute products with matrices of mostly zeros by the others, in all regions."""

    def visit(node: Node, build: Builder) -> list[Value] | None:
        if not isinstance(node.op, MatMul):
            return None
        factors = _factors(node)
        if factors is None or not context.may_edit("sparse_products"):
            return None
        return [_chosen(node, *factors, build)]

    rewrite(module.main, context.inference, visit)


def _factors(node: Node) -> tuple[Value, np.ndarray] | None:
    """The factor x and a matrix w of mostly zeros with x @ w for a product; None for any other."""
    a, b = node.inputs
    if a is None or b is None:
        return None
    left, right = constant_of(a), constant_of(b)
    if left is not None and right is None and tensor(b).rank == 1:
        x, matrix = b, as_array(left.value)
        matrix = matrix.T if matrix.ndim == 2 else matrix
    elif right is not None and left is None and tensor(a).rank:
        x, matrix = a, as_array(right.value)
    else:
        return None
    if matrix.ndim != 2 or matrix.dtype not in (FLOAT32, FLOAT64) or min(matrix.shape) < SIDE:
        return None
    is_sparse = (VECTOR if tensor(x).rank == 1 else ROWS) * _most_in_column(matrix) <= len(matrix)
    return (x, matrix) if is_sparse else None


def _most_in_column(matrix: np.ndarray) -> int:
    return int(np.count_nonzero(matrix, axis=0).max())


def _chosen(node: Node, x: Value, matrix: np.ndarray, build: Builder) -> Value:
    """The product by the entries that are not zero, or the whole one where x is not finite."""
    zero = build.constant(np.zeros((), matrix.dtype))
    total = build.add(ReduceSum(keepdims=0), build.add(Mul(), x, zero))
    is_finite = build.add(Equal(), total, zero)
    branches = Region("sparse"), Region("whole")
    inner = [Builder(region, build.inference) for region in branches]
    arguments = [region.add_argument(x.name, x.type, x.known) for region in branches]
    branches[0].results = [_by_entries(arguments[0], matrix, inner[0])]
    whole = [arguments[1] if value is x else _copy(value, inner[1]) for value in node.inputs]
    branches[1].results = [inner[1].add(node.op, *whole, name=node.name)]
    return build.add_many(If(), [is_finite, x], [node.outputs[0].name], branches, name=node.name)[0]


def _copy(value: Value | None, build: Builder) -> Value:
    constant = constant_of(value)
    assert value is not None and constant is not None
    return build.add(Constant(constant.value), name=value.name)


def _by_entries(x: Value, matrix: np.ndarray, build: Builder) -> Value:
    """The sums of what is not zero: elements of x beside each other for all columns, in as many rows as that takes."""
    rows, entries = entries_of(matrix)
    picked = build.add(Gather(axis=-1), x, build.constant(rows))
    return build.add(ReduceSum(keepdims=0), build.add(Mul(), picked, build.constant(entries)), build.int64(-2))


def entries_of(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The entries of each column that are not zero, from the first row on, and the rows that they are in.

    Columns with fewer of them end with zeros of row 0.
    """
    columns, rows = np.nonzero(matrix.T)
    counts = np.bincount(columns, minlength=matrix.shape[1])
    ranks = np.arange(len(columns)) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = max(1, _most_in_column(matrix)), matrix.shape[1]
    picked, entries = np.zeros(shape, np.int64), np.zeros(shape, matrix.dtype)
    picked[ranks, columns], entries[ranks, columns] = rows, matrix[rows, columns]
    return picked, entries
