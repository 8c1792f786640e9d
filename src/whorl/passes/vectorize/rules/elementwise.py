"""Batching rules of elementwise ops: the axes of rows are aligned, so that they broadcast as those of one row do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whorl.ir.build import Builder
from whorl.ir.graph import Op
from whorl.ops.elementwise.arithmetic import Clip, Identity, Max, Min
from whorl.ops.elementwise.casting import BitCast, CastLike
from whorl.ops.elementwise.nonlinear import PRelu, SwiGLU
from whorl.ops.movement.shapes import Reshape
from whorl.ops.text.strings import RegexFullMatch
from whorl.passes.vectorize.batched import Batched, Operands, align, all_mapped, give_all_rows, row_count
from whorl.passes.vectorize.rules.rule import Rule


def batch_broadcasting(op: Op, operands: Operands, build: Builder) -> Sequence[Batched]:
    rank = max(x.rank for x in operands if x is not None)
    return [Batched(build.add(op, *(None if x is None else align(x, rank, build) for x in operands)))]


def broadcast(op: Op, *operands: Batched, build: Builder) -> Batched:
    """What an op that broadcasts makes of operands of which none need be mapped."""
    if not any(x.is_mapped for x in operands):
        return Batched(build.add(op, *(x.value for x in operands)), is_mapped=False)
    return batch_broadcasting(op, operands, build)[0]


def batch_clip(op: Clip, operands: Operands, build: Builder) -> Sequence[Batched]:
    """A Clip has one element a bound; bounds of rows are those of Max and Min."""
    x, *bounds = operands
    assert x is not None
    if not any(bound is not None and bound.is_mapped for bound in bounds):
        return [Batched(build.add(op, *(None if each is None else each.value for each in operands)))]
    for limit, bound in zip((Max(), Min()), bounds, strict=False):
        if bound is not None:
            one = Batched(build.add(Reshape(), bound.value, build.int64(*[-1] * bound.is_mapped)), bound.is_mapped)
            x = broadcast(limit, x, one, build=build)
    return [x]


def batch_slope(op: PRelu, operands: Operands, build: Builder) -> Sequence[Batched]:
    """The slope broadcasts to x, which may be the one that all rows share."""
    x, slope = operands
    assert x is not None
    whole = Batched(give_all_rows(x, row_count(operands, build), build))
    return batch_broadcasting(op, (whole, slope), build)


def batch_gated(op: SwiGLU, operands: Operands, build: Builder) -> Sequence[Batched]:
    """The gate and the value have one shape."""
    return [Batched(build.add(op, *all_mapped(operands, build)))]


def batch_cast_like(op: CastLike, operands: Operands, build: Builder) -> Sequence[Batched]:
    """Of the second operand only the type counts."""
    x, like = operands
    assert x is not None and like is not None
    return [Batched(build.add(op, x.value, like.value), x.is_mapped)]


RULES: Mapping[type[Op], Rule] = {
    **dict[type[Op], Rule].fromkeys((Identity, BitCast, RegexFullMatch), batch_broadcasting),
    Clip: batch_clip,
    PRelu: batch_slope,
    SwiGLU: batch_gated,
    CastLike: batch_cast_like,
}
