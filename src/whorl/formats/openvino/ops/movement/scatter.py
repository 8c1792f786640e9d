"""Writing elements at indices into a copy of a tensor."""

from __future__ import annotations

import numpy as np

from whorl.errors import SaveError
from whorl.formats.onnx.versions.broadcasting import aligned
from whorl.formats.openvino.ops.movement.axes import fixed_axis
from whorl.formats.openvino.ops.nodes import cast, counted, emit, flat, index, length_of_axis, like
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import exporter, rewritten
from whorl.formats.openvino.writing.layers import scalar, types_of, write_layer
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, INT64, is_float
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Add, Div, Max, Mod, Sub
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.scattering import ScatterElements, ScatterND, TensorScatter
from whorl.ops.movement.shapes import Expand, Reshape, Shape, Unsqueeze

_REDUCTIONS = {"none": "none", "sum": "add", "prod": "mul", "min": "min", "max": "max", "sub": "sub", "mean": "mean"}
_NAMES = {hub: name for name, hub in _REDUCTIONS.items()}


@importer("ScatterUpdate", 3)
def scatter_update_3(node: IrNode, build: Builder) -> list[Value]:
    """Slices along an axis; along axis 0 they are those of ScatterND, which need not copy the indices."""
    data, indices, updates, axis = node.required(0), node.required(1), node.required(2), fixed_axis(node, 3)
    if not axis:
        positions = build.add(Unsqueeze(), cast(build, indices, INT64), build.int64(-1))
        return emit(node, build, ScatterND(), data, positions, updates)
    indices = index(build, indices)
    if tensor(indices).rank != 1:
        parts = [build.add(Shape(0, axis), data), build.int64(-1)]
        if axis != -1:
            parts.append(build.add(Shape(axis + 1), data))
        updates = build.add(Reshape(), updates, build.add(Concat(0), *parts))
        indices = flat(build, indices)
    column = aligned(build, updates, indices, axis)
    positions = build.add(Expand(), column, build.add(Shape(), updates))
    return emit(node, build, ScatterElements(axis), data, positions, updates)


@importer("ScatterNDUpdate", 4)
def scatter_nd_update_4(node: IrNode, build: Builder) -> list[Value]:
    """Replaces what was there."""
    indices = cast(build, node.required(1), INT64)
    return emit(node, build, ScatterND(), node.required(0), indices, node.required(2))


@importer("ScatterNDUpdate", 15)
def scatter_nd_update_15(node: IrNode, build: Builder) -> list[Value]:
    """Replaces what was there, or combines it with the updates."""
    data, indices, updates = node.required(0), cast(build, node.required(1), INT64), node.required(2)
    reduction = node.text("reduction", "none", ("none", "sum", "sub", "prod", "min", "max"))
    if reduction == "sub":
        updates, reduction = build.add(Sub(), like(build, updates, 0), updates), "sum"
    return emit(node, build, ScatterND(_REDUCTIONS[reduction]), data, indices, updates)


@importer("ScatterElementsUpdate", 3)
def scatter_elements_update_3(node: IrNode, build: Builder) -> list[Value]:
    """Replaces what was there."""
    indices = index(build, node.required(1))
    return emit(node, build, ScatterElements(fixed_axis(node, 3)), node.required(0), indices, node.required(2))


@importer("ScatterElementsUpdate", 12)
def scatter_elements_update_12(node: IrNode, build: Builder) -> list[Value]:
    """Combines what was there with the updates, or the updates with each other only."""
    data, updates, axis = node.required(0), node.required(2), fixed_axis(node, 3)
    indices = index(build, node.required(1))
    reduction = node.text("reduction", "none", ("none", "sum", "prod", "min", "max", "mean"))
    initial = node.flag("use_init_val", True)
    if reduction != "none" and not initial:
        neutral = build.add(Expand(), _neutral(build, data, reduction), build.add(Shape(), indices))
        data = build.add(ScatterElements(axis), data, indices, neutral)
    if reduction != "mean":
        return emit(node, build, ScatterElements(axis, _REDUCTIONS[reduction]), data, indices, updates)
    total = build.add(ScatterElements(axis, "add"), data, indices, updates)
    ones = build.add(Expand(), like(build, data, 1), build.add(Shape(), indices))
    zeros = build.add(Expand(), like(build, data, int(initial)), build.add(Shape(), data))
    count = build.add(ScatterElements(axis, "add"), zeros, indices, ones)
    return emit(node, build, Div(), total, build.add(Max(), count, like(build, count, 1)))


def _neutral(build: Builder, data: Value, reduction: str) -> Value:
    """The number that a reduction leaves as it is."""
    dtype = tensor(data).dtype
    if reduction in ("sum", "mean", "prod"):
        return like(build, data, int(reduction == "prod"))
    if dtype == BOOL:
        return like(build, data, reduction == "min")
    if is_float(dtype):
        return like(build, data, np.inf if reduction == "min" else -np.inf)
    limits = np.iinfo(dtype)
    return build.constant(np.array(limits.max if reduction == "min" else limits.min, dtype))


@exporter(ScatterElements)
def write_scatter_elements(op: ScatterElements, node: Node, write: NetWriter) -> list[Source]:
    """The axis is an input; a reduction takes what was there into account."""
    inputs = [*(write.source(value) for value in node.inputs), scalar(write, op.axis)]
    results = types_of(node.outputs)
    if op.reduction == "none":
        return write.layer("ScatterElementsUpdate", 3, inputs, results)
    how = _NAMES[op.reduction]
    return write.layer("ScatterElementsUpdate", 12, inputs, results, reduction=how, use_init_val=True)


@exporter(ScatterND)
def write_scatter_nd(op: ScatterND, node: Node, write: NetWriter) -> list[Source]:
    """A reduction takes a newer version."""
    if op.reduction == "none":
        return write_layer(write, node, "ScatterNDUpdate", 4)
    return write_layer(write, node, "ScatterNDUpdate", 15, reduction=_NAMES[op.reduction])


@rewritten(TensorScatter)
def tensor_scatter(op: TensorScatter, build: Builder, cache: Value, update: Value, first: Value | None = None) -> Value:
    """The positions of the rows of each batch, for ScatterElements."""
    rank = tensor(cache).rank
    if rank is None:
        raise SaveError("the rank of the cache is not known", fix="declare its shape")
    axis = op.axis % rank
    positions = counted(build, length_of_axis(build, update, axis))
    positions = build.add(Reshape(), positions, build.int64(-1, *(1,) * (rank - 1 - axis)))
    if first is not None:
        positions = build.add(Add(), build.add(Reshape(), first, build.int64(-1, *(1,) * (rank - 1))), positions)
    if op.mode == "circular":
        positions = build.add(Mod(), positions, length_of_axis(build, cache, axis))
    return build.add(ScatterElements(axis), cache, build.add(Expand(), positions, build.add(Shape(), update)), update)
