"""Columns put back into images, and convolutions at moved places, written."""

from __future__ import annotations

from whorl.errors import SaveError
from whorl.formats.openvino.exporting import LayerWriter, Source, exporter
from whorl.formats.openvino.ops.convolution_out import ranked, with_bias
from whorl.ir.graph import Node
from whorl.ir.types import tensor
from whorl.ops.base import known_length
from whorl.ops.deformable_convolution import DeformConv
from whorl.ops.transposed_convolution import Col2Im


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
