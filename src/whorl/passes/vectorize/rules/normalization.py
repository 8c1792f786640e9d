"""Batching rules of normalizations: each row has statistics of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from whorl.ir.build import Builder
from whorl.ir.graph import Op
from whorl.ops.core.base import normal_axis
from whorl.ops.reduce.local_response import LRN
from whorl.ops.reduce.normalization import (
    BatchNormalization,
    GroupNormalization,
    InstanceNormalization,
    LayerNormalization,
    LpNormalization,
    MeanVarianceNormalization,
    RMSNormalization,
)
from whorl.passes.vectorize.batched import Batched, CannotVectorize, Operands, align, give_all_rows, row_count
from whorl.passes.vectorize.rules.folding import batch_folded, call, folded, known_row_count
from whorl.passes.vectorize.rules.reduction import batch_along_axis
from whorl.passes.vectorize.rules.rule import Rule

Affine = LayerNormalization | RMSNormalization


def batch_affine(op: Affine, operands: Operands, build: Builder) -> Sequence[Batched]:
    """What normalizes the axes from one on, and then broadcasts a scale and a shift."""
    x, *parameters = operands
    assert x is not None
    whole = give_all_rows(x, row_count(operands, build), build)
    rest = (None if p is None else align(p, x.rank, build) for p in parameters)
    outputs = call(replace(op, axis=1 + normal_axis(op.axis, x.rank)), [whole, *rest], build)
    return [Batched(value) for value in outputs]


def _has_own_parameters(operands: Operands) -> bool:
    return any(x is not None and x.is_mapped for x in operands[1:])


def batch_batch_normalization(op: BatchNormalization, operands: Operands, build: Builder) -> Sequence[Batched]:
    """Rows are more images of the batch, or more channels where each has parameters or statistics of its own."""
    if not (op.training_mode or _has_own_parameters(operands)):
        return batch_folded(op, operands, (0,), (0, None, None), build)
    x = operands[0]
    assert x is not None
    if x.rank < 2:
        raise CannotVectorize("a BatchNormalization of a vector has one channel for all rows")
    return batch_folded(op, operands, (1, 0, 0, 0, 0), (1, 0, 0), build)


def batch_instance_normalization(op: InstanceNormalization, operands: Operands, build: Builder) -> Sequence[Batched]:
    if not _has_own_parameters(operands):
        return batch_folded(op, operands, (0,), None, build)
    return batch_folded(op, operands, (1, 0, 0), (1,), build)


def batch_group_normalization(op: GroupNormalization, operands: Operands, build: Builder) -> Sequence[Batched]:
    if not _has_own_parameters(operands):
        return batch_folded(op, operands, (0,), None, build)
    rows = known_row_count(operands)
    if rows is None:
        raise CannotVectorize("the scale of a GroupNormalization differs by row, and the number of rows is not known")
    return batch_folded(replace(op, num_groups=rows * op.num_groups), operands, (1, 0, 0), (1,), build)


def batch_mean_variance(op: MeanVarianceNormalization, operands: Operands, build: Builder) -> Sequence[Batched]:
    """No axes are all of one row."""
    (x,) = operands
    assert x is not None
    axes = op.axes or range(x.rank)
    return [Batched(build.add(replace(op, axes=tuple(map(x.axis, axes))), x.value))]


RULES: Mapping[type[Op], Rule] = {
    LayerNormalization: batch_affine,
    RMSNormalization: batch_affine,
    BatchNormalization: batch_batch_normalization,
    InstanceNormalization: batch_instance_normalization,
    GroupNormalization: batch_group_normalization,
    MeanVarianceNormalization: batch_mean_variance,
    LpNormalization: batch_along_axis,
    LRN: folded(0),
}
