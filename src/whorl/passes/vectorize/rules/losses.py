"""Batching rules of losses and of steps of training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from whorl.ir.build import Builder
from whorl.ir.graph import Op
from whorl.ops.core.base import accumulator
from whorl.ops.elementwise.arithmetic import Div
from whorl.ops.elementwise.casting import Cast
from whorl.ops.ml.training import Adagrad, Adam, Momentum
from whorl.ops.movement.shapes import Expand, Shape
from whorl.ops.reduce.losses import NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss
from whorl.ops.reduce.reductions import ReduceSum
from whorl.passes.rules.pattern import tensor_type
from whorl.passes.vectorize.batched import Batched, Operands, give_all_rows, row_count
from whorl.passes.vectorize.rules.folding import batch_folded, call, require_shared
from whorl.passes.vectorize.rules.rule import Rule

Loss = NegativeLogLikelihoodLoss | SoftmaxCrossEntropyLoss


def batch_loss(op: Loss, operands: Operands, build: Builder) -> Sequence[Batched]:
    """The losses of all labels, and their sums row by row; a mean is over the weights that were used."""
    scores, labels, *weight = operands
    assert scores is not None and labels is not None
    if op.reduction == "none":
        return batch_folded(op, operands, (0, 0), None, build)
    dtype = tensor_type(scores.value).dtype
    wide = [None if x is None else _cast(x, accumulator(dtype), build) for x in (scores, *weight)]
    each, *more = batch_folded(replace(op, reduction="none"), (wide[0], labels, *wide[1:]), (0, 0), None, build)
    total = _row_sums(each, build)
    if op.reduction == "mean":
        counts = NegativeLogLikelihoodLoss(op.ignore_index, "none")
        (used,) = batch_folded(counts, (_minus_one(scores, wide[0], build), labels, *wide[1:]), (0, 0), None, build)
        total = Batched(build.add(Div(), total.value, _row_sums(used, build).value, name="mean"))
    return [_cast(x, dtype, build) for x in (total, *more)]


def _cast(x: Batched, dtype: np.dtype, build: Builder) -> Batched:
    if tensor_type(x.value).dtype == dtype:
        return x
    return Batched(build.add(Cast(dtype), x.value, name=x.value.name), x.is_mapped)


def _row_sums(x: Batched, build: Builder) -> Batched:
    return Batched(build.add(ReduceSum(keepdims=0), x.value, build.int64(*range(1, 1 + x.rank)), name="sum"))


def _minus_one(scores: Batched, wide: Batched | None, build: Builder) -> Batched:
    """Scores of which the loss is the weight of each label."""
    assert wide is not None
    number = build.constant(np.array(-1, tensor_type(wide.value).dtype))
    return Batched(build.add(Expand(), number, build.add(Shape(), scores.value)), scores.is_mapped)


def batch_optimizer(op: Adagrad | Adam | Momentum, operands: Operands, build: Builder) -> Sequence[Batched]:
    """Steps go element by element, at one rate."""
    rate, count, *tensors = (x for x in operands if x is not None)
    rows = row_count(operands, build)
    inputs = [require_shared(rate, "the learning rate"), require_shared(count, "the update count")]
    whole = [give_all_rows(x, rows, build) for x in tensors]
    return [Batched(value) for value in call(op, [*inputs, *whole], build)]


RULES: Mapping[type[Op], Rule] = {
    NegativeLogLikelihoodLoss: batch_loss,
    SoftmaxCrossEntropyLoss: batch_loss,
    Adagrad: batch_optimizer,
    Adam: batch_optimizer,
    Momentum: batch_optimizer,
}
