"""Normalizations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.errors import LoadError, SaveError
from whorl.formats.openvino.ops.nodes import emit, integers_of, like, listed
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import exporter, rewritten
from whorl.formats.openvino.writing.layers import ranked
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.core.base import accumulator
from whorl.ops.core.writer import Writer
from whorl.ops.elementwise.arithmetic import Add, Div, Max, Mul, Reciprocal, Sub
from whorl.ops.elementwise.arithmetic import Sum as AddAll
from whorl.ops.elementwise.comparison import Equal, Where
from whorl.ops.elementwise.functions import Sqrt
from whorl.ops.elementwise.powers import Pow
from whorl.ops.movement.axes import Slice
from whorl.ops.movement.filling import Range
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.shapes import Reshape, Shape, Size
from whorl.ops.reduce.local_response import LRN
from whorl.ops.reduce.normalization import (
    BatchNormalization,
    InstanceNormalization,
    LpNormalization,
    MeanVarianceNormalization,
)
from whorl.ops.reduce.reductions import ReduceL1, ReduceL2, ReduceMean, ReduceSumSquare

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
    """x less its mean, over its deviation with `normalize_variance`."""
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
    if size < 1:
        raise LoadError(f"size is {size}", node.title, "a window has one element or more")
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


@exporter(BatchNormalization)
def batch_normalization(op: BatchNormalization, node: Node, write: NetWriter) -> list[Source]:
    x = node.inputs[0]
    assert x is not None
    dtypes = {tensor(value).dtype for value in node.inputs if value is not None}
    if op.training_mode or len(dtypes) > 1 or tensor(x).rank == 1:
        return write.through(node, lambda build, *inputs: _normalized_batch(op, build, *inputs))
    inputs = [write.source(value) for value in node.inputs]
    (y,) = write.layer("BatchNormInference", 5, inputs, [tensor(node.outputs[0])], node.name, epsilon=float(op.epsilon))
    return [y, inputs[3], inputs[4]]


def _normalized_batch(
    op: BatchNormalization, build: Builder, x: Value, scale: Value, b: Value, mean: Value, variance: Value
) -> Sequence[Value]:
    """The op as simple nodes, in the widest type, with the statistics of X itself in training."""
    write, rank, old = Writer(build), len(ranked(x, "the input")), tensor(mean).dtype
    wide = np.result_type(*(accumulator(tensor(v).dtype) for v in (x, scale, mean)))
    data, factor, shift, *used = (write.cast(v, wide) for v in (x, scale, b, mean, variance))
    running = [mean, variance]
    if op.training_mode:
        axes = build.int64(*(axis for axis in range(rank) if axis != 1))
        centre = build.add(ReduceMean(keepdims=1, noop_with_empty_axes=1), data, axes)
        far = write.sub(data, centre)
        spread = build.add(ReduceMean(keepdims=1, noop_with_empty_axes=1), write.mul(far, far), axes)
        new = [build.add(Reshape(), value, build.int64(-1)) for value in (centre, spread)]
        decay, added = write.number(op.momentum, wide), write.number(1 - op.momentum, wide)
        mixed = [write.add(write.mul(a, decay), write.mul(n, added)) for a, n in zip(used, new, strict=True)]
        running, used = [write.cast(value, old) for value in mixed], new
    ratio = build.add(Div(), factor, build.add(Sqrt(), write.add(used[1], write.number(op.epsilon, wide))))
    centre, ratio, shift = (_on_channels(build, value, rank) for value in (used[0], ratio, shift))
    y = write.add(write.mul(write.sub(data, centre), ratio), shift)
    return [write.cast(y, tensor(x).dtype), *running]


def _on_channels(build: Builder, value: Value, rank: int) -> Value:
    """A tensor [C] shaped to broadcast over [N, C, ...]."""
    return value if rank < 3 else build.add(Reshape(), value, build.int64(-1, *(1,) * (rank - 2)))


def _standardized(build: Builder, x: Value, axes: Value, epsilon: float, stash: np.dtype) -> tuple[Value, Value, Value]:
    """(x - mean) / sqrt(variance + epsilon) in the type that is computed in, the mean, and the root's reciprocal."""
    write, wide = Writer(build), accumulator(stash)
    data = write.cast(x, wide)
    mean = build.add(ReduceMean(keepdims=1), data, axes)
    far = write.sub(data, mean)
    variance = build.add(ReduceMean(keepdims=1), write.mul(far, far), axes)
    root = build.add(Sqrt(), write.add(variance, write.number(epsilon, wide)))
    return build.add(Div(), far, root), mean, build.add(Reciprocal(), root)


@rewritten(InstanceNormalization)
def instance_normalization(op: InstanceNormalization, build: Builder, x: Value, scale: Value, b: Value) -> Value:
    write, rank, dtype = Writer(build), len(ranked(x, "the input")), tensor(x).dtype
    if rank < 3:
        raise SaveError("has no spatial axes", fix="give the input one")
    wide = accumulator(dtype)
    normal, _, _ = _standardized(build, x, build.int64(*range(2, rank)), op.epsilon, dtype)
    factor, shift = (_on_channels(build, write.cast(value, wide), rank) for value in (scale, b))
    return write.cast(write.add(write.mul(normal, factor), shift), dtype)


@exporter(MeanVarianceNormalization)
def mean_variance_normalization(op: MeanVarianceNormalization, node: Node, write: NetWriter) -> list[Source]:
    axes = write.constant(np.array(op.axes, np.int64))
    attributes = {"eps": 1e-9, "normalize_variance": True, "eps_mode": "outside_sqrt"}
    inputs = [write.source(node.inputs[0]), axes]
    return write.layer("MVN", 6, inputs, [tensor(node.outputs[0])], node.name, **attributes)


@rewritten(LpNormalization)
def lp_normalization(op: LpNormalization, build: Builder, x: Value) -> Value:
    write, dtype = Writer(build), tensor(x).dtype
    wide = accumulator(dtype)
    data = write.cast(x, wide)
    norm = build.add(ReduceL1(keepdims=1) if op.p == 1 else ReduceL2(keepdims=1), data, build.int64(op.axis))
    zero = write.number(0, wide)
    y = build.add(Where(), build.add(Equal(), norm, zero), zero, build.add(Div(), data, norm))
    return write.cast(y, dtype)


@exporter(LRN)
def lrn(op: LRN, node: Node, write: NetWriter) -> Source | list[Source]:
    """The CPU plugin cuts the bias to a whole number, and windows of even size short."""
    if op.size % 2 == 0 or op.bias != int(op.bias):
        return write.through(node, lambda build, x: _lrn(op, build, x))
    axes = write.constant(np.array([1], np.int64))
    attributes = {name: float(getattr(op, name)) for name in ("alpha", "beta", "bias")} | {"size": op.size}
    inputs = [write.source(node.inputs[0]), axes]
    return write.layer("LRN", 1, inputs, [tensor(node.outputs[0])], node.name, **attributes)


def _lrn(op: LRN, build: Builder, x: Value) -> Value:
    write, dtype = Writer(build), tensor(x).dtype
    total = window_sum(build, write.mul(x, x), 1, op.size)
    base = write.add(write.mul(total, write.number(op.alpha / op.size, dtype)), write.number(op.bias, dtype))
    return build.add(Div(), x, build.add(Pow(), base, write.number(op.beta, dtype)))
