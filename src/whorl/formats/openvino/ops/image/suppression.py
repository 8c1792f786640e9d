"""NonMaxSuppression read and written."""

from __future__ import annotations

import numpy as np

from whorl.errors import UnsupportedError
from whorl.formats.openvino.ops.nodes import cast, number_of, one
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import exporter
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.build import Builder
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.graph import Node, Value
from whorl.ir.types import TensorType, tensor
from whorl.ops.elementwise.arithmetic import Min, Mul
from whorl.ops.image.detection import NonMaxSuppression
from whorl.ops.movement.axes import Concat, Slice
from whorl.ops.movement.indexing import Gather, GatherND
from whorl.ops.movement.selection import TopK
from whorl.ops.movement.shapes import Shape, Unsqueeze

_LEAST = np.finfo(np.float32).tiny
"""The smallest number that is not taken for 0."""


@importer("NonMaxSuppression", 1, 3, 4)
def non_max_suppression_1(node: IrNode, build: Builder) -> list[Value]:
    indices, _ = _selected(node, build)
    dtype = node.dtype("output_type", "i64")
    return [cast(build, indices, dtype)]


@importer("NonMaxSuppression", 5, 9)
def non_max_suppression_5(node: IrNode, build: Builder) -> list[Value]:
    """The boxes, their scores as (image, class, score), and how many there are."""
    indices, scores = _selected(node, build)
    dtype, wide = node.dtype("output_type", "i64"), tensor(scores).dtype
    pairs = cast(build, build.add(Slice(), indices, build.int64(0), build.int64(2), build.int64(1)), wide)
    rows = build.add_many(Concat(1), [pairs, build.add(Unsqueeze(), scores, build.int64(1))], ["scores"])[0]
    count = build.add(Shape(end=1), indices)
    return [cast(build, indices, dtype), rows, cast(build, count, dtype)]


def _selected(node: IrNode, build: Builder) -> tuple[Value, Value]:
    """The boxes [n, 3] and their scores [n], by falling score across classes and images with `sort_result_descending`.

    A box also goes where its overlap is the limit itself, so that a limit of 0 leaves the best of each class.
    """
    softened = node.input(5)
    if softened is not None and number_of(softened) != 0:
        raise UnsupportedError("lowers scores by overlap", node.title, "make soft_nms_sigma 0")
    boxes, scores = (cast(build, node.required(n), FLOAT32) for n in (0, 1))
    limits: list[Value | None] = []
    for n, dtype in ((2, INT64), (3, FLOAT32), (4, FLOAT32)):
        value = node.input(n)
        limits.append(None if value is None else one(build, cast(build, value, dtype)))
    allowed = number_of(limits[1])
    if limits[1] is not None:
        limits[1] = build.add(Mul(), limits[1], build.constant(np.array(1 - 2.0**-24, np.float32)))
    if allowed == 0 or limits[1] is None:
        limits[0] = _one_at_most(build, limits[0])
    if limits[2] is None:
        limits[2] = build.constant(np.array(0, np.float32))
    center = node.text("box_encoding", "corner", ("corner", "center")) == "center"
    indices = build.add(NonMaxSuppression(int(center)), boxes, scores, *limits)
    positions = build.add(Gather(1), indices, build.int64(0, 1, 2))
    selected = build.add(GatherND(), scores, positions)
    if node.flag("sort_result_descending", True):
        count = build.add(Shape(end=1), indices)
        selected, order = build.add_many(TopK(axis=0), [selected, count], ["scores", "order"])
        indices = build.add(Gather(0), indices, order)
    return indices, selected


def _one_at_most(build: Builder, count: Value | None) -> Value | None:
    """A number of boxes that is 0 or 1; None stands for 0."""
    return None if count is None else build.add_many(Min(), [count, build.constant(np.array(1, np.int64))], ["most"])[0]


@exporter(NonMaxSuppression)
def non_max_suppression(op: NonMaxSuppression, node: Node, write: NetWriter) -> list[Source]:
    boxes, scores = (write.source(value) for value in node.inputs[:2])
    limits = []
    defaults = (np.array(0, np.int64), np.array(0, np.float32), np.array(-np.inf, np.float32))
    for value, default in zip((*node.inputs[2:], None, None, None)[:3], defaults, strict=True):
        limits.append(write.constant(default) if value is None else write.source(value))
    limits[1] = _above(write, node.inputs[3] if len(node.inputs) > 3 else None, limits[1])
    attributes = {
        "box_encoding": "center" if op.center_point_box else "corner",
        "sort_result_descending": False,
        "output_type": INT64,
    }
    rows = TensorType(INT64, (UNKNOWN, 3))
    types = [rows, rows.with_dtype(FLOAT32), TensorType(INT64, (1,))]
    return write.layer("NonMaxSuppression", 9, [boxes, scores, *limits], types, node.name, **attributes)[:1]


def _above(write: NetWriter, value: Value | None, source: Source) -> Source:
    """The next larger limit: in OpenVINO a box also goes where its overlap is the limit itself."""
    known = np.zeros((), np.float32) if value is None else write.constant_value(value)
    if known is not None:
        above = np.maximum(np.nextafter(known.astype(np.float32), np.float32(2)), _LEAST)
        return write.constant(np.array(above, np.float32).reshape(()))
    factor = write.constant(np.array(1 + 2.0**-23, np.float32))
    (scaled,) = write.layer("Multiply", 1, [source, factor], [source.type], auto_broadcast="numpy")
    least = write.constant(np.array(_LEAST))
    return write.layer("Add", 1, [scaled, least], [source.type], auto_broadcast="numpy")[0]
