"""Normalizations read."""

from __future__ import annotations

import numpy as np

from whorl.errors import LoadError
from whorl.formats.openvino.importing import IrNode, importer
from whorl.formats.openvino.ops.common import emit, integers_of, like, listed
from whorl.ir.build import Builder
from whorl.ir.graph import Value
from whorl.ops.elementwise.arithmetic import Add, Div, Max, Mul, Sub
from whorl.ops.elementwise.arithmetic import Sum as AddAll
from whorl.ops.elementwise.functions import Sqrt
from whorl.ops.elementwise.powers import Pow
from whorl.ops.movement.axes import Slice
from whorl.ops.movement.filling import Range
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.shapes import Shape, Size
from whorl.ops.reduce.local_response import LRN
from whorl.ops.reduce.normalization import BatchNormalization, GroupNormalization
from whorl.ops.reduce.reductions import ReduceMean, ReduceSumSquare

_FAR = (1 << 63) - 1


@importer("BatchNormInference", 1)
def batch_norm_inference_1(node: IrNode, build: Builder) -> list[Value]:
    """The scale and the shift come before the data."""
    scale, shift, x, mean, variance = (node.required(n) for n in range(5))
    return [_normalized(node, build, x, scale, shift, mean, variance)]


@importer("BatchNormInference", 5)
def batch_norm_inference_5(node: IrNode, build: Builder) -> list[Value]:
    return [_normalized(node, build, *(node.required(n) for n in range(5)))]


def _normalized(node: IrNode, build: Builder, *inputs: Value) -> Value:
    return emit(node, build, BatchNormalization(epsilon=node.number("epsilon")), *inputs)[0]


@importer("MVN", 1, 2)
def mvn_1(node: IrNode, build: Builder) -> list[Value]:
    """Over the spatial axes, and with `across_channels` over the channels as well; epsilon is added under the root."""
    x = node.required(0)
    axes = node.integers("reduction_axes", ())
    if axes:
        chosen = build.int64(*axes)
    else:
        rank = build.add(Size(), build.add(Shape(), x))
        first = build.constant(np.array(1 if node.flag("across_channels", False) else 2, np.int64))
        chosen = build.add(Range(), first, rank, build.constant(np.array(1, np.int64)))
    return [_centred(node, build, x, chosen, node.number("eps"), True)]


@importer("MVN", 6)
def mvn_6(node: IrNode, build: Builder) -> list[Value]:
    inside = node.text("eps_mode", choices=("inside_sqrt", "outside_sqrt")) == "inside_sqrt"
    return [_centred(node, build, node.required(0), listed(build, node.required(1)), node.number("eps"), inside)]


def _centred(node: IrNode, build: Builder, x: Value, axes: Value, epsilon: float, inside: bool) -> Value:
    """x less its mean, over its deviation if so asked."""
    centred = build.add(Sub(), x, build.add(ReduceMean(keepdims=1), x, axes), name=node.outputs[0])
    if not node.flag("normalize_variance", True):
        return centred
    variance = build.add(ReduceMean(keepdims=1), build.add(Mul(), centred, centred), axes)
    small = like(build, x, epsilon)
    if inside:
        deviation = build.add(Sqrt(), build.add(Add(), variance, small))
    else:
        deviation = build.add(Add(), build.add(Sqrt(), variance), small)
    return build.add_many(Div(), [centred, deviation], node.outputs, name=node.name)[0]


@importer("GroupNormalization", 12)
def group_normalization_12(node: IrNode, build: Builder) -> list[Value]:
    op = GroupNormalization(node.integer("num_groups"), epsilon=node.number("epsilon"))
    return emit(node, build, op, *(node.required(n) for n in range(3)))


@importer("NormalizeL2", 1)
def normalize_l2_1(node: IrNode, build: Builder) -> list[Value]:
    """x over the root of its sum of squares, to which epsilon is added, or which is at least epsilon."""
    x, axes = node.required(0), listed(build, node.required(1))
    mode, small = node.text("eps_mode", choices=("add", "max")), like(build, x, node.number("eps"))
    total = build.add(ReduceSumSquare(keepdims=1, noop_with_empty_axes=1), x, axes)
    total = build.add(Add(), total, small) if mode == "add" else build.add_many(Max(), [total, small], ["largest"])[0]
    return emit(node, build, Div(), x, build.add(Sqrt(), total))


@importer("LRN", 1)
def lrn_1(node: IrNode, build: Builder) -> list[Value]:
    """Windows over the channels are the hub's op; over other axes they are written out as shifted copies.

    A window has as many neighbours on both sides, so that one of even size lacks an element; the mean counts it.
    """
    x, size = node.required(0), node.integer("size")
    axes = integers_of(node.required(1))
    if axes is None:
        raise LoadError("has axes that are computed", node.title, "make them a constant")
    alpha, beta, bias = (node.number(name) for name in ("alpha", "beta", "bias"))
    odd = size if size % 2 else size - 1
    if axes == [1]:
        return emit(node, build, LRN(size=odd, alpha=alpha * odd / size, beta=beta, bias=bias), x)
    total = build.add(Mul(), x, x)
    for axis in axes:
        total = window_sum(build, total, axis, odd)
    scaled = build.add(Mul(), total, like(build, x, alpha / size ** len(axes)))
    base = build.add(Pow(), build.add(Add(), scaled, like(build, x, bias)), like(build, x, beta))
    return emit(node, build, Div(), x, base)


def window_sum(build: Builder, x: Value, axis: int, size: int) -> Value:
    """Sums of `size` neighbours along an axis, cut at the ends; the odd one comes after."""
    below, above, where = (size - 1) // 2, size // 2, build.int64(axis)
    padded = build.add(Pad(), x, build.int64(below, above), like(build, x, 0), where)
    ends = [n + 1 - size if n + 1 < size else _FAR for n in range(size)]
    parts = [build.add(Slice(), padded, build.int64(n), build.int64(end), where) for n, end in enumerate(ends)]
    return build.add_many(AddAll(), parts, ["window"])[0]
