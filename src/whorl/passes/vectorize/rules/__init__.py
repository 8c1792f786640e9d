"""Batching rules: how an op is computed for many rows at once, an entry an op.

A rule gives the outputs for all rows, of operands of which at least one is mapped. The result of a row has the bits
that the op gives for the row alone, but for the order in which products of matrices sum. A rule that fits some uses of
an op alone raises CannotVectorize for others, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whorl.ir.build import Builder
from whorl.ir.graph import Op
from whorl.ops.core.base import Elementwise
from whorl.passes.vectorize.batched import Batched, CannotVectorize, Operands
from whorl.passes.vectorize.rules import (
    attention,
    cutting,
    elementwise,
    images,
    indexing,
    linear,
    losses,
    normalization,
    quantization,
    recurrent,
    reduction,
    scattering,
    selection,
    sequences,
    shapes,
    signal,
    tables,
    windows,
)
from whorl.passes.vectorize.rules.refusals import REASONS
from whorl.passes.vectorize.rules.rule import Rule

RULES: Mapping[type[Op], Rule] = {
    **attention.RULES,
    **cutting.RULES,
    **elementwise.RULES,
    **images.RULES,
    **indexing.RULES,
    **linear.RULES,
    **losses.RULES,
    **normalization.RULES,
    **quantization.RULES,
    **recurrent.RULES,
    **reduction.RULES,
    **scattering.RULES,
    **selection.RULES,
    **sequences.RULES,
    **shapes.RULES,
    **signal.RULES,
    **tables.RULES,
    **windows.RULES,
}


def rule_of(kind: type[Op]) -> Rule | None:
    """The rule of an op; those that broadcast their operands share one."""
    rule = RULES.get(kind)
    return elementwise.batch_broadcasting if rule is None and issubclass(kind, Elementwise) else rule


def batch_op(op: Op, operands: Operands, build: Builder) -> Sequence[Batched]:
    """The outputs of an op for all rows at once. Errors: CannotVectorize."""
    rule = rule_of(type(op))
    if rule is None:
        raise CannotVectorize(REASONS.get(type(op), f"{op.name} has no batching rule"))
    return rule(op, operands, build)
