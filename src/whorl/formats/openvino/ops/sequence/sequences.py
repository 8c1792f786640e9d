"""Writing what is done with sequences: as work on tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.ops.rows import Row
from whorl.formats.openvino.writing.exporter import exporter
from whorl.formats.openvino.writing.layers import (
    axis_length,
    combine,
    concatenate,
    convert,
    integers,
    merge_axes,
    move_axis,
    reshape,
    scalar,
    take_rows,
    transpose,
    unsqueeze,
)
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sequences import rows_of
from whorl.formats.openvino.writing.sources import Items, Rows, Source, Stored
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, OptionalType, SequenceType, TensorType
from whorl.ops.elementwise.arithmetic import Identity
from whorl.ops.sequence.optionals import OptionalGetElement
from whorl.ops.sequence.sequences import (
    ConcatFromSequence,
    SequenceAt,
    SequenceConstruct,
    SequenceEmpty,
    SequenceErase,
    SequenceInsert,
    SequenceLength,
    SplitToSequence,
)

LAST = np.iinfo(np.int32).max
"""An end beyond every axis."""


def _store(node: Node, stored: Stored, write: NetWriter) -> list[None]:
    """Note what the node's output is; no layer gives it as such."""
    write.sequences[node.outputs[0]] = stored
    return [None]


def _index(node: Node, index: int, write: NetWriter) -> int | None:
    """An index that is a constant."""
    elements = write.constant_value(node.inputs[index])
    return None if elements is None else int(elements.reshape(-1)[0])


def _vector(value: Value | None, write: NetWriter) -> Source:
    """An index as int64 of one axis."""
    return reshape(write, convert(write, write.source(value), INT64), (1,))


@exporter(SequenceEmpty)
def write_empty(op: SequenceEmpty, node: Node, write: NetWriter) -> list[None]:
    """No tensors."""
    return _store(node, Items(()), write)


@exporter(SequenceConstruct)
def write_construct(op: SequenceConstruct, node: Node, write: NetWriter) -> list[None]:
    """So many tensors."""
    return _store(node, Items(tuple(map(write.source, node.inputs))), write)


@exporter(SequenceInsert)
def write_insert(op: SequenceInsert, node: Node, write: NetWriter) -> list[None]:
    """One tensor more, or one row more."""
    stored, new = write.sequence(node.inputs[0]), write.source(node.inputs[1])
    position = node.inputs[2] if len(node.inputs) > 2 else None
    index = None if position is None else _index(node, 2, write)
    if isinstance(stored, Items) and (position is None or index is not None):
        sources = list(stored.sources)
        sources.insert(len(sources) if index is None else index, new)
        return _store(node, Items(tuple(sources)), write)
    if isinstance(stored, Items) and not stored.sources:
        return _store(node, Items((new,)), write)
    rows, row = rows_of(stored, write).source, unsqueeze(write, new, 0)
    if position is None:
        return _store(node, Rows(concatenate(write, [rows, row], 0)), write)
    middle = _vector(position, write)
    before = take_rows(write, rows, integers(write, 0), middle)
    after = take_rows(write, rows, middle, integers(write, LAST))
    return _store(node, Rows(concatenate(write, [before, row, after], 0)), write)


@exporter(SequenceErase)
def write_erase(op: SequenceErase, node: Node, write: NetWriter) -> list[None]:
    """One tensor less, or one row less."""
    stored = write.sequence(node.inputs[0])
    position = node.inputs[1] if len(node.inputs) > 1 else None
    index = -1 if position is None else _index(node, 1, write)
    if isinstance(stored, Items) and index is not None:
        _require_inside(stored, index, "erases")
        sources = list(stored.sources)
        del sources[index]
        return _store(node, Items(tuple(sources)), write)
    rows = rows_of(stored, write).source
    if position is None:
        return _store(node, Rows(take_rows(write, rows, integers(write, 0), integers(write, -1))), write)
    length = reshape(write, axis_length(write, rows, 0), (1,))
    middle = combine(write, "FloorMod", _vector(position, write), length)
    behind = combine(write, "Add", middle, integers(write, 1))
    before = take_rows(write, rows, integers(write, 0), middle)
    after = take_rows(write, rows, behind, integers(write, LAST))
    return _store(node, Rows(concatenate(write, [before, after], 0)), write)


def _require_inside(stored: Items, index: int, verb: str) -> None:
    if not -len(stored.sources) <= index < len(stored.sources):
        raise SaveError(f"{verb} position {index} of a sequence of length {len(stored.sources)}")


