"""Writing what is done with sequences: as work on tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.ops.rows import Row
from whorl.formats.openvino.writing.exporter import LayerWriter, Source, exporter
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sequences import (
    LAST,
    Held,
    Items,
    Rows,
    concatenated,
    integers,
    length_of,
    merged,
    moved,
    part,
    reshaped,
    rows_of,
    scalar,
    unsqueezed,
)
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


def _sequence(node: Node, index: int, write: LayerWriter) -> Held:
    assert isinstance(write, NetWriter)
    return write.sequence(node.inputs[index])


def _holds(node: Node, held: Held, write: LayerWriter) -> list[None]:
    """Note what the node's output is; no layer gives it as such."""
    assert isinstance(write, NetWriter)
    write.sequences[node.outputs[0]] = held
    return [None]


def _position(node: Node, index: int, write: LayerWriter) -> int | None:
    """A position that is a constant."""
    found = write.constant_value(node.inputs[index])
    return None if found is None else int(found.reshape(-1)[0])


def _vector(value: Value | None, write: LayerWriter) -> Source:
    """A position as int64 of one axis."""
    source = write.source(value)
    if source.type.dtype != INT64:
        (source,) = write.layer("Convert", 1, [source], [source.type.with_dtype(INT64)], destination_type=INT64)
    return reshaped(source, (1,), write)


@exporter(SequenceEmpty)
def write_empty(op: SequenceEmpty, node: Node, write: LayerWriter) -> list[None]:
    """No tensors."""
    return _holds(node, Items(()), write)


@exporter(SequenceConstruct)
def write_construct(op: SequenceConstruct, node: Node, write: LayerWriter) -> list[None]:
    """So many tensors."""
    return _holds(node, Items(tuple(map(write.source, node.inputs))), write)


@exporter(SequenceInsert)
def write_insert(op: SequenceInsert, node: Node, write: LayerWriter) -> list[None]:
    """One tensor more, or one row more."""
    held, new = _sequence(node, 0, write), write.source(node.inputs[1])
    position = node.inputs[2] if len(node.inputs) > 2 else None
    place = None if position is None else _position(node, 2, write)
    if isinstance(held, Items) and (position is None or place is not None):
        sources = list(held.sources)
        sources.insert(len(sources) if place is None else place, new)
        return _holds(node, Items(tuple(sources)), write)
    if isinstance(held, Items) and not held.sources:
        return _holds(node, Items((new,)), write)
    rows, row = rows_of(held, write).source, unsqueezed(new, 0, write)
    if position is None:
        return _holds(node, Rows(concatenated([rows, row], 0, write)), write)
    middle = _vector(position, write)
    before = part(rows, integers(write, 0), middle, write)
    after = part(rows, middle, integers(write, LAST), write)
    return _holds(node, Rows(concatenated([before, row, after], 0, write)), write)


@exporter(SequenceErase)
def write_erase(op: SequenceErase, node: Node, write: LayerWriter) -> list[None]:
    """One tensor less, or one row less."""
    held = _sequence(node, 0, write)
    position = node.inputs[1] if len(node.inputs) > 1 else None
    place = -1 if position is None else _position(node, 1, write)
    if isinstance(held, Items) and place is not None:
        if not -len(held.sources) <= place < len(held.sources):
            raise SaveError(f"erases position {place} of a sequence of length {len(held.sources)}")
        kept = list(held.sources)
        del kept[place]
        return _holds(node, Items(tuple(kept)), write)
    rows = rows_of(held, write).source
    if position is None:
        return _holds(node, Rows(part(rows, integers(write, 0), integers(write, -1), write)), write)
    length = reshaped(length_of(rows, 0, write), (1,), write)
    vector = TensorType(INT64, (1,))
    inputs = [_vector(position, write), length]
    (middle,) = write.layer("FloorMod", 1, inputs, [vector], auto_broadcast="numpy")
    (behind,) = write.layer("Add", 1, [middle, integers(write, 1)], [vector], auto_broadcast="numpy")
    before, after = part(rows, integers(write, 0), middle, write), part(rows, behind, integers(write, LAST), write)
    return _holds(node, Rows(concatenated([before, after], 0, write)), write)


