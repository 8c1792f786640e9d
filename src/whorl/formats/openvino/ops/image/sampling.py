"""Grids and regions sampled from images, read and written."""

from __future__ import annotations

import numpy as np

from whorl.errors import SaveError, UnsupportedError
from whorl.formats.openvino.ops.image.volumes import sampled_volume
from whorl.formats.openvino.ops.nodes import cast, emit, like
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import exporter
from whorl.formats.openvino.writing.layers import convert, ranked
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.build import Builder
from whorl.ir.dtypes import INT32, INT64
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Add
from whorl.ops.image.regions import RoiAlign
from whorl.ops.image.sampling import GridSample

_MODES = {"bilinear": "linear", "bicubic": "cubic", "nearest": "nearest"}
_NAMES = {hub: name for name, hub in _MODES.items()}


@importer("GridSample", 9)
def grid_sample_9(node: IrNode, build: Builder) -> list[Value]:
    op = GridSample(
        align_corners=int(node.flag("align_corners", False)),
        mode=_MODES[node.text("mode", "bilinear", tuple(_MODES))],
        padding_mode=node.text("padding_mode", "zeros", ("zeros", "border", "reflection")),
    )
    x, grid = node.required(0), node.required(1)
    return emit(node, build, op, x, grid)


@exporter(GridSample)
def grid_sample(op: GridSample, node: Node, write: NetWriter) -> list[Source]:
    (x, grid) = node.inputs
    assert x is not None
    rank = len(ranked(x, "the input")) - 2
    if rank != 2:
        return write.through(node, lambda build, image, points: sampled_volume(op, build, image, points, rank))
    attributes = {"align_corners": bool(op.align_corners), "mode": _NAMES[op.mode], "padding_mode": op.padding_mode}
    inputs, types = [write.source(x), write.source(grid)], [tensor(node.outputs[0])]
    return write.layer("GridSample", 9, inputs, types, node.name, **attributes)


@importer("ROIAlign", 3, 9)
def roi_align_3(node: IrNode, build: Builder) -> list[Value]:
    aligned = node.text("aligned_mode", "asymmetric", ("asymmetric", "half_pixel_for_nn", "half_pixel"))
    if node.text("mode", choices=("avg", "max")) == "max":
        raise UnsupportedError("takes the maximum of points", node.title, "mode avg")
    x, rois, images = node.required(0), node.required(1), cast(build, node.required(2), INT64)
    if aligned == "half_pixel":
        rois = build.add(Add(), rois, like(build, rois, 0.5))
    op = RoiAlign(
        coordinate_transformation_mode="output_half_pixel" if aligned == "asymmetric" else "half_pixel",
        output_height=node.integer("pooled_h"),
        output_width=node.integer("pooled_w"),
        sampling_ratio=node.integer("sampling_ratio"),
        spatial_scale=node.number("spatial_scale"),
    )
    return emit(node, build, op, x, rois, images)


@exporter(RoiAlign)
def roi_align(op: RoiAlign, node: Node, write: NetWriter) -> list[Source]:
    (x, rois, images) = (write.source(value) for value in node.inputs)
    if op.mode == "max":
        raise SaveError("takes the maximum of neighbours", fix="OpenVINO takes that of the points between; mode avg")
    attributes = {
        "pooled_h": op.output_height,
        "pooled_w": op.output_width,
        "sampling_ratio": op.sampling_ratio,
        "spatial_scale": float(op.spatial_scale),
        "mode": op.mode,
        "aligned_mode": "half_pixel_for_nn" if op.coordinate_transformation_mode == "half_pixel" else "asymmetric",
    }
    inputs = [x, rois, convert(write, images, np.dtype(INT32))]
    return write.layer("ROIAlign", 9, inputs, [tensor(node.outputs[0])], node.name, **attributes)
