"""Pooling read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from whorl.formats.openvino.importing import IrNode, importer
from whorl.formats.openvino.ops.common import emit, like
from whorl.formats.openvino.ops.convolution import window_fields
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64, is_float
from whorl.ir.graph import Value
from whorl.ir.op import Op
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Add, Div, Max, Mod
from whorl.ops.elementwise.casting import Cast
from whorl.ops.movement.axes import Slice
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.shapes import Expand, Shape
from whorl.ops.reduce.reductions import ReduceProd
from whorl.ops.windows.pooling import AveragePool, MaxPool, Pool

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
    """The places are counted in the flattened tensor from `axis` on."""
    op, x = MaxPool(**_fields(node, _rounding(node)), output_count=2), node.required(0)
    y, places = build.add_many(op, [x], [node.outputs[0], "places"], name=node.name)
    axis = node.integer("axis", 0)
    if axis:
        size = build.add(ReduceProd(keepdims=1), build.add(Shape(start=axis), x), build.int64(0))
        places = build.add(Mod(), places, size)
    dtype = node.dtype("index_element_type", "i64")
    places = places if dtype == INT64 else build.add_many(Cast(dtype), [places], node.outputs[1:])[0]
    return [_largest(op, node, build, x) if _is_padded_far(op) else _bounded(op, build, y), places]


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
    ones = build.add(Expand(), like(build, x, 1), build.add(Shape(), x))
    return Div(), *(build.add(replace(op, pads=None), _padded(op, build, each, 0)) for each in (x, ones))


def _windows_inside(op: AveragePool, build: Builder, x: Value, y: Value) -> Value:
    """Without the last windows, where they start behind X."""
    rank = len(op.kernel_shape)
    begins, strides = (op.pads or ())[:rank], op.strides or (1,) * rank
    shifts = (begin + stride - 1 for begin, stride in zip(begins, strides, strict=True))
    reached = build.add(Add(), build.add(Shape(start=2), x), build.int64(*shifts))
    counts = build.add(Div(), reached, build.int64(*strides))
    return build.add(Slice(), y, build.int64(*(0,) * rank), counts, build.int64(*range(2, 2 + rank)))
