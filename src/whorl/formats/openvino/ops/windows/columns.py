"""Columns and maxima put back into images, and convolutions at moved positions."""

from __future__ import annotations

import numpy as np

from whorl.errors import SaveError, UnsupportedError
from whorl.formats.openvino.ops.nodes import cast, emit
from whorl.formats.openvino.ops.windows.attributes import window_attributes, window_fields
from whorl.formats.openvino.ops.windows.convolution import with_bias
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import exporter, rewritten
from whorl.formats.openvino.writing.layers import ranked, write_layer
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.core.base import known_length
from whorl.ops.elementwise.arithmetic import Sub
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.scattering import ScatterElements
from whorl.ops.movement.shapes import Reshape, Squeeze, Unsqueeze
from whorl.ops.windows.deformable_convolution import DeformConv
from whorl.ops.windows.transposed_convolution import Col2Im
from whorl.ops.windows.unpooling import MaxUnpool


@importer("Col2Im", 15)
def col2im_15(node: IrNode, build: Builder) -> list[Value]:
    """Columns of a batch of images, or of one image, without an axis for the batch."""
    fields = window_fields(node)
    del fields["auto_pad"]
    x, *sizes = node.required(0), *(cast(build, node.required(n), INT64) for n in (1, 2))
    if tensor(x).rank != 2:
        return emit(node, build, Col2Im(**fields), x, *sizes)
    first = build.int64(0)
    image = build.add(Col2Im(**fields), build.add(Unsqueeze(), x, first), *sizes)
    return emit(node, build, Squeeze(), image, first)


@importer("DeformableConvolution", 8)
def deformable_convolution_8(node: IrNode, build: Builder) -> list[Value]:
    x, offsets, filters, mask = node.required(0), node.required(1), node.required(2), node.input(3)
    fields = window_fields(node)
    if fields.pop("auto_pad") != "NOTSET" or not node.flag("bilinear_interpolation_pad", False):
        raise UnsupportedError("pads in a way that has no form", node.title, "bilinear_interpolation_pad true")
    op = DeformConv(group=node.integer("group", 1), offset_group=node.integer("deformable_group", 1), **fields)
    return emit(node, build, op, x, filters, offsets, None, mask)


@exporter(Col2Im)
def col2im(op: Col2Im, node: Node, write: NetWriter) -> list[Source]:
    _, image, block = node.inputs
    assert image is not None and block is not None
    if 2 not in (known_length(image), known_length(block)):
        raise SaveError("makes images of other than two axes", fix="OpenVINO has two")
    attributes = window_attributes(op, 2)
    del attributes["auto_pad"]
    return write_layer(write, node, "Col2Im", 15, **attributes)


@exporter(DeformConv)
def deform_conv(op: DeformConv, node: Node, write: NetWriter) -> Source:
    type = tensor(node.outputs[0])
    x, w, offset, bias, mask = (*node.inputs, None, None)[:5]
    assert w is not None
    if len(ranked(w, "the filter")) != 4:
        raise SaveError("moves places on other than two axes", fix="OpenVINO has two")
    groups = {"group": op.group, "deformable_group": op.offset_group, "bilinear_interpolation_pad": True}
    inputs = [write.source(value) for value in (x, offset, w, mask) if value is not None]
    (y,) = write.layer("DeformableConvolution", 8, inputs, [type], **(window_attributes(op, 2) | groups))
    return with_bias(write, y, bias, type)


@rewritten(MaxUnpool)
def max_unpool(op: MaxUnpool, build: Builder, x: Value, indices: Value, output_shape: Value | None = None) -> Value:
    """Elements scattered over zeros, which are continued at the end of the axes."""
    zero = np.zeros((), tensor(x).dtype)
    covered = [n for n in op.pooled(ranked(x, "the input")) if isinstance(n, int)]
    if len(covered) < len(op.kernel_shape) + 2:
        raise SaveError("scatters over lengths that are not known", fix="fixed lengths")
    flat = build.constant(np.zeros(int(np.prod(covered)), zero.dtype))
    rows = [build.add(Reshape(), value, build.int64(-1)) for value in (indices, x)]
    y = build.add(Reshape(), build.add(ScatterElements(0), flat, *rows), build.int64(*covered))
    if output_shape is None:
        return y
    ends = build.add(Sub(), output_shape, build.int64(*covered))
    pads = build.add_many(Concat(0), [build.int64(*(0,) * len(covered)), ends], ["pads"])[0]
    return build.add(Pad(), y, pads, build.constant(zero))
