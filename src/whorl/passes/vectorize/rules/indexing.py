"""Batching rules of ops that take elements by their indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whorl.ir.build import Builder
from whorl.ir.graph import Op
from whorl.ops.core.base import normal_axis
from whorl.ops.movement.indexing import Gather, GatherElements, GatherND
from whorl.ops.movement.shapes import Unsqueeze
from whorl.passes.vectorize.batched import Batched, Operands, all_mapped, move_axis, permute
from whorl.passes.vectorize.rules.rule import Rule


def batch_gather(op: Gather, operands: Operands, build: Builder) -> Sequence[Batched]:
    """Rows of indices take from what all share as one index does; where x has rows too, GatherND pairs them."""
    x, indices = operands
    assert x is not None and indices is not None
    axis, rank, count = x.axis(op.axis) - x.is_mapped, x.rank, indices.rank
    if not indices.is_mapped:
        return [Batched(build.add(Gather(1 + axis), x.value, indices.value))]
    if not x.is_mapped:
        return [Batched(move_axis(build.add(Gather(axis), x.value, indices.value), axis, 0, build))]
    numbers = build.add(Unsqueeze(), indices.value, build.int64(1 + count))
    taken = build.add(GatherND(1), move_axis(x.value, 1 + axis, 1, build), numbers)
    before, inner = range(1 + count, 1 + count + axis), range(1, 1 + count)
    return [Batched(permute(taken, [0, *before, *inner, *range(1 + count + axis, rank + count)], build))]


def batch_elements(op: GatherElements, operands: Operands, build: Builder) -> Sequence[Batched]:
    x, indices = operands
    assert x is not None and indices is not None
    axis = 1 + normal_axis(op.axis, x.rank)
    return [Batched(build.add(GatherElements(axis), *all_mapped(operands, build)))]


def batch_gather_nd(op: GatherND, operands: Operands, build: Builder) -> Sequence[Batched]:
    """Rows are one more axis of the batch; rows of indices take from what all share as one index does."""
    x, indices = operands
    assert x is not None and indices is not None
    if not x.is_mapped and not op.batch_dims:
        return [Batched(build.add(op, x.value, indices.value))]
    return [Batched(build.add(GatherND(1 + op.batch_dims), *all_mapped(operands, build)))]


RULES: Mapping[type[Op], Rule] = {
    Gather: batch_gather,
    GatherElements: batch_elements,
    GatherND: batch_gather_nd,
}
