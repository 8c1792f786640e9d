"""Normalizations written."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.exporting import LayerWriter, Source, exporter, rewritten
from whorl.formats.openvino.ops.convolution_out import ranked
from whorl.formats.openvino.ops.normalization import window_sum
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.core.base import accumulator
from whorl.ops.core.writer import Writer
from whorl.ops.elementwise.arithmetic import Div, Reciprocal
from whorl.ops.elementwise.comparison import Equal, Where
from whorl.ops.elementwise.functions import Sqrt
from whorl.ops.elementwise.powers import Pow
from whorl.ops.movement.shapes import Reshape
from whorl.ops.reduce.local_response import LRN
from whorl.ops.reduce.normalization import (
    BatchNormalization,
    GroupNormalization,
    InstanceNormalization,
    LayerNormalization,
    LpNormalization,
    MeanVarianceNormalization,
    RMSNormalization,
)
from whorl.ops.reduce.reductions import ReduceL1, ReduceL2, ReduceMean


@exporter("BatchNormalization")
def batch_normalization(node: Node, write: LayerWriter) -> list[Source]:
    op, x = node.op, node.inputs[0]
    assert isinstance(op, BatchNormalization) and x is not None
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
        kept, added = write.number(op.momentum, wide), write.number(1 - op.momentum, wide)
        mixed = [write.add(write.mul(a, kept), write.mul(n, added)) for a, n in zip(used, new, strict=True)]
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


@rewritten("InstanceNormalization")
def instance_normalization(node: Node, build: Builder, x: Value, scale: Value, b: Value) -> Value:
    op, write, rank, dtype = node.op, Writer(build), len(ranked(x, "the input")), tensor(x).dtype
    assert isinstance(op, InstanceNormalization)
    if rank < 3:
        raise SaveError("has no spatial axes", fix="give the input one")
    wide = accumulator(dtype)
    normal, _, _ = _standardized(build, x, build.int64(*range(2, rank)), op.epsilon, dtype)
    factor, shift = (_on_channels(build, write.cast(value, wide), rank) for value in (scale, b))
    return write.cast(write.add(write.mul(normal, factor), shift), dtype)


@exporter("GroupNormalization")
def group_normalization(node: Node, write: LayerWriter) -> list[Source]:
    op = node.op
    assert isinstance(op, GroupNormalization)
    inputs, type = [write.source(value) for value in node.inputs], tensor(node.outputs[0])
    attributes = {"num_groups": op.num_groups, "epsilon": float(op.epsilon)}
    return write.layer("GroupNormalization", 12, inputs, [type], node.name, **attributes)


@rewritten("LayerNormalization")
def layer_normalization(node: Node, build: Builder, x: Value, scale: Value, b: Value | None = None) -> list[Value]:
    op, write, dtype = node.op, Writer(build), tensor(x).dtype
    assert isinstance(op, LayerNormalization)
    normal, mean, reciprocal = _standardized(build, x, _last_axes(build, x, op.axis), op.epsilon, op.stash_type)
    wide = accumulator(dtype)
    y = write.mul(write.cast(normal, wide), write.cast(scale, wide))
    y = y if b is None else write.add(y, write.cast(b, wide))
    return [write.cast(y, dtype), write.cast(mean, op.stash_type), write.cast(reciprocal, op.stash_type)]


def _last_axes(build: Builder, x: Value, axis: int) -> Value:
    """All axes from one on."""
    shape = tensor(x).shape
    if axis >= 0:
        if isinstance(shape, AnyShape):
            raise SaveError("counts axes of an input of unknown rank", fix="a negative axis")
        axis -= len(shape)
    return build.int64(*range(axis, 0))


@rewritten("RMSNormalization")
def rms_normalization(node: Node, build: Builder, x: Value, scale: Value) -> Value:
    op, write, dtype, result = node.op, Writer(build), tensor(x).dtype, tensor(scale).dtype
    assert isinstance(op, RMSNormalization)
    wide = accumulator(op.stash_type)
    data = write.cast(x, wide)
    mean = build.add(ReduceMean(keepdims=1), write.mul(data, data), _last_axes(build, x, op.axis))
    root = build.add(Sqrt(), write.add(mean, write.number(op.epsilon, wide)))
    normal = write.cast(build.add(Div(), data, root), accumulator(dtype))
    both = np.result_type(tensor(normal).dtype, accumulator(result))
    return write.cast(write.mul(write.cast(normal, both), write.cast(scale, both)), result)


@exporter("MeanVarianceNormalization")
def mean_variance_normalization(node: Node, write: LayerWriter) -> list[Source]:
    op = node.op
    assert isinstance(op, MeanVarianceNormalization)
    axes = write.constant(np.array(op.axes, np.int64))
    attributes = {"eps": 1e-9, "normalize_variance": True, "eps_mode": "outside_sqrt"}
    inputs = [write.source(node.inputs[0]), axes]
    return write.layer("MVN", 6, inputs, [tensor(node.outputs[0])], node.name, **attributes)


@rewritten("LpNormalization")
def lp_normalization(node: Node, build: Builder, x: Value) -> Value:
    op, write, dtype = node.op, Writer(build), tensor(x).dtype
    assert isinstance(op, LpNormalization)
    wide = accumulator(dtype)
    data = write.cast(x, wide)
    norm = build.add(ReduceL1(keepdims=1) if op.p == 1 else ReduceL2(keepdims=1), data, build.int64(op.axis))
    zero = write.number(0, wide)
    y = build.add(Where(), build.add(Equal(), norm, zero), zero, build.add(Div(), data, norm))
    return write.cast(y, dtype)


@exporter("LRN")
def lrn(node: Node, write: LayerWriter) -> Source | list[Source]:
    """The CPU plugin cuts the bias to a whole number, and windows of even size short."""
    op = node.op
    assert isinstance(op, LRN)
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
