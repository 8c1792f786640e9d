"""Convolutions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from whorl.errors import LoadError, SaveError
from whorl.formats.openvino.ops.nodes import cast, emit
from whorl.formats.openvino.ops.windows.attributes import auto_pad, require_spatial, window_attributes, window_fields
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import exporter
from whorl.formats.openvino.writing.layers import combine, ranked, reshape
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Attribute, Source
from whorl.ir.build import Builder
from whorl.ir.dims import Dim
from whorl.ir.dtypes import FLOAT32, INT64, is_float
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, TensorType, tensor
from whorl.ops.elementwise.arithmetic import Mul, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.movement.axes import Concat, Slice
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.shapes import Reshape, Shape
from whorl.ops.windows.convolution import Conv
from whorl.ops.windows.geometry import split_padding, windows_of
from whorl.ops.windows.transposed_convolution import ConvTranspose

_FAR = (1 << 63) - 1


@importer("Convolution", 1)
def convolution_1(node: IrNode, build: Builder) -> list[Value]:
    return _convolved(node, build, Conv(**window_fields(node)), node.required(1))


@importer("GroupConvolution", 1)
def group_convolution_1(node: IrNode, build: Builder) -> list[Value]:
    """The filters [groups, features, channels, kernel...] become [groups * features, channels, kernel...]."""
    filters = node.required(1)
    op = Conv(group=_groups(node, filters), **window_fields(node))
    return _convolved(node, build, op, _merged(build, filters))


def _convolved(node: IrNode, build: Builder, op: Conv, filters: Value) -> list[Value]:
    """Integers through float32, as OpenVINO computes them."""
    x = node.required(0)
    dtype = tensor(x).dtype
    if is_float(dtype):
        return emit(node, build, op, x, filters)
    sums = build.add(op, cast(build, x, FLOAT32), cast(build, filters, FLOAT32))
    return emit(node, build, Cast(dtype), sums)


@importer("ConvolutionBackpropData", 1)
def convolution_backprop_data_1(node: IrNode, build: Builder) -> list[Value]:
    return _transposed(node, build, 1, node.required(1))


@importer("GroupConvolutionBackpropData", 1)
def group_convolution_backprop_data_1(node: IrNode, build: Builder) -> list[Value]:
    """The filters [groups, channels, features, kernel...] become [groups * channels, features, kernel...]."""
    filters = node.required(1)
    return _transposed(node, build, _groups(node, filters), _merged(build, filters))


def _groups(node: IrNode, filters: Value) -> int:
    shape = tensor(filters).shape
    count = None if isinstance(shape, AnyShape) or not shape else shape[0]
    if not isinstance(count, int):
        raise LoadError(f"has filters {filters.type}, the number of groups is open", node.title, "make it fixed")
    return count


def _merged(build: Builder, filters: Value) -> Value:
    """The first two axes as one."""
    shape = build.add(Shape(), filters)
    first, second = (build.add(Shape(start=n, end=n + 1), filters) for n in (0, 1))
    rest = build.add(Slice(), shape, *(build.int64(n) for n in (2, _FAR, 0)))
    target = build.add_many(Concat(0), [build.add(Mul(), first, second), rest], ["shape"])[0]
    return build.add(Reshape(allowzero=1), filters, target)


def _transposed(node: IrNode, build: Builder, group: int, filters: Value) -> list[Value]:
    """Padding is automatic only with an output shape, to which explicit padding merely cuts the result."""
    x, shape = node.required(0), node.input(2)
    rank, pad = len(node.integers("strides")), auto_pad(node)
    extra = node.integers("output_padding", ())
    fields = window_fields(node) | {"group": group, "output_padding": extra if any(extra) else None}
    if shape is None:
        fields["auto_pad"] = "NOTSET"
        return build.add_many(ConvTranspose(**fields), [x, filters], node.outputs, name=node.name)
    if not pad.startswith("SAME"):
        begins = (fields["pads"] or (0,) * (2 * rank))[:rank]
        fields |= {"auto_pad": "NOTSET", "pads": (*begins, *(0,) * rank)}
        whole = build.add(ConvTranspose(**fields), x, filters, name=node.name)
        return [_sized(build, whole, build.add(Cast(INT64), shape), rank)]
    if shape.known is None:
        raise LoadError("pads by an output shape that is computed", node.title, "make it a constant")
    fields["auto_pad"] = "SAME_LOWER" if pad == "SAME_UPPER" else "SAME_UPPER"
    op = ConvTranspose(**fields, output_shape=tuple(int(n) for n in shape.known))
    return build.add_many(op, [x, filters], node.outputs, name=node.name)


def _sized(build: Builder, x: Value, sizes: Value, rank: int) -> Value:
    """The last axes cut to these lengths, or continued with zeros."""
    axes, zeros = build.int64(*range(2, 2 + rank)), build.int64(*(0,) * rank)
    cut = build.add(Slice(), x, zeros, sizes, axes)
    missing = build.add(Sub(), sizes, build.add(Shape(start=2), cut))
    ends = build.add_many(Concat(0), [zeros, missing], ["ends"])[0]
    return build.add(Pad(), cut, ends, build.constant(np.zeros((), tensor(x).dtype)), axes)


@exporter(Conv)
def conv(op: Conv, node: Node, write: NetWriter) -> Source:
    return _write(op, node, write, "Convolution", op.pads, pad=op.auto_pad)


@exporter(ConvTranspose)
def conv_transpose(op: ConvTranspose, node: Node, write: NetWriter) -> Source:
    """Padding that is automatic, or follows from an output shape, is written as numbers."""
    x, w = node.inputs[:2]
    assert x is not None and w is not None
    pads, extra = _transposed_pads(op, ranked(x, "the input")[2:], ranked(w, "the filter")[2:])
    return _write(op, node, write, "ConvolutionBackpropData", pads, output_padding=extra)


def _write(
    op: Conv | ConvTranspose,
    node: Node,
    write: NetWriter,
    kind: str,
    pads: Sequence[int] | None,
    pad: str = "NOTSET",
    **extra: Attribute,
) -> Source:
    (x, w, bias), type = (*node.inputs, None)[:3], tensor(node.outputs[0])
    assert w is not None
    rank = len(ranked(w, "the filter")) - 2
    require_spatial(rank)
    filters = write.source(w) if op.group == 1 else _in_groups(write, w, op.group)
    attributes = window_attributes(op, rank, pads, pad) | extra
    kind = kind if op.group == 1 else f"Group{kind}"
    (y,) = write.layer(kind, 1, [write.source(x), filters], [type], "", **attributes)
    return with_bias(write, y, bias, type)


def _transposed_pads(
    op: ConvTranspose, lengths: Sequence[Dim], kernel: Sequence[Dim]
) -> tuple[Sequence[int], Sequence[int]]:
    """The padding, all begins and all ends, and how much longer the result is beyond what the windows reach."""
    rank = len(kernel)
    extra = list(op.output_padding or (0,) * rank)
    if not op.output_shape and not op.auto_pad.startswith("SAME"):
        windows = windows_of(op, kernel, op.auto_pad)
        pairs = [windows.padding(axis) for axis in range(rank)]
        return [*(begin for begin, _ in pairs), *(end for _, end in pairs)], extra
    begins, ends = [], []
    reached, sizes = op.reached(lengths, kernel), op.sizes(lengths, kernel)
    for axis, (length, size) in enumerate(zip(reached, sizes, strict=True)):
        over = length - size
        if not isinstance(over, int):
            raise SaveError("pads by the lengths of the input, which are not known", fix="give pads, or fixed lengths")
        begin, end = split_padding(over, op.auto_pad)
        begins.append(begin)
        ends.append(end)
        extra[axis] += max(0, -over)
    return [*begins, *ends], extra


def _in_groups(write: NetWriter, w: Value, group: int) -> Source:
    """The filters with the groups as an axis of their own before all others."""
    elements = write.constant_value(w)
    if elements is not None:
        return write.constant(elements.reshape(group, -1, *elements.shape[1:]), w.name)
    lead, *rest = ranked(w, "the filter")
    lengths = [dim for dim in rest if isinstance(dim, int)]
    if len(lengths) < len(rest):
        raise SaveError(f"has filters {w.type}, which cannot be split into groups", fix="give them a fixed shape")
    source = reshape(write, write.source(w), (group, -1, *lengths))
    return replace(source, type=source.type.with_shape((group, lead // group, *lengths)))


def with_bias(write: NetWriter, y: Source, bias: Value | None, type: TensorType) -> Source:
    """y [N, M, ...] + bias [M]."""
    if bias is None:
        return y
    shape = (1, -1, *(1,) * ((type.rank or 2) - 2))
    elements = write.constant_value(bias)
    if elements is not None:
        return combine(write, "Add", y, write.constant(elements.reshape(shape), bias.name), type)
    return combine(write, "Add", y, reshape(write, write.source(bias), shape), type)