@exporter(SequenceAt)
def write_at(op: SequenceAt, node: Node, write: NetWriter) -> Source:
    """One of the tensors, or a row."""
    stored, index = write.sequence(node.inputs[0]), _index(node, 1, write)
    if isinstance(stored, Items) and index is not None:
        _require_inside(stored, index, "reads")
        return stored.sources[index]
    rows = rows_of(stored, write)
    index = reshape(write, _vector(node.inputs[1], write), ())
    return write.layer("Gather", 8, [rows.source, index, scalar(write, 0)], [rows.element], batch_dims=0)[0]


@exporter(SequenceLength)
def write_length(op: SequenceLength, node: Node, write: NetWriter) -> Source:
    """How many tensors, or rows."""
    stored = write.sequence(node.inputs[0])
    if isinstance(stored, Items):
        return scalar(write, len(stored.sources))
    return axis_length(write, stored.source, 0)


@exporter(ConcatFromSequence)
def write_concat(op: ConcatFromSequence, node: Node, write: NetWriter) -> Source:
    """The tensors concatenated, or the rows' axis moved and merged with another."""
    stored = write.sequence(node.inputs[0])
    if isinstance(stored, Items) and not stored.sources:
        raise SaveError("joins the elements of an empty sequence")
    new = bool(op.new_axis)
    element = stored.element if isinstance(stored, Rows) else stored.sources[0].type
    if element.rank is None:
        raise SaveError(f"joins {element}, whose rank is not known")
    axis = op.axis % (element.rank + new)
    if isinstance(stored, Items):
        return concatenate(write, [unsqueeze(write, x, axis) if new else x for x in stored.sources], axis)
    rows = move_axis(write, stored.source, axis)
    return rows if new else merge_axes(write, rows, axis)


@exporter(SplitToSequence)
def write_split(op: SplitToSequence, node: Node, write: NetWriter) -> list[None]:
    """Rows where every part has length 1, else the parts of known lengths."""
    source = write.source(node.inputs[0])
    shape = source.type.shape
    if isinstance(shape, AnyShape):
        raise SaveError(f"splits {source.type}, whose rank is not known")
    axis = op.axis % len(shape)
    sizes = node.inputs[1] if len(node.inputs) > 1 else None
    if sizes is None:
        return _store(node, Rows(_slices(source, axis, bool(op.keepdims), write)), write)
    lengths = write.constant_value(sizes)
    if lengths is not None and lengths.ndim == 0:
        lengths = _equal_parts(shape[axis], int(lengths))
    if lengths is None:
        raise SaveError("splits into parts of lengths that only a run knows")
    types = [source.type.with_shape((*shape[:axis], int(n), *shape[axis + 1 :])) for n in lengths]
    inputs = [source, scalar(write, axis), write.constant(lengths.astype(np.int64))]
    return _store(node, Items(tuple(write.layer("VariadicSplit", 1, inputs, types))), write)


def _slices(source: Source, axis: int, keeps: bool, write: NetWriter) -> Source:
    """The slices along an axis as rows."""
    shape = source.type.shape
    assert not isinstance(shape, AnyShape)
    if axis:
        source = transpose(write, source, [axis, *(k for k in range(len(shape)) if k != axis)])
    return unsqueeze(write, source, axis + 1) if keeps else source


def _equal_parts(length: object, size: int) -> np.ndarray:
    """The lengths of parts of one size, the last one of what is left."""
    if not isinstance(length, int):
        raise SaveError("splits an axis of unknown length into parts of a given size")
    full, rest = divmod(length, size)
    return np.array([size] * full + [rest] * (rest > 0), np.int64)


def write_identity(op: Identity, node: Node, write: NetWriter, row: Row[Any]) -> list[Source] | list[None]:
    """The value itself; a sequence too."""
    value = node.inputs[0]
    if value is None or isinstance(value.type, TensorType):
        return row.layer(op, node, write)
    return _store(node, write.sequence(value), write)


@exporter(OptionalGetElement)
def write_element(op: OptionalGetElement, node: Node, write: NetWriter) -> Source | list[None]:
    """What is no optional has itself as its element."""
    value = node.inputs[0]
    if value is not None and isinstance(value.type, OptionalType):
        raise SaveError(f"opens {value!r}, and OpenVINO has no optionals", fix="pass the element itself")
    if isinstance(value, Value) and isinstance(value.type, SequenceType):
        return _store(node, write.sequence(value), write)
    return write.source(value)
