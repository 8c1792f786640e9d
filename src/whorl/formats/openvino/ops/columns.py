"""Columns put back into images, and convolutions at moved places, read."""

from __future__ import annotations

from whorl.errors import UnsupportedError
from whorl.formats.openvino.importing import IrNode, importer
from whorl.formats.openvino.ops.common import cast, emit
from whorl.formats.openvino.ops.convolution import window_fields
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Value
from whorl.ops.windows.deformable_convolution import DeformConv
from whorl.ops.windows.transposed_convolution import Col2Im


@importer("Col2Im", 15)
def col2im_15(node: IrNode, build: Builder) -> list[Value]:
    fields = window_fields(node)
    del fields["auto_pad"]
    sizes = [cast(build, node.required(n), INT64) for n in (1, 2)]
    return emit(node, build, Col2Im(**fields), node.required(0), *sizes)


@importer("DeformableConvolution", 8)
def deformable_convolution_8(node: IrNode, build: Builder) -> list[Value]:
    x, offsets, filters, mask = node.required(0), node.required(1), node.required(2), node.input(3)
    fields = window_fields(node)
    if fields.pop("auto_pad") != "NOTSET" or not node.flag("bilinear_interpolation_pad", False):
        raise UnsupportedError("pads in a way that has no form", node.title, "bilinear_interpolation_pad true")
    op = DeformConv(group=node.integer("group", 1), offset_group=node.integer("deformable_group", 1), **fields)
    return emit(node, build, op, x, filters, offsets, None, mask)
