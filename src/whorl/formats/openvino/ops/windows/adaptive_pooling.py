"""Pooling to a fixed number of windows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from whorl.errors import LoadError
from whorl.formats.openvino.ops.nodes import cast, length_of, like, listed
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT32
from whorl.ir.graph import Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Add, Div, Mul, Sub
from whorl.ops.elementwise.comparison import Equal, GreaterOrEqual, Less, Where
from whorl.ops.elementwise.logic import And
from whorl.ops.linear.products import MatMul
from whorl.ops.movement.axes import Concat, Transpose
from whorl.ops.movement.filling import Range
from whorl.ops.movement.indexing import Gather, GatherElements
from whorl.ops.movement.shapes import Expand, Reshape, Shape, Squeeze, Unsqueeze
from whorl.ops.reduce.reductions import ArgMax, ReduceMax, ReduceProd, ReduceSum


def _whole(build: Builder, number: int) -> Value:
    return build.constant(np.array(number, np.int64))


def _windows(build: Builder, length: Value, count: Value) -> Value:
    """[windows, elements]: which elements each of `count` windows over an axis holds."""
    one = _whole(build, 1)
    window = build.add(Unsqueeze(), build.add(Range(), _whole(build, 0), count, one), build.int64(1))
    begin = build.add(Div(), build.add(Mul(), window, length), count)
    reached = build.add(Add(), build.add(Mul(), build.add(Add(), window, one), length), build.add(Sub(), count, one))
    element = build.add(Range(), _whole(build, 0), length, one)
    inside = build.add(Less(), element, build.add(Div(), reached, count))
    return build.add(And(), build.add(GreaterOrEqual(), element, begin), inside)


def _pooled(node: IrNode, build: Builder, x: Value, pool: Callable[[Value, Value], Value]) -> Value:
    """X with its axes pooled one after the other, each of them as the last one."""
    sizes = listed(build, node.required(1))
    rank = length_of(sizes)
    if rank is None:
        raise LoadError("pools to a shape of unknown length", node.title, "declare its length")
    if tensor(x).rank not in (None, 2 + rank):
        pooled = tensor(node.required(0))
        raise LoadError(f"pools {pooled} to {rank} lengths", node.title, "give one for each axis but the first two")
    for k in range(rank):
        turned = build.add(Transpose((0, 1, *range(3, 2 + rank), 2)), x) if rank > 1 else x
        length = build.add(Squeeze(), build.add(Shape(start=-1), turned), build.int64(0))
        count = build.add(Gather(0), sizes, _whole(build, k))
        x = pool(turned, _windows(build, length, count))
    return x


@importer("AdaptiveAvgPool", 8)
def adaptive_avg_pool_8(node: IrNode, build: Builder) -> list[Value]:
    x = node.required(0)

    def pool(x: Value, windows: Value) -> Value:
        weights = cast(build, windows, tensor(x).dtype)
        weights = build.add(Div(), weights, build.add(ReduceSum(keepdims=1), weights, build.int64(1)))
        return build.add(MatMul(), x, build.add(Transpose(), weights))

    return [_pooled(node, build, x, pool)]


@importer("AdaptiveMaxPool", 8)
def adaptive_max_pool_8(node: IrNode, build: Builder) -> list[Value]:
    """The largest elements, by their indices in the flattened plane.

    Elements outside of a window are the least number, so where that is the largest one the first in the window counts.
    """
    x, least = node.required(0), like(build, node.required(0), -np.inf)
    plane = build.add(Shape(start=2), x)
    size = build.add(ReduceProd(keepdims=0), plane)
    counted = build.add(Range(), _whole(build, 0), size, _whole(build, 1))
    positions = build.add(Expand(), build.add(Reshape(), counted, plane), build.add(Shape(), x))
    flat_shape = build.add_many(Concat(0), [build.add(Shape(end=2), x), build.int64(-1)], ["flat"])[0]
    flat = build.add(Reshape(), x, flat_shape)

    def pool(positions: Value, windows: Value) -> Value:
        values = build.add(Reshape(), _taken(build, flat, positions), build.add(Shape(), positions))
        shown = build.add(Where(), windows, build.add(Unsqueeze(), values, build.int64(-2)), least)
        best = build.add(ArgMax(-1, keepdims=0), shown)
        first = build.add(ArgMax(-1, keepdims=0), cast(build, windows, INT32))
        is_least = build.add(Equal(), build.add(ReduceMax(keepdims=0), shown, build.int64(-1)), least)
        best = build.add(Where(), is_least, first, best)
        return build.add(GatherElements(-1), positions, best)

    chosen = _pooled(node, build, positions, pool)
    values = build.add(Reshape(), _taken(build, flat, chosen), build.add(Shape(), chosen))
    return [values, cast(build, chosen, node.dtype("index_element_type", "i64"))]


def _taken(build: Builder, flat: Value, positions: Value) -> Value:
    """Elements of flattened planes."""
    shape = build.add_many(Concat(0), [build.add(Shape(end=2), positions), build.int64(-1)], ["flat"])[0]
    return build.add(GatherElements(2), flat, build.add(Reshape(), positions, shape))
