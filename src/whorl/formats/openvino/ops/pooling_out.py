"""Pooling written."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.exporting import LayerWriter, Source, exporter, rewritten
from whorl.formats.openvino.ops.convolution_out import AUTO_PADS, ranked, require_spatial
from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT32, INT64, is_float
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Abs, Add, Div, Mod, Mul
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.functions import Sqrt
from whorl.ops.elementwise.powers import Pow
from whorl.ops.movement.axes import Slice
from whorl.ops.movement.padding import Pad
from whorl.ops.reduce.reductions import ReduceMax, ReduceMean, ReduceSum
from whorl.ops.windows.pooling import AveragePool, GlobalLpPool, LpPool, MaxPool, Pool


def _attributes(op: Pool) -> dict[str, Any]:
    rank = len(op.kernel_shape)
    require_spatial(rank)
    pads = op.pads or (0,) * (2 * rank)
    return {
        "kernel": op.kernel_shape,
        "strides": op.strides or (1,) * rank,
        "dilations": op.dilations or (1,) * rank,
        "pads_begin": pads[:rank],
        "pads_end": pads[rank:],
        "auto_pad": AUTO_PADS[op.auto_pad],
        "rounding_type": "ceil_torch" if op.ceil_mode and op.auto_pad == "NOTSET" else "floor",
    }


@exporter("MaxPool")
def max_pool(node: Node, write: LayerWriter) -> list[Source]:
    op, x = node.op, node.inputs[0]
    assert isinstance(op, MaxPool) and x is not None
    if op.storage_order and len(node.outputs) > 1:
        return write.through(node, lambda build, value: _columns_first(op, build, value))
    if not is_float(tensor(x).dtype):
        return write.through(node, lambda build, value: _whole(node, build, value))
    attributes, type = _attributes(op), tensor(node.outputs[0])
    if op.output_count == 1 and not op.ceil_mode and set(attributes["dilations"]) == {1}:
        del attributes["dilations"]
        return write.layer("MaxPool", 1, [write.source(x)], [type], node.name, **attributes)
    if op.auto_pad.startswith("SAME") and not all(isinstance(n, int) for n in ranked(x, "the input")[2:]):
        raise SaveError("pads by lengths that are not known", fix="give pads, or fixed lengths")
    types = [type, type.with_dtype(INT64)]
    attributes |= {"index_element_type": INT64, "axis": 0}
    return write.layer("MaxPool", 14, [write.source(x)], types, node.name, **attributes)


def _whole(node: Node, build: Builder, x: Value) -> Sequence[Value]:
    """Small integers through floats, which hold them exactly."""
    wide = build.add(Cast(FLOAT32), x)
    y, *places = build.add_many(node.op, [wide], [value.name for value in node.outputs])
    return [build.add(Cast(tensor(x).dtype), y), *places]


def _columns_first(op: MaxPool, build: Builder, x: Value) -> Sequence[Value]:
    """The places with the first spatial axis fastest, out of those with the last one fastest."""
    lengths = [length for length in ranked(x, "the input")[2:] if isinstance(length, int)]
    if len(lengths) < len(op.kernel_shape):
        raise SaveError("counts places by columns over lengths that are not known", fix="storage_order 0")
    y, places = build.add_many(dataclasses.replace(op, storage_order=0), [x], ["y", "places"])
    steps = np.cumprod([1, *lengths], dtype=np.int64)
    rest = build.add(Mod(), places, build.int64(int(steps[-1])))
    result = build.add(Mul(), build.add(Div(), places, build.int64(int(steps[-1]))), build.int64(int(steps[-1])))
    for axis in reversed(range(len(lengths))):
        length = build.int64(lengths[axis])
        part = build.add(Mul(), build.add(Mod(), rest, length), build.int64(int(steps[axis])))
        result, rest = build.add(Add(), result, part), build.add(Div(), rest, length)
    return [y, result]


@exporter("AveragePool")
def average_pool(node: Node, write: LayerWriter) -> Source | list[Source]:
    """Where the padding counts but what lies behind it does not, X is padded beforehand."""
    op, x = node.op, node.inputs[0]
    assert isinstance(op, AveragePool) and x is not None
    is_padded = op.auto_pad.startswith("SAME") or (op.auto_pad == "NOTSET" and any(op.pads or ()))
    if op.count_include_pad and is_padded and op.ceil_mode and op.auto_pad == "NOTSET":
        return write.through(node, lambda build, value: _padded(node, build, value, AveragePool))
    excludes = not (op.count_include_pad and is_padded)
    attributes: dict[str, Any] = _attributes(op) | {"exclude-pad": excludes}
    version = 16 if any(step != 1 for step in attributes["dilations"]) else 14
    if version == 14:
        del attributes["dilations"]
    return write.layer("AvgPool", version, [write.source(x)], [tensor(node.outputs[0])], node.name, **attributes)


def _padded(node: Node, build: Builder, x: Value, kind: type[AveragePool] | type[LpPool]) -> Value:
    """The op without padding on X padded with zeros, and only the windows that start before X's end padding."""
    op = node.op
    assert isinstance(op, kind)
    counts = ranked(node.outputs[0], "the result")[2:]
    if not all(isinstance(count, int) for count in counts):
        raise SaveError("hangs over the end of an axis whose length is not known", fix="ceil_mode 0, or fixed lengths")
    rank = len(counts)
    axes, zeros = build.int64(*range(2, 2 + rank)), build.int64(*(0,) * rank)
    zero = build.constant(np.zeros((), tensor(x).dtype))
    wide = build.add(Pad(), x, build.int64(*(op.pads or (0,) * (2 * rank))), zero, axes)
    y = build.add(dataclasses.replace(op, pads=None), wide)
    return build.add(Slice(), y, zeros, build.int64(*counts), axes)  # type: ignore[arg-type]


