"""Reductions along axes, and totals that run along one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from whorl.formats.openvino.importing import IrNode, importer
from whorl.formats.openvino.ops.common import cast, emit, listed, one
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT32, is_integer
from whorl.ir.graph import Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.casting import Cast
from whorl.ops.reduce.cumulative import CumSum
from whorl.ops.reduce.reductions import (
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


def _is_short(dtype: np.dtype) -> bool:
    return is_integer(dtype) and dtype.itemsize < INT32.itemsize


def _reduction(kind: type[Reduction]) -> Callable[[IrNode, Builder], list[Value]]:
    """Of no axes it is the input. Integers of types that ONNX does not add are added in int32."""

    def read(node: IrNode, build: Builder) -> list[Value]:
        op = kind(keepdims=int(node.flag("keep_dims", False)), noop_with_empty_axes=1)
        x, axes = node.required(0), listed(build, node.required(1))
        dtype = tensor(x).dtype
        if not _is_short(dtype) or (kind in (ReduceMax, ReduceMin) and dtype.itemsize == 1):
            return emit(node, build, op, x, axes)
        return emit(node, build, Cast(dtype), build.add(op, cast(build, x, INT32), axes))

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
    if _is_short(tensor(x).dtype):
        return emit(node, build, Cast(tensor(x).dtype), build.add(op, cast(build, x, INT32), place))
    return emit(node, build, op, x, place)
