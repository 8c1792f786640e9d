"""Layers that the writers of several families put around theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Attribute, Source
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import BOOL, BY_NAME, INT64
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, TensorType, tensor

SHORT = frozenset(BY_NAME[name] for name in ("int8", "uint8"))
"""The types in which OpenVINO's CPU plugin saturates instead of keeping the low bits."""
SCALAR = TensorType(INT64, ())


def types_of(values: Sequence[Value]) -> list[TensorType]:
    """The types of a node's outputs."""
    return [tensor(value) for value in values]


def ranked(value: Value, what: str) -> tuple[Dim, ...]:
    """The shape of a value, whose rank must be known."""
    shape = tensor(value).shape
    if isinstance(shape, AnyShape):
        raise SaveError(f"{what} has no known rank", fix="declare the shape")
    return shape


def write_layer(write: NetWriter, node: Node, type: str, version: int, **attributes: Attribute) -> list[Source]:
    """One layer with the node's inputs and outputs."""
    sources = [write.source(value) for value in node.inputs]
    return write.layer(type, version, sources, types_of(node.outputs), "", **attributes)


def scalar(write: NetWriter, number: Any, dtype: np.dtype = INT64) -> Source:
    """A Const without axes."""
    return write.constant(np.array(number).astype(dtype))


def integers(write: NetWriter, *numbers: int) -> Source:
    """A Const of int64 with one axis."""
    return write.constant(np.array(numbers, np.int64))


# ---- elementwise -----------------------------------------------------------------------------------------------------


def convert(write: NetWriter, source: Source, dtype: np.dtype) -> Source:
    """A source in an element type."""
    if source.type.dtype == dtype:
        return source
    return write.layer("Convert", 1, [source], [source.type.with_dtype(dtype)], destination_type=dtype)[0]


def combine(write: NetWriter, type: str, x: Source, y: Source, result: TensorType | None = None) -> Source:
    """An elementwise layer of two operands, whose result has the first one's type by default."""
    return write.layer(type, 1, [x, y], [result or x.type], auto_broadcast="numpy")[0]


def compare(write: NetWriter, type: str, x: Source, y: Source) -> Source:
    """A comparison, or logic, whose result has the first operand's shape."""
    return combine(write, type, x, y, x.type.with_dtype(BOOL))


def select(write: NetWriter, condition: Source, x: Source, y: Source, result: TensorType) -> Source:
    """x where the condition is true, else y."""
    return write.layer("Select", 1, [condition, x, y], [result], auto_broadcast="numpy")[0]


# ---- shapes ----------------------------------------------------------------------------------------------------------


def axis_length(write: NetWriter, source: Source, axis: int) -> Source:
    """The length of an axis, without axes itself."""
    rank = source.type.rank
    shape_type = TensorType(INT64, (UNKNOWN if rank is None else rank,))
    (shape,) = write.layer("ShapeOf", 3, [source], [shape_type], output_type=INT64)
    return write.layer("Gather", 8, [shape, scalar(write, axis), scalar(write, 0)], [SCALAR], batch_dims=0)[0]


def reshape(write: NetWriter, source: Source, shape: tuple[int, ...]) -> Source:
    """The elements in another shape, one dim of which may be -1."""
    type = source.type.with_shape(tuple(UNKNOWN if dim < 0 else dim for dim in shape))
    return write.layer("Reshape", 1, [source, integers(write, *shape)], [type], special_zero=False)[0]


def drop_axes(write: NetWriter, source: Source) -> Source:
    """A tensor of one element as a scalar."""
    return source if source.type.shape == () else reshape(write, source, ())


def unsqueeze(write: NetWriter, source: Source, axis: int) -> Source:
    """The tensor with a new axis of length 1."""
    type = source.type
    shape = type.shape if isinstance(type.shape, AnyShape) else (*type.shape[:axis], 1, *type.shape[axis:])
    return write.layer("Unsqueeze", 1, [source, integers(write, axis)], [type.with_shape(shape)])[0]


def transpose(write: NetWriter, source: Source, order: Sequence[int]) -> Source:
    """The tensor, of a known rank, with its axes in another order."""
    shape = source.type.shape
    assert not isinstance(shape, AnyShape)
    type = source.type.with_shape(tuple(shape[k] for k in order))
    return write.layer("Transpose", 1, [source, integers(write, *order)], [type])[0]


def move_axis(write: NetWriter, source: Source, axis: int) -> Source:
    """The tensor with its first axis at another index."""
    if source.type.rank is None or axis == 0:
        return source
    return transpose(write, source, [*range(1, axis + 1), 0, *range(axis + 1, source.type.rank)])


def merge_axes(write: NetWriter, source: Source, axis: int) -> Source:
    """The tensor with an axis and the next one made one."""
    shape = source.type.shape
    assert not isinstance(shape, AnyShape)
    first, second = (axis_length(write, source, k) for k in (axis, axis + 1))
    product = combine(write, "Multiply", first, second)
    lengths = [
        integers(write, dim) if isinstance(dim, int) else reshape(write, axis_length(write, source, k), (1,))
        for k, dim in enumerate(shape)
        if k not in (axis, axis + 1)
    ]
    lengths.insert(axis, reshape(write, product, (1,)))
    type = source.type.with_shape((*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :]))
    return write.layer("Reshape", 1, [source, concatenate(write, lengths, 0)], [type], special_zero=False)[0]


def concatenate(write: NetWriter, sources: Sequence[Source], axis: int) -> Source:
    """Tensors side by side along an axis."""
    if len(sources) == 1:
        return sources[0]
    shapes = [source.type.shape for source in sources]
    shape = shapes[0]
    if not isinstance(shape, AnyShape):
        lengths = [UNKNOWN if isinstance(each, AnyShape) else each[axis] for each in shapes]
        total = sum(lengths[1:], lengths[0])
        shape = (*shape[:axis], total, *shape[axis + 1 :])
    return write.layer("Concat", 1, sources, [sources[0].type.with_shape(shape)], axis=axis)[0]


def take_rows(write: NetWriter, source: Source, start: Source, stop: Source) -> Source:
    """Rows from `start` up to `stop`, both vectors of one number, which may count from the end."""
    shape = source.type.shape
    type = source.type if isinstance(shape, AnyShape) else source.type.with_shape((UNKNOWN, *shape[1:]))
    return write.layer("Slice", 8, [source, start, stop, integers(write, 1), integers(write, 0)], [type])[0]
