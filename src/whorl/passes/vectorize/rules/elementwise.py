"""Batching rules of elementwise ops: the axes of rows are aligned, so that they broadcast as those of one row do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whorl.ir.build import Builder
from whorl.ir.graph import Op
from whorl.ops.elementwise.arithmetic import Identity
from whorl.passes.vectorize.batched import Batched, Operands, align
from whorl.passes.vectorize.rules.rule import Rule


def batch_broadcasting(op: Op, operands: Operands, build: Builder) -> Sequence[Batched]:
    rank = max(x.rank for x in operands if x is not None)
    return [Batched(build.add(op, *(None if x is None else align(x, rank, build) for x in operands)))]


RULES: Mapping[type[Op], Rule] = {Identity: batch_broadcasting}
