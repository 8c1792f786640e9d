"""What loops collect: elements concatenated by the layer, and reordered behind it."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from whorl.errors import SaveError
from whorl.formats.openvino.control.write_bodies import sliced_port
from whorl.formats.openvino.document import PortMap
from whorl.formats.openvino.writing.dims import shape_vector
from whorl.formats.openvino.writing.layers import integers, merge_axes, move_axis, reshape, unsqueeze
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.graph import Value
from whorl.ir.types import UNRANKED, AnyShape, TensorType
from whorl.ops.control.flow import Collected

BEFORE_ALL = np.iinfo(np.int32).min + 1
"""An end before every axis."""


class Concatenation(Struct, frozen=True):
    """How a layer joins elements along `axis`, and what remains: turn their order, move the axis, merge the next."""

    axis: int
    target: int
    reverse: bool = False
    merges: bool = False


def element_port(
    value: Value, how: Collected, child: NetWriter, is_iterator: bool
) -> tuple[Source, PortMap, Concatenation]:
    """The element of a collected value, its port, and how the layer concatenates it.

    A Loop joins in order, rows of length 1, since passes of OpenVINO refuse other forms. Behind an axis that may be
    empty nothing is joined: there its CPU plugin divides by zero.
    """
    source = child.source(value)
    shape = source.type.shape
    if isinstance(shape, AnyShape):
        raise SaveError(f"collects {value!r}, whose rank is not known")
    stack = how.stack or not shape
    target = how.axis % (len(shape) + stack)
    axis = target if all(isinstance(dim, int) and dim > 0 for dim in shape[:target]) else 0
    if not stack and axis == target:
        part = shape[axis]
        if isinstance(part, int) and (is_iterator or (part == 1 and not how.reverse)):
            return source, sliced_port(False, 0, axis, part, how.reverse), Concatenation(axis, target)
    turned = how.reverse and is_iterator and stack
    how_concatenated = Concatenation(axis, target, how.reverse and not turned, not stack)
    return unsqueeze(child, source, axis), sliced_port(False, 0, axis, 1, turned), how_concatenated


def concatenated_type(element: TensorType, axis: int) -> TensorType:
    """The type of what the layer gives, where it joins elements along an axis."""
    shape = () if isinstance(element.shape, AnyShape) else element.shape
    return element.with_shape((*shape[:axis], UNKNOWN, *shape[axis + 1 :]))


def put_right(
    source: Source, how_concatenated: Concatenation, count: Source | None, value: Value, write: NetWriter
) -> Source:
    """The output from what the layer gives: as many elements as the count of iterations, in order, along one axis."""
    if count is not None:
        source = _counted(source, how_concatenated, count, value, write)
    if how_concatenated.reverse:
        source = _part(source, how_concatenated.axis, integers(write, -1), integers(write, BEFORE_ALL), -1, write)
    if how_concatenated.axis < how_concatenated.target:
        source = move_axis(write, source, how_concatenated.target)
    return merge_axes(write, source, how_concatenated.target) if how_concatenated.merges else source


def _counted(source: Source, how_concatenated: Concatenation, count: Source, value: Value, write: NetWriter) -> Source:
    """The first elements; none of them have the other lengths that are proved."""
    axis = how_concatenated.axis
    source = _part(source, axis, integers(write, 0), reshape(write, count, (1,)), 1, write)
    shape = value.type.shape if isinstance(value.type, TensorType) else UNRANKED
    if isinstance(shape, AnyShape) or how_concatenated.merges:
        return source
    others: list[Dim | Source] = [dim for k, dim in enumerate(shape) if k != how_concatenated.target]
    if all(isinstance(dim, int) for dim in others):
        return source
    target = shape_vector(write, [*others[:axis], count, *others[axis:]])
    if target is None:
        return source
    return write.layer("Reshape", 1, [source, target], [source.type], special_zero=False)[0]


def _part(source: Source, axis: int, start: Source, stop: Source, step: int, write: NetWriter) -> Source:
    limits = [start, stop, integers(write, step), integers(write, axis)]
    return write.layer("Slice", 8, [source, *limits], [concatenated_type(source.type, axis)])[0]
