"""Sums and products that run along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.ops.nodes import cast, counted, emit, length_of_axis, like, listed, one, whole
from whorl.formats.openvino.ops.reduce.reductions import is_short
from whorl.formats.openvino.ops.rows import Row
from whorl.formats.openvino.reading.importer import IrNode
from whorl.formats.openvino.writing.exporter import exporter
from whorl.formats.openvino.writing.layers import drop_axes
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT32, INT64
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Mod
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Equal, Less, LessOrEqual, Where
from whorl.ops.movement.axes import Transpose
from whorl.ops.movement.shapes import Unsqueeze
from whorl.ops.reduce.cumulative import CumProd, CumSum
from whorl.ops.reduce.reductions import ReduceProd


def read_cum_sum(node: IrNode, build: Builder, op: CumSum) -> list[Value]:
    """The axis is 0 where it is left out; short integers are added in int32."""
    x, axis = node.required(0), node.input(1)
    along = build.int64(0) if axis is None else one(build, listed(build, axis))
    if is_short(tensor(x).dtype):
        return emit(node, build, Cast(tensor(x).dtype), build.add(op, cast(build, x, INT32), along))
    return emit(node, build, op, x, along)


def write_cum_sum(op: CumSum, node: Node, write: NetWriter, row: Row[Any]) -> list[Source]:
    """The axis is an input without axes."""
    x, axis = (write.source(value) for value in node.inputs)
    return row.layer(op, node, write, [x, drop_axes(write, axis)])


@exporter(CumProd)
def write_cum_prod(op: CumProd, node: Node, write: NetWriter) -> list[Source]:
    """The product of all elements, with ones instead of those that do not count."""
    fixed, rank = write.constant_value(node.inputs[1]), tensor(node.outputs[0]).rank
    if fixed is not None:
        axis = int(fixed.reshape(-1)[0])
        return write.through(node, lambda build, x, *_: _products(op, build, x, axis))
    if rank is None:
        raise SaveError("the rank of the input is not known", fix="declare its shape")
    return write.through(node, lambda build, x, axis: _products_at_run_time(op, build, x, axis, rank))


def _products_at_run_time(op: CumProd, build: Builder, x: Value, axis: Value, rank: int) -> Value:
    """Those along each axis, and a choice among them."""
    position = build.add(Mod(), build.add(Cast(INT64), axis), whole(build, rank))
    result = _products(op, build, x, 0)
    for k in range(1, rank):
        along = build.add(Equal(), position, whole(build, k))
        result = build.add(Where(), along, _products(op, build, x, k), result)
    return result


def _products(op: CumProd, build: Builder, x: Value, axis: int) -> Value:
    rank = tensor(x).rank
    if rank is None:
        raise SaveError("the rank of the input is not known", fix="declare its shape")
    order = (*(k for k in range(rank) if k != axis % rank), axis % rank)
    rows = build.add(Unsqueeze(), build.add(Transpose(order), x), build.int64(-2))
    position = counted(build, length_of_axis(build, x, axis))
    here = build.add(Unsqueeze(), position, build.int64(1))
    left, right = (here, position) if op.reverse else (position, here)
    counts = build.add(Less() if op.exclusive else LessOrEqual(), left, right)
    factors = build.add(Where(), counts, rows, like(build, x, 1))
    back = tuple(int(k) for k in np.argsort(order))
    return build.add(Transpose(back), build.add(ReduceProd(keepdims=0), factors, build.int64(-1)))
