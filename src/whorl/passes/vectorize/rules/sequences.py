"""Batching rules of sequences: parts of one tensor are its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whorl.ir.build import Builder
from whorl.ir.graph import Op
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.shapes import Unsqueeze
from whorl.ops.sequence.sequences import SequenceAt
from whorl.passes.rules.sequences import split_of
from whorl.passes.vectorize.batched import Batched, CannotVectorize, Operands, as_scalar
from whorl.passes.vectorize.rules.indexing import batch_gather
from whorl.passes.vectorize.rules.rule import Rule


def batch_sequence_at(_: SequenceAt, operands: Operands, build: Builder) -> Sequence[Batched]:
    """The rows of the tensor that the sequence is cut from."""
    sequence, position = operands
    assert sequence is not None and position is not None
    split = None if sequence.is_mapped else split_of(sequence.value)
    if split is None or (split[2] or 1) != 1:
        raise CannotVectorize("the tensors of the sequence may differ in shape")
    x, axis, part = split
    scalar = as_scalar(position, build)
    (row,) = batch_gather(Gather(axis), (Batched(x, is_mapped=False), scalar), build)
    return [row if part is None else Batched(build.add(Unsqueeze(), row.value, build.int64(1 + axis)))]


RULES: Mapping[type[Op], Rule] = {SequenceAt: batch_sequence_at}
