"""Gather written, and the choice that is what OpenVINO's own Gather means."""

from __future__ import annotations

from dataclasses import dataclass

from whorl.errors import SaveError
from whorl.formats.openvino.exporting import LayerWriter, Source, exporter, rewritten
from whorl.formats.openvino.ops.common import constant_of, integers_of
from whorl.formats.openvino.ops.common_out import plain, scalar, types_of
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value
from whorl.ir.op import Op
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Neg
from whorl.ops.elementwise.comparison import GreaterOrEqual, Less, Where
from whorl.ops.elementwise.logic import And
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.shapes import Reshape, Shape, Unsqueeze


@exporter("Gather")
def write_gather(node: Node, write: LayerWriter) -> list[Source]:
    """The axis is an input; negative indices count from the end."""
    op = node.op
    assert isinstance(op, Gather)
    return _layer(node, write, node.inputs, op.axis, 8)


@rewritten("ArrayFeatureExtractor")
def array_feature_extractor(_node: Node, build: Builder, x: Value, indices: Value) -> Value:
    """Features by number along the last axis; a vector is one row."""
    rank = tensor(x).rank
    if rank is None:
        raise SaveError("takes features of a tensor whose rank is not known", fix="declare the shape of its input")
    rows = build.add(Unsqueeze(), x, build.int64(0)) if rank == 1 else x
    return build.add(Gather(-1), rows, build.add(Reshape(), indices, build.int64(-1)))


@exporter("Where")
def write_where(node: Node, write: LayerWriter) -> Source | list[Source]:
    """Select; but a Gather where the choice is between slices and zeros for indices outside of the axis."""
    found = _guarded(node)
    if found is None:
        return plain("Select", 1, auto_broadcast="numpy")(node, write)
    return _layer(node, write, [found.x, found.indices], found.axis, found.version)


def _layer(node: Node, write: LayerWriter, inputs: list[Value | None], axis: int, version: int) -> list[Source]:
    x, indices = (write.source(value) for value in inputs)
    return write.layer("Gather", version, [x, indices, scalar(write, axis)], types_of(node.outputs), batch_dims=0)


@dataclass(frozen=True)
class _Guarded:
    """Slices of x, zeros for indices outside of the axis; in version 8 negative ones count from the end."""

    x: Value
    indices: Value
    axis: int
    version: int


def _guarded(node: Node) -> _Guarded | None:
    """The Gather that a choice comes from, as it was read."""
    mask, found, zero = node.inputs
    gather = _owner(found, Gather)
    chosen = None if gather is None else _owner(gather.inputs[1], Where)
    if gather is None or chosen is None or not _is_zero(zero) or not _is_zero(chosen.inputs[2]):
        return None
    op, x, (valid, indices, _) = gather.op, gather.inputs[0], chosen.inputs
    assert isinstance(op, Gather)
    if x is None or indices is None or not _is_over(mask, valid, x, op.axis):
        return None
    both = _owner(valid, And)
    low, high = (None, None) if both is None else (_owner(both.inputs[0], GreaterOrEqual), _owner(both.inputs[1], Less))
    if low is None or high is None or low.inputs[0] is not indices or high.inputs[0] is not indices:
        return None
    least, length = low.inputs[1], high.inputs[1]
    if not _is_length(length, x, op.axis):
        return None
    negative = _owner(least, Neg)
    if negative is not None and negative.inputs[0] is length:
        return _Guarded(x, indices, op.axis, 8)
    return _Guarded(x, indices, op.axis, 7) if _is_zero(least) else None


def _owner(value: Value | None, kind: type[Op]) -> Node | None:
    """The node of a kind that gives a value."""
    owner = None if value is None else value.owner
    return owner if isinstance(owner, Node) and isinstance(owner.op, kind) else None


def _is_zero(value: Value | None) -> bool:
    found = constant_of(value)
    return found is not None and found.size == 1 and not found.reshape(-1)[0]


def _is_over(mask: Value | None, valid: Value | None, x: Value, axis: int) -> bool:
    """Whether the mask is the truth values with an axis of length 1 for each axis of x behind the one of indices."""
    rank, count = tensor(x).rank, None if valid is None else tensor(valid).rank
    if rank is None or count is None:
        return False
    behind = rank - 1 - axis % rank
    inserted = _owner(mask, Unsqueeze)
    if inserted is None:
        return mask is valid and not behind
    return inserted.inputs[0] is valid and integers_of(inserted.inputs[1]) == list(range(count, count + behind))


def _is_length(value: Value | None, x: Value, axis: int) -> bool:
    """Whether it is the length of an axis of x."""
    reshaped = _owner(value, Reshape)
    node = _owner(value if reshaped is None else reshaped.inputs[0], Shape)
    return node is not None and node.inputs[0] is x and node.op == Shape(axis, axis + 1 or None)
