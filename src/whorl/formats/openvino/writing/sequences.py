"""Sequences in a net, which has only tensors: as many tensors while their number is known, else the rows of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.writing.exporter import LayerWriter, Source
from whorl.ir.dims import UNKNOWN, equal
from whorl.ir.dtypes import INT64
from whorl.ir.types import AnyShape, TensorType

SCALAR = TensorType(INT64, ())
LAST = np.iinfo(np.int32).max
"""An end beyond every axis."""


@dataclass(frozen=True)
class Items:
    """A sequence of so many tensors."""

    sources: tuple[Source, ...]


@dataclass(frozen=True)
class Rows:
    """A sequence of tensors of one shape, stacked on axis 0 of one tensor."""

    source: Source

    @property
    def element(self) -> TensorType:
        """The type of each element."""
        type = self.source.type
        return type if isinstance(type.shape, AnyShape) else type.with_shape(type.shape[1:])


Held = Items | Rows


def integers(write: LayerWriter, *values: int) -> Source:
    """An int64 constant of one axis."""
    return write.constant(np.array(values, np.int64))


def scalar(write: LayerWriter, value: int) -> Source:
    """An int64 constant without axes."""
    return write.constant(np.array(value, np.int64))


def unsqueezed(source: Source, axis: int, write: LayerWriter) -> Source:
    """The tensor with an axis of length 1 more."""
    type = source.type
    shape = type.shape if isinstance(type.shape, AnyShape) else (*type.shape[:axis], 1, *type.shape[axis:])
    return write.layer("Unsqueeze", 1, [source, integers(write, axis)], [type.with_shape(shape)])[0]


def concatenated(sources: Sequence[Source], axis: int, write: LayerWriter) -> Source:
    """Tensors joined along an axis."""
    if len(sources) == 1:
        return sources[0]
    shapes = [source.type.shape for source in sources]
    shape = shapes[0]
    if not isinstance(shape, AnyShape):
        lengths = [UNKNOWN if isinstance(each, AnyShape) else each[axis] for each in shapes]
        total = sum(lengths[1:], lengths[0])
        shape = (*shape[:axis], total, *shape[axis + 1 :])
    return write.layer("Concat", 1, sources, [sources[0].type.with_shape(shape)], axis=axis)[0]


def part(source: Source, start: Source, stop: Source, write: LayerWriter) -> Source:
    """Rows from `start` up to `stop`, both vectors of one number, which may count from the end."""
    shape = source.type.shape
    type = source.type if isinstance(shape, AnyShape) else source.type.with_shape((UNKNOWN, *shape[1:]))
    return write.layer("Slice", 8, [source, start, stop, integers(write, 1), integers(write, 0)], [type])[0]


def length_of(source: Source, axis: int, write: LayerWriter) -> Source:
    """The length of an axis, without axes itself."""
    rank = source.type.rank
    shape_type = TensorType(INT64, (UNKNOWN if rank is None else rank,))
    (shape,) = write.layer("ShapeOf", 3, [source], [shape_type], output_type=INT64)
    inputs = [shape, scalar(write, axis), scalar(write, 0)]
    return write.layer("Gather", 8, inputs, [SCALAR], batch_dims=0)[0]


def rows_of(held: Held, write: LayerWriter, element: TensorType | None = None) -> Rows:
    """The sequence as one tensor; `element` is what one that is empty would hold.

    Errors: SaveError where elements may differ in shape, or nothing tells it.
    """
    if isinstance(held, Rows):
        return held
    if not held.sources:
        dims = None if element is None or isinstance(element.shape, AnyShape) else element.shape
        numbers = [dim for dim in dims or () if isinstance(dim, int)]
        if element is None or dims is None or len(numbers) < len(dims):
            raise SaveError("an empty sequence has elements of a shape that nothing tells", fix=_FIX)
        return Rows(write.constant(np.zeros((0, *numbers), element.dtype)))
    first = held.sources[0].type
    for other in held.sources[1:]:
        if not same_shape(first, other.type):
            raise SaveError(f"a sequence holds {first} and {other.type}", fix=_FIX)
    return Rows(concatenated([unsqueezed(source, 0, write) for source in held.sources], 0, write))


def same_shape(a: TensorType, b: TensorType) -> bool:
    """Whether two types are proved to have one shape."""
    if isinstance(a.shape, AnyShape) or isinstance(b.shape, AnyShape) or len(a.shape) != len(b.shape):
        return False
    return all(equal(x, y) for x, y in zip(a.shape, b.shape, strict=True))


def reshaped(source: Source, shape: tuple[int, ...], write: LayerWriter) -> Source:
    """The elements in another shape, one dim of which may be -1."""
    inputs = [source, integers(write, *shape)]
    type = source.type.with_shape(tuple(UNKNOWN if dim < 0 else dim for dim in shape))
    return write.layer("Reshape", 1, inputs, [type], special_zero=False)[0]


def moved(source: Source, axis: int, write: LayerWriter) -> Source:
    """The tensor with its first axis at another place."""
    shape = source.type.shape
    if isinstance(shape, AnyShape) or axis == 0:
        return source
    order = [*range(1, axis + 1), 0, *range(axis + 1, len(shape))]
    type = source.type.with_shape(tuple(shape[k] for k in order))
    return write.layer("Transpose", 1, [source, integers(write, *order)], [type])[0]


def merged(source: Source, axis: int, write: LayerWriter) -> Source:
    """The tensor with an axis and the next one made one."""
    shape = source.type.shape
    assert not isinstance(shape, AnyShape)
    product = _product([length_of(source, k, write) for k in (axis, axis + 1)], write)
    parts = [_length(source, k, write) for k in range(len(shape)) if k not in (axis, axis + 1)]
    parts.insert(axis, reshaped(product, (1,), write))
    type = source.type.with_shape((*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :]))
    return write.layer("Reshape", 1, [source, concatenated(parts, 0, write)], [type], special_zero=False)[0]


def _product(factors: list[Source], write: LayerWriter) -> Source:
    return write.layer("Multiply", 1, factors, [SCALAR], auto_broadcast="numpy")[0]


def _length(source: Source, axis: int, write: LayerWriter) -> Source:
    """The length of an axis as a vector of one number."""
    shape = source.type.shape
    dim = UNKNOWN if isinstance(shape, AnyShape) else shape[axis]
    return integers(write, dim) if isinstance(dim, int) else reshaped(length_of(source, axis, write), (1,), write)


_FIX = "OpenVINO has only tensors: use elements of one fixed shape"
