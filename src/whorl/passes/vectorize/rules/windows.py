"""Batching rules of convolutions and pools: rows are more images, or more channels where weights differ by row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from whorl.ir.build import Builder
from whorl.ir.graph import Op, Value
from whorl.ops.elementwise.arithmetic import Add, Mul, Sub
from whorl.ops.elementwise.comparison import Less, Where
from whorl.ops.movement.shapes import Shape
from whorl.ops.reduce.reductions import ReduceProd
from whorl.ops.windows.convolution import Conv, ConvInteger, QLinearConv
from whorl.ops.windows.deformable_convolution import DeformConv
from whorl.ops.windows.pooling import (
    AveragePool,
    GlobalAveragePool,
    GlobalLpPool,
    GlobalMaxPool,
    LpPool,
    MaxPool,
)
from whorl.ops.windows.transposed_convolution import Col2Im, ConvTranspose
from whorl.ops.windows.unpooling import MaxUnpool
from whorl.passes.vectorize.batched import Batched, CannotVectorize, Operands, give_all_rows, lengths_of, row_count
from whorl.passes.vectorize.rules.folding import batch_folded, folded, known_row_count, length_along, row_numbers
from whorl.passes.vectorize.rules.rule import Rule


def batch_convolution(op: Conv | ConvTranspose, operands: Operands, build: Builder) -> Sequence[Batched]:
    """Rows are more images; where weights differ, too, each row has groups of channels of its own."""
    if not any(x is not None and x.is_mapped for x in operands[1:]):
        return batch_folded(op, operands, (0,), None, build)
    rows = known_row_count(operands)
    if rows is None:
        raise CannotVectorize(f"the weights of a {op.name} differ by row, and the number of rows is not known")
    moved = replace(op, group=rows * op.group)
    return batch_folded(moved, operands, (1, 0, 0), (1,), build, _features(op, operands[1], build))


def _features(op: Conv | ConvTranspose, weights: Batched | None, build: Builder) -> Value:
    """How many channels the images of one row come to have, as a vector of one."""
    assert weights is not None
    if isinstance(op, Conv):
        return length_along(weights, 0, build)
    return build.add(Mul(), length_along(weights, 1, build), build.int64(op.group), name="length")


def batch_max_pool(op: MaxPool, operands: Operands, build: Builder) -> Sequence[Batched]:
    """Indices count through the images of one row alone."""
    results = batch_folded(op, operands, (0,), (0,) * op.output_count, build)
    if op.output_count < 2:
        return results
    (x,) = operands
    assert x is not None
    rank = x.rank + 1
    size = build.add(ReduceProd(keepdims=1), build.add(Shape(1), x.value), build.int64(0), name="size")
    before = build.add(Mul(), row_numbers(row_count(operands, build), rank, build), size, name="before")
    return [results[0], Batched(_less_where_some(results[1].value, before, build))]


def batch_unpool(op: MaxUnpool, operands: Operands, build: Builder) -> Sequence[Batched]:
    """Indices count through what comes of one row alone, the size of which has to be known."""
    x, indices, *shape = operands
    assert x is not None and indices is not None
    lengths = lengths_of(x.value)[x.is_mapped :]
    if shape or not all(isinstance(length, int) for length in lengths):
        raise CannotVectorize("the size of what a MaxUnpool makes is known only when it runs")
    rows = row_count(operands, build)
    size = build.int64(math.prod(n for n in op.pooled(lengths) if isinstance(n, int)))
    before = build.add(Mul(), row_numbers(rows, x.rank + 1, build), size, name="before")
    moved = Batched(build.add(Add(), give_all_rows(indices, rows, build), before, name="indices"))
    return batch_folded(op, (x, moved), (0, 0), None, build)


def _less_where_some(indices: Value, before: Value, build: Builder) -> Value:
    """Indices less what lies before their rows; one of no element stays -1."""
    zero = build.int64(0)
    is_none = build.add(Less(), indices, zero, name="is_none")
    return build.add(Where(), is_none, indices, build.add(Sub(), indices, before, name="indices"), name="indices")


_POOLS: tuple[type[Op], ...] = (AveragePool, LpPool, GlobalAveragePool, GlobalMaxPool, GlobalLpPool)

RULES: Mapping[type[Op], Rule] = {
    **dict.fromkeys((Conv, ConvTranspose), batch_convolution),
    **dict.fromkeys((ConvInteger, QLinearConv, Col2Im), folded(0)),
    **dict[type[Op], Any].fromkeys(_POOLS, folded(0)),
    DeformConv: folded(0, None, 0, None, 0),
    MaxPool: batch_max_pool,
    MaxUnpool: batch_unpool,
}
