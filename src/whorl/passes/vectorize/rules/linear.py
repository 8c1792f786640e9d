"""Batching rules of products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whorl.ir.build import Builder
from whorl.ir.graph import Op
from whorl.ops.linear.products import MatMul
from whorl.ops.movement.shapes import Squeeze, Unsqueeze
from whorl.passes.vectorize.batched import Batched, Operands, align
from whorl.passes.vectorize.rules.rule import Rule


def batch_matmul(op: MatMul, operands: Operands, build: Builder) -> Sequence[Batched]:
    """Vectors become matrices of one row or column, so that rows are matrices side by side."""
    a, b = operands
    assert a is not None and b is not None
    if a.rank == 1 and not b.is_mapped and b.rank == 2:
        return [Batched(build.add(op, a.value, b.value))]
    vectors = [a.rank == 1, b.rank == 1]
    left = _matrix(a, a.rank, build)
    right = _matrix(b, b.rank + 1, build)
    rank = max(left.rank, right.rank)
    result = build.add(op, align(left, rank, build), align(right, rank, build))
    dropped = [axis for axis, is_vector in zip((rank - 1, rank), vectors, strict=True) if is_vector]
    return [Batched(build.add(Squeeze(), result, build.int64(*dropped)) if dropped else result)]


def _matrix(operand: Batched, axis: int, build: Builder) -> Batched:
    """The operand, a vector with a new axis before or after its own."""
    if operand.rank > 1:
        return operand
    at = build.int64(axis - 1 + operand.is_mapped)
    return Batched(build.add(Unsqueeze(), operand.value, at), operand.is_mapped)


RULES: Mapping[type[Op], Rule] = {MatMul: batch_matmul}
