"""Batching rules of reductions, and of ops that work along an axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from whorl.ir.build import Builder
from whorl.ir.graph import Op
from whorl.ops.core.base import known_ints
from whorl.ops.reduce.cumulative import CumProd, CumSum
from whorl.ops.reduce.logarithmic_reductions import ReduceLogSum, ReduceLogSumExp
from whorl.ops.reduce.reductions import (
    ArgMax,
    ArgMin,
    ReduceL1,
    ReduceL2,
    ReduceMax,
    ReduceMean,
    ReduceMin,
    ReduceProd,
    ReduceSum,
    ReduceSumSquare,
    Reduction,
)
from whorl.ops.reduce.softmax import Hardmax, LogSoftmax, Softmax
from whorl.passes.vectorize.batched import Batched, CannotVectorize, Operands
from whorl.passes.vectorize.rules.rule import Rule


def batch_reduction(op: Reduction, operands: Operands, build: Builder) -> Sequence[Batched]:
    """The axes are counted past that of the rows; none stands for all of a row's."""
    x, axes = operands[0], operands[1] if len(operands) > 1 else None
    assert x is not None
    numbers = () if axes is None else None if axes.is_mapped else known_ints(axes.value)
    if numbers is None:
        raise CannotVectorize(f"the axes of a {op.name} are known only when it runs")
    if not numbers and (op.noop_with_empty_axes or not x.rank):
        return [Batched(build.add(replace(op, noop_with_empty_axes=1), x.value, build.int64()))]
    picked = map(x.axis, numbers or range(x.rank))
    return [Batched(build.add(op, x.value, build.int64(*picked)))]


def batch_along_axis(op: Op, operands: Operands, build: Builder) -> Sequence[Batched]:
    """For ops with one operand and an attribute `axis`."""
    (x,) = operands
    assert x is not None
    return [Batched(build.add(replace(op, axis=x.axis(op.axis)), x.value))]  # type: ignore[attr-defined]


def batch_cumulative(op: CumSum | CumProd, operands: Operands, build: Builder) -> Sequence[Batched]:
    x, axis = operands
    assert x is not None and axis is not None
    number = None if axis.is_mapped else known_ints(axis.value)
    if number is None:
        raise CannotVectorize(f"the axis of a {op.name} is known only when it runs")
    return [Batched(build.add(op, x.value, build.int64(x.axis(number[0]))))]


RULES: Mapping[type[Op], Rule] = {
    **dict.fromkeys((ReduceSum, ReduceMax, ReduceMin, ReduceMean, ReduceProd), batch_reduction),
    **dict.fromkeys((ReduceL1, ReduceL2, ReduceSumSquare, ReduceLogSum, ReduceLogSumExp), batch_reduction),
    **dict.fromkeys((ArgMax, ArgMin, Softmax, LogSoftmax, Hardmax), batch_along_axis),
    **dict.fromkeys((CumSum, CumProd), batch_cumulative),
}
