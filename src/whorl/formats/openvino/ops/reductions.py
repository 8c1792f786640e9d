"""Reductions along axes, and totals that run along one."""

from __future__ import annotations

from collections.abc import Callable

from whorl.formats.openvino.importing import IrNode, importer
from whorl.formats.openvino.ops.common import emit, listed, one
from whorl.ir.build import Builder
from whorl.ir.graph import Value
from whorl.ops.cumulative import CumSum
from whorl.ops.reductions import (
    ReduceL1,
    ReduceL2,
    ReduceMax,
    ReduceMean,
    ReduceMin,
    ReduceProd,
    ReduceSum,
    Reduction,
)

KINDS: dict[str, type[Reduction]] = {
    "ReduceMax": ReduceMax,
    "ReduceMean": ReduceMean,
    "ReduceMin": ReduceMin,
    "ReduceProd": ReduceProd,
    "ReduceSum": ReduceSum,
}


def _reduction(kind: type[Reduction]) -> Callable[[IrNode, Builder], list[Value]]:
    """Of no axes it is the input."""

    def read(node: IrNode, build: Builder) -> list[Value]:
        op = kind(keepdims=int(node.flag("keep_dims", False)), noop_with_empty_axes=1)
        return emit(node, build, op, node.required(0), listed(build, node.required(1)))

    return read


for _name, _kind in KINDS.items():
    importer(_name, 1)(_reduction(_kind))
importer("ReduceL1", 4)(_reduction(ReduceL1))
importer("ReduceL2", 4)(_reduction(ReduceL2))
importer("ReduceLogicalAnd", 1)(_reduction(ReduceMin))
importer("ReduceLogicalOr", 1)(_reduction(ReduceMax))


@importer("CumSum", 3)
def cum_sum_3(node: IrNode, build: Builder) -> list[Value]:
    """The axis is 0 where it is left out."""
    x, axis = node.required(0), node.input(1)
    op = CumSum(int(node.flag("exclusive", False)), int(node.flag("reverse", False)))
    place = build.int64(0) if axis is None else one(build, listed(build, axis))
    return emit(node, build, op, x, place)
