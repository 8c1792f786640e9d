"""Squared distances of all rows of one matrix from all of another: |p - q|^2 = |p|^2 + |q|^2 - 2pq, a matrix product.

A sum in the place of the difference, of a constant with its sign turned, adds the product.

The product takes a fraction of the time and memory of the differences. Where rows lie close together beside their
lengths, digits cancel: the error of a square is at most (d + 4) units of rounding of |p|^2 + |q|^2, for d columns.
"""

from __future__ import annotations

import numpy as np

from whorl.ir.dtypes import FLOAT32, FLOAT64
from whorl.ir.graph import Node, Op, Value
from whorl.ops.core.base import known_ints
from whorl.ops.elementwise.arithmetic import Add, Max, Mul, Sub
from whorl.ops.elementwise.powers import Pow
from whorl.ops.linear.products import MatMul
from whorl.ops.movement.axes import Transpose
from whorl.ops.movement.shapes import Squeeze, Unsqueeze
from whorl.ops.reduce.reductions import ReduceSum, ReduceSumSquare
from whorl.passes.rules.conditions import elements
from whorl.passes.rules.pattern import AnyRule, Match, NodeRule, maker, tensor_type

FEW_COLUMNS = 4
"""Columns below which the differences take no longer."""


def _as_product(m: Match) -> Value | None:
    """The sum of squared differences along the last axis, of rows [m, 1, d] and [n, d] or [1, n, d], in any order."""
    op, data = m.node.op, m.node.inputs[0]
    assert isinstance(op, ReduceSum | ReduceSumSquare)
    difference = maker(data) if isinstance(op, ReduceSumSquare) else _squared(data)
    options = m.rewriter.context.options
    if not (options.fast_math or options.distances) or difference is None:
        return None
    if not isinstance(difference.op, Add | Sub):
        return None
    axes = m.node.inputs[1] if len(m.node.inputs) > 1 else None
    if m.dtype not in (FLOAT32, FLOAT64) or known_ints(axes) not in ((-1,), (2,)):
        return None
    a, b = (value for value in difference.inputs if value is not None)
    if _is_column(a) and _is_row(b):
        columns, rows = a, b
    elif _is_column(b) and _is_row(a):
        columns, rows = b, a
    else:
        return None
    square = _square(m, m.add(Squeeze(), columns, _axes(m, 1)), _matrix(m, rows), difference.op)
    return m.add(Unsqueeze(), square, _axes(m, 2)) if op.keepdims else square


def _squared(value: Value | None) -> Node | None:
    """The node of which a value is the square."""
    node = maker(value)
    if node is None or len(node.inputs) != 2:
        return None
    a, b = node.inputs
    if isinstance(node.op, Mul):
        return maker(a) if a is b else None
    power = elements(b, 1) if isinstance(node.op, Pow) else None
    return maker(a) if power is not None and power.size == 1 and power.item() == 2 else None


def _is_column(value: Value) -> bool:
    shape = tensor_type(value).shape
    return isinstance(shape, tuple) and len(shape) == 3 and shape[1] == 1 and _is_wide(shape[2])


def _is_row(value: Value) -> bool:
    shape = tensor_type(value).shape
    if not isinstance(shape, tuple) or len(shape) not in (2, 3) or not _is_wide(shape[-1]):
        return False
    return len(shape) == 2 or (shape[0] == 1 and shape[1] != 1)


def _is_wide(dim: object) -> bool:
    return isinstance(dim, int) and dim >= FEW_COLUMNS


def _matrix(m: Match, rows: Value) -> Value:
    return rows if tensor_type(rows).rank == 2 else m.add(Squeeze(), rows, _axes(m, 0))


def _square(m: Match, p: Value, q: Value, op: Op) -> Value:
    """The squared lengths of p - q, or of p + q, by an op that adds rows of p to rows of q."""
    dtype = m.dtype
    lengths = m.add(Add(), m.add(ReduceSumSquare(), p, _axes(m, 1)), m.add(ReduceSumSquare(keepdims=0), q, _axes(m, 1)))
    doubled = m.add(Mul(), q, m.constant(np.array(2, dtype)))
    product = m.add(MatMul(), p, m.add(Transpose((1, 0)), doubled))
    return m.add(Max(), m.add(op, lengths, product), m.constant(np.array(0, dtype)))


def _axes(m: Match, axis: int) -> Value:
    return m.constant(np.array([axis], np.int64))


RULES: tuple[AnyRule, ...] = (NodeRule("DistancesAsProduct", (ReduceSum, ReduceSumSquare), _as_product),)
