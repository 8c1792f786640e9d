"""Pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from msgspec.structs import replace

from whorl.errors import SaveError
from whorl.formats.openvino.ops.nodes import emit, like
from whorl.formats.openvino.ops.windows.attributes import require_spatial, window_attributes, window_fields
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import exporter, rewritten
from whorl.formats.openvino.writing.layers import ranked
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT32, INT64, is_float
from whorl.ir.graph import Node, Op, Value
from whorl.ir.types import Shape, tensor
from whorl.ops.elementwise.arithmetic import Abs, Add, Div, Max, Mod, Mul
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.functions import Sqrt
from whorl.ops.elementwise.powers import Pow
from whorl.ops.movement.axes import Slice
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.shapes import Expand
from whorl.ops.movement.shapes import Shape as ShapeOf
from whorl.ops.reduce.reductions import ReduceMax, ReduceMean, ReduceProd, ReduceSum
from whorl.ops.windows.pooling import AveragePool, GlobalAveragePool, GlobalLpPool, GlobalMaxPool, LpPool, MaxPool, Pool

_ROUNDINGS = ("floor", "ceil", "ceil_torch")


def _fields(node: IrNode, rounding: str) -> dict[str, Any]:
    """The hub's fields of pooling.

    `ceil` also counts windows that start in the padding: a longer padding has as many. `ceil_torch` does not.
    """
    fields: dict[str, Any] = window_fields(node) | {"kernel_shape": node.integers("kernel")}
    if rounding == "floor" or fields["auto_pad"].startswith("SAME"):
        return fields
    fields["auto_pad"] = "NOTSET"
    if rounding == "ceil_torch":
        return fields | {"ceil_mode": 1}
    rank = len(fields["kernel_shape"])
    pads = fields["pads"] or (0,) * (2 * rank)
    ends = (end + stride - 1 for end, stride in zip(pads[rank:], fields["strides"], strict=True))
    return fields | {"pads": (*pads[:rank], *ends)}


def _rounding(node: IrNode) -> str:
    return node.text("rounding_type", "floor", _ROUNDINGS)


@importer("MaxPool", 1)
def max_pool_1(node: IrNode, build: Builder) -> list[Value]:
    op, x = MaxPool(**_fields(node, _rounding(node))), node.required(0)
    return [_largest(op, node, build, x)]


def _largest(op: MaxPool, node: IrNode, build: Builder, x: Value) -> Value:
    """The largest elements alone."""
    dtype, op = tensor(x).dtype, replace(op, output_count=1)
    if _is_padded_far(op) and is_float(dtype):
        op, x = replace(op, pads=None), _padded(op, build, x, float(ml_dtypes.finfo(dtype).min))
    return _bounded(op, build, build.add_many(op, [x], node.outputs[:1], name=node.name)[0])


def _is_padded_far(op: Pool) -> bool:
    """Whether the padding is as long as a window, which onnxruntime refuses."""
    return any(n >= kernel for n, kernel in zip(op.pads or (), op.kernel_shape * 2, strict=False))


def _padded(op: Pool, build: Builder, x: Value, number: float) -> Value:
    """X with its padding as elements."""
    axes = build.int64(*range(2, 2 + len(op.kernel_shape)))
    return build.add(Pad(), x, build.int64(*(op.pads or ())), like(build, x, number), axes)


@importer("MaxPool", 8, 14)
def max_pool_8(node: IrNode, build: Builder) -> list[Value]:
    """The indices are counted in the flattened tensor from `axis` on."""
    op, x = MaxPool(**_fields(node, _rounding(node)), output_count=2), node.required(0)
    y, indices = build.add_many(op, [x], [node.outputs[0], "places"], name=node.name)
    axis = node.integer("axis", 0)
    if axis:
        size = build.add(ReduceProd(keepdims=1), build.add(ShapeOf(start=axis), x), build.int64(0))
        indices = build.add(Mod(), indices, size)
    dtype = node.dtype("index_element_type", "i64")
    indices = indices if dtype == INT64 else build.add_many(Cast(dtype), [indices], node.outputs[1:])[0]
    return [_largest(op, node, build, x) if _is_padded_far(op) else _bounded(op, build, y), indices]


def _bounded(op: MaxPool, build: Builder, y: Value) -> Value:
    """A window that may lie in the padding alone gives the least finite number."""
    rank, dtype = len(op.kernel_shape), tensor(y).dtype
    if not op.pads or not is_float(dtype):
        return y
    spans = [(k - 1) * d + 1 for k, d in zip(op.kernel_shape, op.dilations or (1,) * rank, strict=True)]
    if op.ceil_mode or all(end < span for end, span in zip(op.pads[rank:], spans, strict=True)):
        return y
    least = build.constant(np.array(ml_dtypes.finfo(dtype).min, dtype))
    return build.add_many(Max(), [y, least], [y.name])[0]


@importer("AvgPool", 1, 14, 16)
def avg_pool_1(node: IrNode, build: Builder) -> list[Value]:
    """Where padding is counted, the part of a window behind it is as well; no padding at all counts nothing."""
    x, rounding = node.required(0), _rounding(node)
    fields = _fields(node, rounding)
    is_padded = bool(window_fields(node)["pads"]) or fields["auto_pad"].startswith("SAME")
    if node.flag("exclude-pad") or not is_padded:
        return emit(node, build, *_means_inside(AveragePool(**fields), build, x))
    if not fields.get("ceil_mode"):
        return [_means(AveragePool(count_include_pad=1, **fields), build, x)]
    op = AveragePool(count_include_pad=1, **_fields(node, "ceil"))
    return [_windows_inside(op, build, x, _means(op, build, x))]


def _means(op: AveragePool, build: Builder, x: Value) -> Value:
    """Means of the elements and the padding."""
    if not _is_padded_far(op):
        return build.add(op, x)
    return build.add(replace(op, pads=None), _padded(op, build, x, 0))


def _means_inside(op: AveragePool, build: Builder, x: Value) -> tuple[Op, *tuple[Value, ...]]:
    """The node that gives the means of the elements alone; with far padding a quotient of means."""
    if not _is_padded_far(op):
        return op, x
    ones = build.add(Expand(), like(build, x, 1), build.add(ShapeOf(), x))
    return Div(), *(build.add(replace(op, pads=None), _padded(op, build, each, 0)) for each in (x, ones))


def _windows_inside(op: AveragePool, build: Builder, x: Value, y: Value) -> Value:
    """Without the last windows, where they start behind X."""
    rank = len(op.kernel_shape)
    begins, strides = (op.pads or ())[:rank], op.strides or (1,) * rank
    shifts = (begin + stride - 1 for begin, stride in zip(begins, strides, strict=True))
    reached = build.add(Add(), build.add(ShapeOf(start=2), x), build.int64(*shifts))
    counts = build.add(Div(), reached, build.int64(*strides))
    return build.add(Slice(), y, build.int64(*(0,) * rank), counts, build.int64(*range(2, 2 + rank)))


def _attributes(op: Pool) -> dict[str, Any]:
    rank = len(op.kernel_shape)
    require_spatial(rank)
    rounding = "ceil_torch" if op.ceil_mode and op.auto_pad == "NOTSET" else "floor"
    attributes = window_attributes(op, rank, pad=op.auto_pad)
    return {"kernel": op.kernel_shape, **attributes, "rounding_type": rounding}


@exporter(MaxPool)
def max_pool(op: MaxPool, node: Node, write: NetWriter) -> list[Source]:
    x = node.inputs[0]
    assert x is not None
    if op.storage_order and len(node.outputs) > 1:
        return write.through(node, lambda build, value: _columns_first(op, build, value))
    if not is_float(tensor(x).dtype):
        return write.through(node, lambda build, value: _whole(op, node, build, value))
    attributes, type = _attributes(op), tensor(node.outputs[0])
    if op.output_count == 1 and not op.ceil_mode and set(attributes["dilations"]) == {1}:
        del attributes["dilations"]
        return write.layer("MaxPool", 1, [write.source(x)], [type], **attributes)
    if op.auto_pad.startswith("SAME") and not all(isinstance(n, int) for n in ranked(x, "the input")[2:]):
        raise SaveError("pads by lengths that are not known", fix="give pads, or fixed lengths")
    types = [type, type.with_dtype(INT64)]
    attributes |= {"index_element_type": INT64, "axis": 0}
    return write.layer("MaxPool", 14, [write.source(x)], types, **attributes)


def _whole(op: MaxPool, node: Node, build: Builder, x: Value) -> Sequence[Value]:
    """Small integers through floats, which hold them exactly."""
    wide = build.add(Cast(FLOAT32), x)
    y, *indices = build.add_many(op, [wide], [value.name for value in node.outputs])
    return [build.add(Cast(tensor(x).dtype), y), *indices]


def _columns_first(op: MaxPool, build: Builder, x: Value) -> Sequence[Value]:
    """The indices with the first spatial axis fastest, out of those with the last one fastest."""
    lengths = [length for length in ranked(x, "the input")[2:] if isinstance(length, int)]
    if len(lengths) < len(op.kernel_shape):
        raise SaveError("counts places by columns over lengths that are not known", fix="storage_order 0")
    y, indices = build.add_many(replace(op, storage_order=0), [x], ["y", "places"])
    steps = np.cumprod([1, *lengths], dtype=np.int64)
    rest = build.add(Mod(), indices, build.int64(int(steps[-1])))
    result = build.add(Mul(), build.add(Div(), indices, build.int64(int(steps[-1]))), build.int64(int(steps[-1])))
    for axis in reversed(range(len(lengths))):
        length = build.int64(lengths[axis])
        part = build.add(Mul(), build.add(Mod(), rest, length), build.int64(int(steps[axis])))
        result, rest = build.add(Add(), result, part), build.add(Div(), rest, length)
    return [y, result]


@exporter(AveragePool)
def average_pool(op: AveragePool, node: Node, write: NetWriter) -> Source | list[Source]:
    """Where the padding counts but what lies behind it does not, X is padded beforehand."""
    x = node.inputs[0]
    assert x is not None
    is_padded = op.auto_pad.startswith("SAME") or (op.auto_pad == "NOTSET" and any(op.pads or ()))
    if op.count_include_pad and is_padded and op.ceil_mode and op.auto_pad == "NOTSET":
        return write.through(node, lambda build, value: _pad_before(op, build, value, tensor(node.outputs[0]).shape))
    excludes = not (op.count_include_pad and is_padded)
    attributes: dict[str, Any] = _attributes(op) | {"exclude-pad": excludes}
    version = 16 if any(step != 1 for step in attributes["dilations"]) else 14
    if version == 14:
        del attributes["dilations"]
    return write.layer("AvgPool", version, [write.source(x)], [tensor(node.outputs[0])], **attributes)


def _pad_before(op: AveragePool | LpPool, build: Builder, x: Value, shape: Shape) -> Value:
    """The op without padding on X padded with zeros, and only the windows that start before X's end padding."""
    counts = [dim for dim in shape[2:] if isinstance(dim, int)] if isinstance(shape, tuple) else []
    rank = len(op.kernel_shape)
    if len(counts) < rank:
        raise SaveError("hangs over the end of an axis whose length is not known", fix="ceil_mode 0, or fixed lengths")
    axes, zeros = build.int64(*range(2, 2 + rank)), build.int64(*(0,) * rank)
    wide = build.add(Pad(), x, build.int64(*(op.pads or (0,) * (2 * rank))), like(build, x, 0), axes)
    y = build.add(replace(op, pads=None), wide)
    return build.add(Slice(), y, zeros, build.int64(*counts), axes)


