"""What the exporters of several families share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.writing.exporter import LayerWriter, Source
from whorl.ir.build import Builder
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BY_NAME, INT32, INT64
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape, TensorType, tensor
from whorl.ops.movement.filling import Range
from whorl.ops.movement.shapes import Reshape, Shape, Size

SHORT = frozenset(BY_NAME[name] for name in ("int8", "uint8"))
"""The types in which OpenVINO's CPU plugin saturates instead of keeping the low bits."""
Exporter = Callable[[Node, LayerWriter], "Source | list[Source]"]


def types_of(values: Sequence[Value]) -> list[TensorType]:
    """The types of a node's outputs."""
    return [tensor(value) for value in values]


def plain(type: str, version: int, **attributes: Any) -> Exporter:
    """One layer with the node's inputs and outputs."""

    def write_plain(node: Node, write: LayerWriter) -> list[Source]:
        sources = [write.source(value) for value in node.inputs]
        return write.layer(type, version, sources, types_of(node.outputs), **attributes)

    return write_plain


def converted(write: LayerWriter, source: Source, dtype: np.dtype) -> Source:
    """A source in an element type."""
    if source.type.dtype == dtype:
        return source
    return write.layer("Convert", 1, [source], [source.type.with_dtype(dtype)], destination_type=dtype)[0]


def in_int32(type: str, version: int, **attributes: Any) -> Exporter:
    """One layer that computes on short integers in int32."""

    def write_wide(node: Node, write: LayerWriter) -> list[Source]:
        (result,), sources = types_of(node.outputs), [write.source(value) for value in node.inputs]
        if result.dtype not in SHORT:
            return write.layer(type, version, sources, [result], **attributes)
        wide = [converted(write, source, INT32) for source in sources]
        (computed,) = write.layer(type, version, wide, [result.with_dtype(INT32)], **attributes)
        return [converted(write, computed, result.dtype)]

    return write_wide


def integers_of(write: LayerWriter, value: Value | None) -> list[int] | None:
    """The elements of an integer constant in a row; None for all else."""
    found = write.constant_value(value)
    return None if found is None else [int(element) for element in found.reshape(-1)]


def scalar(write: LayerWriter, number: Any, dtype: np.dtype = INT64) -> Source:
    """A Const without axes."""
    return write.constant(np.array(number).astype(dtype))


def row(write: LayerWriter, numbers: Sequence[int]) -> Source:
    """A Const with one axis."""
    return write.constant(np.array(numbers, np.int64))


def number(build: Builder, x: Value, element: float) -> Value:
    """A number without axes in the element type of a value."""
    return build.constant(np.array(element).astype(tensor(x).dtype))


def whole(build: Builder, element: int) -> Value:
    """An int64 without axes."""
    return build.constant(np.array(element, np.int64))


def axes_of(build: Builder, x: Value) -> Value:
    """The numbers of all axes."""
    rank = tensor(x).rank
    if rank is not None:
        return build.int64(*range(rank), name="axes")
    return build.add(Range(), whole(build, 0), build.add(Size(), build.add(Shape(), x)), whole(build, 1))


def length_of_axis(build: Builder, x: Value, axis: int) -> Value:
    """The length of an axis without axes."""
    shape = tensor(x).shape
    if not isinstance(shape, AnyShape) and isinstance(length := shape[axis], int):
        return whole(build, length)
    return build.add(Reshape(), build.add(Shape(axis, axis + 1 or None), x), build.int64())


def counted(build: Builder, length: Value) -> Value:
    """0, 1, 2 and so on."""
    return build.add(Range(), whole(build, 0), length, whole(build, 1))


def without_axes(write: LayerWriter, source: Source) -> Source:
    """A tensor of one element as a scalar."""
    if source.type.shape == ():
        return source
    shape = row(write, ())
    return write.layer("Reshape", 1, [source, shape], [source.type.with_shape(())], special_zero=False)[0]


def ranked(value: Value, what: str) -> tuple[Dim, ...]:
    """The shape of a value, whose rank must be known."""
    shape = tensor(value).shape
    if isinstance(shape, AnyShape):
        raise SaveError(f"{what} has no known rank", fix="declare the shape")
    return shape
