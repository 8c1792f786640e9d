"""Moving slices, reading and writing at indices, written."""

from __future__ import annotations

from whorl.errors import SaveError
from whorl.formats.openvino.exporting import LayerWriter, Source, exporter, rewritten
from whorl.formats.openvino.ops.common_out import (
    counted,
    length_of_axis,
    plain,
    row,
    scalar,
    types_of,
)
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, tensor
from whorl.ops.core.base import known_length
from whorl.ops.elementwise.arithmetic import Add, Div, Max, Min, Mod, Mul, Sub
from whorl.ops.movement.axes import Concat, Slice, Split, Transpose
from whorl.ops.movement.indexing import Gather, GatherElements, GatherND
from whorl.ops.movement.scattering import ScatterElements, ScatterND, TensorScatter
from whorl.ops.movement.selection import Compress, NonZero
from whorl.ops.movement.shapes import Expand, Reshape, Shape

_REDUCTIONS = {"none": "none", "add": "sum", "mul": "prod", "min": "min", "max": "max"}


@exporter("Transpose")
def write_transpose(node: Node, write: LayerWriter) -> list[Source]:
    """The order is an input; an empty one reverses the axes."""
    op, x = node.op, write.source(node.inputs[0])
    assert isinstance(op, Transpose)
    order = op.perm if op.perm is not None else tuple(reversed(range(x.type.rank or 0)))
    return write.layer("Transpose", 1, [x, row(write, order)], types_of(node.outputs))


@exporter("Concat")
def write_concat(node: Node, write: LayerWriter) -> Source | list[Source]:
    """The axis as an attribute."""
    op = node.op
    assert isinstance(op, Concat)
    return plain("Concat", 1, axis=op.axis)(node, write)


@exporter("Split")
def write_split(node: Node, write: LayerWriter) -> list[Source]:
    """Parts of given lengths, equal ones, or equal ones with a rest."""
    op, x = node.op, node.inputs[0]
    assert isinstance(op, Split) and x is not None
    lengths = node.inputs[1] if len(node.inputs) > 1 else None
    source, axis, results = write.source(x), scalar(write, op.axis), types_of(node.outputs)
    if lengths is not None:
        return write.layer("VariadicSplit", 1, [source, axis, write.source(lengths)], results)
    parts = _parts_of(x, op)
    if op.num_outputs is not None and len(set(parts or (0,))) > 1:
        assert parts is not None
        return write.layer("VariadicSplit", 1, [source, axis, row(write, parts)], results)
    if op.num_outputs is not None and parts is None:
        return write.through(node, lambda build, y: _split_with_rest(op, build, y))
    return write.layer("Split", 1, [source, axis], results, num_splits=op.output_count)


def _parts_of(x: Value, op: Split) -> list[int] | None:
    """The lengths of parts of which the last ones may be shorter, where the axis has a known length."""
    shape = tensor(x).shape
    length = None if isinstance(shape, AnyShape) else shape[op.axis]
    if not isinstance(length, int):
        return None
    part = -(-length // op.output_count)
    return [max(0, min(part, length - part * k)) for k in range(op.output_count)]


def _split_with_rest(op: Split, build: Builder, x: Value) -> list[Value]:
    length, count = build.add(Shape(op.axis, op.axis + 1 or None), x), build.int64(op.output_count)
    part = build.add(Div(), build.add(Sub(), build.add(Add(), length, count), build.int64(1)), count)
    starts = build.add(Mul(), part, build.int64(*range(op.output_count)))
    lengths = build.add(Max(), build.add(Min(), part, build.add(Sub(), length, starts)), build.int64(0))
    names = [f"part{k}" for k in range(op.output_count)]
    return build.add_many(Split(op.axis, output_count=op.output_count), [x, lengths], names)


@exporter("Slice")
def write_slice(node: Node, write: LayerWriter) -> list[Source]:
    """Steps are required; axes come last."""
    x, starts, ends, axes, steps = (*node.inputs, None, None)[:5]
    sources = [write.source(value) for value in (x, starts, ends)]
    assert starts is not None
    count = known_length(starts)
    if steps is None and count is None:
        return write.through(node, _sliced_by_ones)
    sources.append(row(write, (1,) * (count or 0)) if steps is None else write.source(steps))
    if axes is not None:
        sources.append(write.source(axes))
    return write.layer("Slice", 8, sources, types_of(node.outputs))


def _sliced_by_ones(build: Builder, x: Value, starts: Value, ends: Value, axes: Value | None = None) -> Value:
    steps = build.add(Expand(), build.int64(1), build.add(Shape(), starts))
    return build.add(Slice(), x, starts, ends, axes, steps)


@exporter("GatherElements")
def write_gather_elements(node: Node, write: LayerWriter) -> Source | list[Source]:
    """The axis is an attribute."""
    op = node.op
    assert isinstance(op, GatherElements)
    return plain("GatherElements", 6, axis=op.axis)(node, write)


@exporter("GatherND")
def write_gather_nd(node: Node, write: LayerWriter) -> Source | list[Source]:
    """Batch axes stay."""
    op = node.op
    assert isinstance(op, GatherND)
    return plain("GatherND", 8, batch_dims=op.batch_dims)(node, write)


@exporter("ScatterElements")
def write_scatter_elements(node: Node, write: LayerWriter) -> list[Source]:
    """The axis is an input; a reduction takes what was there into account."""
    op = node.op
    assert isinstance(op, ScatterElements)
    inputs = [*(write.source(value) for value in node.inputs), scalar(write, op.axis)]
    results = types_of(node.outputs)
    if op.reduction == "none":
        return write.layer("ScatterElementsUpdate", 3, inputs, results)
    how = _REDUCTIONS[op.reduction]
    return write.layer("ScatterElementsUpdate", 12, inputs, results, reduction=how, use_init_val=True)


@exporter("ScatterND")
def write_scatter_nd(node: Node, write: LayerWriter) -> Source | list[Source]:
    """A reduction takes a newer version."""
    op = node.op
    assert isinstance(op, ScatterND)
    if op.reduction == "none":
        return plain("ScatterNDUpdate", 4)(node, write)
    return plain("ScatterNDUpdate", 15, reduction=_REDUCTIONS[op.reduction])(node, write)


@rewritten("TensorScatter")
def tensor_scatter(node: Node, build: Builder, cache: Value, update: Value, first: Value | None = None) -> Value:
    """The places of the rows of each batch, for ScatterElements."""
    op, rank = node.op, tensor(cache).rank
    assert isinstance(op, TensorScatter)
    if rank is None:
        raise SaveError("the rank of the cache is not known", fix="declare its shape")
    axis = op.axis % rank
    places = counted(build, length_of_axis(build, update, axis))
    places = build.add(Reshape(), places, build.int64(-1, *(1,) * (rank - 1 - axis)))
    if first is not None:
        places = build.add(Add(), build.add(Reshape(), first, build.int64(-1, *(1,) * (rank - 1))), places)
    if op.mode == "circular":
        places = build.add(Mod(), places, length_of_axis(build, cache, axis))
    return build.add(ScatterElements(axis), cache, build.add(Expand(), places, build.add(Shape(), update)), update)


@rewritten("Compress")
def compress(node: Node, build: Builder, x: Value, condition: Value) -> Value:
    """Slices at the places that are true."""
    op = node.op
    assert isinstance(op, Compress)
    places = build.add(Reshape(), build.add(NonZero(), condition), build.int64(-1))
    if op.axis is None:
        return build.add(Gather(), build.add(Reshape(), x, build.int64(-1)), places)
    return build.add(Gather(op.axis), x, places)