@rewritten(LpPool)
def lp_pool(op: LpPool, build: Builder, x: Value) -> Value:
    """The root of the mean of powers times the number of elements, those in the padding being 0.

    With ceil_mode zeros are continued as far as the last windows reach, of which those that start too late are dropped.
    """
    if op.ceil_mode and op.auto_pad == "NOTSET":
        rank = len(op.kernel_shape)
        pads, strides = op.pads or (0,) * (2 * rank), op.strides or (1,) * rank
        ends = (end + stride - 1 for end, stride in zip(pads[rank:], strides, strict=True))
        wide = replace(op, ceil_mode=0, pads=(*pads[:rank], *ends))
        return _pad_before(wide, build, x, op.shape(x))
    fields = {name: getattr(op, name) for name in Pool.__struct_fields__}
    mean = build.add(AveragePool(count_include_pad=1, **fields), _power(build, x, op.p))
    size = build.constant(np.array(np.prod(op.kernel_shape), tensor(x).dtype))
    return _root(build, build.add(Mul(), mean, size), op.p)


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


@rewritten(GlobalAveragePool)
def global_average_pool(op: GlobalAveragePool, build: Builder, x: Value) -> Value:
    return build.add(ReduceMean(keepdims=1, noop_with_empty_axes=1), x, _planes(build, x))


@rewritten(GlobalMaxPool)
def global_max_pool(op: GlobalMaxPool, build: Builder, x: Value) -> Value:
    return build.add(ReduceMax(keepdims=1, noop_with_empty_axes=1), x, _planes(build, x))


@rewritten(GlobalLpPool)
def global_lp_pool(op: GlobalLpPool, build: Builder, x: Value) -> Value:
    total = build.add(ReduceSum(keepdims=1, noop_with_empty_axes=1), _power(build, x, op.p), _planes(build, x))
    return _root(build, total, op.p)