@exporter(SequenceAt)
def write_at(op: SequenceAt, node: Node, write: LayerWriter) -> Source:
    """One of the tensors, or a row."""
    held, place = _sequence(node, 0, write), _position(node, 1, write)
    if isinstance(held, Items) and place is not None:
        if not -len(held.sources) <= place < len(held.sources):
            raise SaveError(f"reads position {place} of a sequence of length {len(held.sources)}")
        return held.sources[place]
    rows = rows_of(held, write)
    index = reshaped(_vector(node.inputs[1], write), (), write)
    return write.layer("Gather", 8, [rows.source, index, scalar(write, 0)], [rows.element], batch_dims=0)[0]


@exporter(SequenceLength)
def write_length(op: SequenceLength, node: Node, write: LayerWriter) -> Source:
    """How many tensors, or rows."""
    held = _sequence(node, 0, write)
    if isinstance(held, Items):
        return scalar(write, len(held.sources))
    return length_of(held.source, 0, write)


@exporter(ConcatFromSequence)
def write_concat(op: ConcatFromSequence, node: Node, write: LayerWriter) -> Source:
    """The tensors joined, or the rows' axis moved and merged with another."""
    held = _sequence(node, 0, write)
    if isinstance(held, Items) and not held.sources:
        raise SaveError("joins the elements of an empty sequence")
    new = bool(op.new_axis)
    element = held.element if isinstance(held, Rows) else held.sources[0].type
    if element.rank is None:
        raise SaveError(f"joins {element}, whose rank is not known")
    axis = op.axis % (element.rank + new)
    if isinstance(held, Items):
        return concatenated([unsqueezed(x, axis, write) if new else x for x in held.sources], axis, write)
    rows = moved(held.source, axis, write)
    return rows if new else merged(rows, axis, write)


@exporter(SplitToSequence)
def write_split(op: SplitToSequence, node: Node, write: LayerWriter) -> list[None]:
    """Rows where every part has length 1, else the parts of known lengths."""
    source = write.source(node.inputs[0])
    shape = source.type.shape
    if isinstance(shape, AnyShape):
        raise SaveError(f"splits {source.type}, whose rank is not known")
    axis = op.axis % len(shape)
    given = node.inputs[1] if len(node.inputs) > 1 else None
    if given is None:
        return _holds(node, Rows(_slices(source, axis, bool(op.keepdims), write)), write)
    lengths = write.constant_value(given)
    if lengths is not None and lengths.ndim == 0:
        lengths = _equal_parts(shape[axis], int(lengths))
    if lengths is None:
        raise SaveError("splits into parts of lengths that only a run knows")
    types = [source.type.with_shape((*shape[:axis], int(n), *shape[axis + 1 :])) for n in lengths]
    inputs = [source, scalar(write, axis), write.constant(lengths.astype(np.int64))]
    return _holds(node, Items(tuple(write.layer("VariadicSplit", 1, inputs, types))), write)


def _slices(source: Source, axis: int, keeps: bool, write: LayerWriter) -> Source:
    """The slices along an axis as rows."""
    shape = source.type.shape
    assert not isinstance(shape, AnyShape)
    if axis:
        order = [axis, *(k for k in range(len(shape)) if k != axis)]
        type = source.type.with_shape(tuple(shape[k] for k in order))
        (source,) = write.layer("Transpose", 1, [source, integers(write, *order)], [type])
    return unsqueezed(source, axis + 1, write) if keeps else source


def _equal_parts(length: object, size: int) -> np.ndarray:
    """The lengths of parts of one size, the last one of what is left."""
    if not isinstance(length, int):
        raise SaveError("splits an axis of unknown length into parts of a given size")
    full, rest = divmod(length, size)
    return np.array([size] * full + [rest] * (rest > 0), np.int64)


def write_identity(op: Identity, node: Node, write: LayerWriter, row: Row[Any]) -> list[Source] | list[None]:
    """The value itself; a sequence too."""
    assert isinstance(write, NetWriter)
    value = node.inputs[0]
    if value is None or isinstance(value.type, TensorType):
        return row.layer(op, node, write)
    return _holds(node, write.sequence(value), write)


@exporter(OptionalGetElement)
def write_element(op: OptionalGetElement, node: Node, write: LayerWriter) -> Source | list[None]:
    """What is no optional has itself as its element."""
    assert isinstance(write, NetWriter)
    value = node.inputs[0]
    if value is not None and isinstance(value.type, OptionalType):
        raise SaveError(f"opens {value!r}, and OpenVINO has no optionals", fix="pass the element itself")
    if isinstance(value, Value) and isinstance(value.type, SequenceType):
        return _holds(node, write.sequence(value), write)
    return write.source(value)
