"""Columns and maxima put back into images, and convolutions at moved places, written."""

from __future__ import annotations

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.exporting import LayerWriter, Source, exporter, rewritten
from whorl.formats.openvino.ops.convolution_out import ranked, with_bias
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.core.base import known_length
from whorl.ops.elementwise.arithmetic import Sub
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.scattering import ScatterElements
from whorl.ops.movement.shapes import Reshape
from whorl.ops.windows.deformable_convolution import DeformConv
from whorl.ops.windows.transposed_convolution import Col2Im
from whorl.ops.windows.unpooling import MaxUnpool


@exporter("Col2Im")
def col2im(node: Node, write: LayerWriter) -> list[Source]:
    op = node.op
    assert isinstance(op, Col2Im)
    x, image, block = node.inputs
    assert image is not None and block is not None
    if 2 not in (known_length(image), known_length(block)):
        raise SaveError("makes images of other than two axes", fix="OpenVINO has two")
    pads = op.pads or (0,) * 4
    attributes = {
        "strides": op.strides or (1, 1),
        "dilations": op.dilations or (1, 1),
        "pads_begin": pads[:2],
        "pads_end": pads[2:],
    }
    inputs = [write.source(value) for value in (x, image, block)]
    return write.layer("Col2Im", 15, inputs, [tensor(node.outputs[0])], node.name, **attributes)


@exporter("DeformConv")
def deform_conv(node: Node, write: LayerWriter) -> Source:
    op, type = node.op, tensor(node.outputs[0])
    assert isinstance(op, DeformConv)
    x, w, offset, bias, mask = (*node.inputs, None, None)[:5]
    assert w is not None
    if len(ranked(w, "the filter")) != 4:
        raise SaveError("moves places on other than two axes", fix="OpenVINO has two")
    pads = op.pads or (0,) * 4
    attributes = {
        "strides": op.strides or (1, 1),
        "pads_begin": pads[:2],
        "pads_end": pads[2:],
        "dilations": op.dilations or (1, 1),
        "auto_pad": "explicit",
        "group": op.group,
        "deformable_group": op.offset_group,
        "bilinear_interpolation_pad": True,
    }
    inputs = [write.source(value) for value in (x, offset, w, mask) if value is not None]
    (y,) = write.layer("DeformableConvolution", 8, inputs, [type], node.name, **attributes)
    return with_bias(write, y, bias, type)


@rewritten("MaxUnpool")
def max_unpool(node: Node, build: Builder, x: Value, places: Value, output_shape: Value | None = None) -> Value:
    """Elements scattered over zeros, which are continued at the end of the axes."""
    op, zero = node.op, np.zeros((), tensor(x).dtype)
    assert isinstance(op, MaxUnpool)
    covered = [n for n in op.pooled(ranked(x, "the input")) if isinstance(n, int)]
    if len(covered) < len(op.kernel_shape) + 2:
        raise SaveError("scatters over lengths that are not known", fix="fixed lengths")
    flat = build.constant(np.zeros(int(np.prod(covered)), zero.dtype))
    rows = [build.add(Reshape(), value, build.int64(-1)) for value in (places, x)]
    y = build.add(Reshape(), build.add(ScatterElements(0), flat, *rows), build.int64(*covered))
    if output_shape is None:
        return y
    ends = build.add(Sub(), output_shape, build.int64(*covered))
    pads = build.add_many(Concat(0), [build.int64(*(0,) * len(covered)), ends], ["pads"])[0]
    return build.add(Pad(), y, pads, build.constant(zero))