@rewritten("LpPool")
def lp_pool(node: Node, build: Builder, x: Value) -> Value:
    """The root of the mean of powers times the number of elements, those in the padding being 0."""
    op = node.op
    assert isinstance(op, LpPool)
    if op.ceil_mode and op.auto_pad == "NOTSET":
        return _lp_hanging_over(node, build, x)
    fields = {f.name: getattr(op, f.name) for f in dataclasses.fields(Pool)}
    mean = build.add(AveragePool(count_include_pad=1, **fields), _power(build, x, op.p))
    size = build.constant(np.array(np.prod(op.kernel_shape), tensor(x).dtype))
    return _root(build, build.add(Mul(), mean, size), op.p)


def _lp_hanging_over(node: Node, build: Builder, x: Value) -> Value:
    """Zeros are continued as far as the last windows reach, of which those that start too late are dropped."""
    op = node.op
    assert isinstance(op, LpPool)
    rank = len(op.kernel_shape)
    pads, strides = op.pads or (0,) * (2 * rank), op.strides or (1,) * rank
    ends = (end + stride - 1 for end, stride in zip(pads[rank:], strides, strict=True))
    wide = Node(dataclasses.replace(op, ceil_mode=0, pads=(*pads[:rank], *ends)), node.inputs)
    wide.outputs = node.outputs
    return _padded(wide, build, x, LpPool)


def _power(build: Builder, x: Value, p: int) -> Value:
    if p == 2:
        return build.add(Mul(), x, x)
    size = build.add(Abs(), x)
    return size if p == 1 else build.add(Pow(), size, build.constant(np.array(p, tensor(x).dtype)))


def _root(build: Builder, x: Value, p: int) -> Value:
    if p < 3:
        return x if p == 1 else build.add(Sqrt(), x)
    return build.add(Pow(), x, build.constant(np.array(1 / p, tensor(x).dtype)))


def _planes(build: Builder, x: Value) -> Value:
    """The spatial axes of X [N, C, axes...]."""
    return build.int64(*range(2, len(ranked(x, "the input"))))


@rewritten("GlobalAveragePool")
def global_average_pool(node: Node, build: Builder, x: Value) -> Value:
    return build.add(ReduceMean(keepdims=1, noop_with_empty_axes=1), x, _planes(build, x))


@rewritten("GlobalMaxPool")
def global_max_pool(node: Node, build: Builder, x: Value) -> Value:
    return build.add(ReduceMax(keepdims=1, noop_with_empty_axes=1), x, _planes(build, x))


@rewritten("GlobalLpPool")
def global_lp_pool(node: Node, build: Builder, x: Value) -> Value:
    op = node.op
    assert isinstance(op, GlobalLpPool)
    total = build.add(ReduceSum(keepdims=1, noop_with_empty_axes=1), _power(build, x, op.p), _planes(build, x))
    return _root(build, total, op.p)
