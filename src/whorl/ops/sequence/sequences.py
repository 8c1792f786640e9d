"""Sequences: lists of tensors that are made, read, grown, shrunk, split and joined, never changed in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import FLOAT32, INT32, INT64
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, Operands, View
from whorl.ir.types import (
    UNRANKED,
    AnyShape,
    Fact,
    SequenceType,
    Shape,
    TensorType,
    Type,
    join,
    lengths_of,
    same_kind,
    tensor,
)
from whorl.ops.core.base import detach, known_ints, normal_axis, one_element
from whorl.ops.native.index_maps import (
    all_numbers,
    broadcast_scalar,
    concat_views,
    fit,
    insert_at,
    map_indices,
    normalise_index,
    normalise_indices,
    read_element,
    replace_at,
    reshape_view,
)


def element_of(fact: Fact) -> Type:
    """The element type of a sequence, or an error that names what is there instead."""
    if not isinstance(fact.type, SequenceType):
        raise TypeRuleError(f"input is {fact.type}, expected a sequence")
    return fact.type.element


def _check_position(position: Fact | None) -> None:
    if position is None:
        return
    operand = tensor(position, "position")
    if operand.dtype not in (INT32, INT64):
        raise TypeRuleError(f"position is {operand}, expected one int32 or int64")
    if not isinstance(operand.shape, AnyShape) and any(dims.differ(dim, 1) for dim in operand.shape):
        raise TypeRuleError(f"position is {operand}, expected one element", fix="insert a Squeeze")


def resolve_position(position: np.ndarray, length: int, last: int) -> int:
    """A position counted from the front, when it is one of `-length .. last`."""
    index = int(one_element(position, "the position"))
    if not -length <= index <= last:
        raise RunError(f"position {index} is outside [{-length}, {last}] of a sequence of length {length}")
    return index if index >= 0 else index + length


def row_number(k: NativeBuilder, position: View, length: Dim, last: Dim) -> Expr:
    """A position counted from the front; the program fails unless it is one of `-length .. last`."""
    number = k.let(k.cast(read_element(k, position), INT64))
    inside = k.apply("and", k.compare("ge", number, k.const(-length)), k.compare("le", number, k.const(last)))
    k.fail_unless(inside)
    return k.let(normalise_index(k, number, length))


class SequenceEmpty(Op, frozen=True):
    """A sequence without elements. Source: ONNX SequenceEmpty-11."""

    any_length = True

    dtype: np.dtype | None = None
    """The element type of the tensors it may hold; float32 if left out."""

    def infer(self) -> SequenceType:
        return SequenceType(TensorType(self.dtype or FLOAT32))

    def run(self) -> list[Any]:
        return []

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (rows,) = outputs
        return [broadcast_scalar(k, k.const(0, rows.dtype), (0, *lengths_of(rows)[1:]))]

    def numbered(self, inputs: Sequence[Fact | None], number: Callable[[str], int]) -> Op | None:
        return SequenceEmpty(INT64)


class SequenceConstruct(Op, frozen=True):
    """The inputs as a sequence, in order. Source: ONNX SequenceConstruct-11."""

    any_length = True
    polymorphic = True

    def infer(self, *inputs: Fact) -> SequenceType:
        if not inputs:
            raise TypeRuleError("has no inputs", fix="use SequenceEmpty")
        element: Type = inputs[0].type
        for other in inputs[1:]:
            if not same_kind(element, other.type):
                raise TypeRuleError(f"elements {element} and {other.type} differ in kind", fix="insert a Cast")
            element = join(element, other.type)
        return SequenceType(element)

    def run(self, *inputs: Any) -> list[Any]:
        return [detach(x) for x in inputs]

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        elements = [x for x in inputs if x is not None]
        if not all(len(x.shape) == len(elements[0].shape) and fit(k, x.shape, elements[0].shape) for x in elements):
            return None
        return [concat_views(k, [reshape_view(k, x, (1, *x.shape)) for x in elements], 0)]


class SequenceAt(Op, frozen=True):
    """The element at a position; negative positions count from the end. Source: ONNX SequenceAt-11."""

    any_length = True
    polymorphic = True

    def infer(self, sequence: Fact, position: Fact) -> Type:
        _check_position(position)
        return element_of(sequence)

    def run(self, sequence: list[Any], position: np.ndarray) -> Any:
        return sequence[resolve_position(position, len(sequence), len(sequence) - 1)]

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        rows, position = inputs
        position_index = k.materialise(normalise_indices(k, position, rows.shape[0]))
        row = read_element(k, position_index)
        return [map_indices(k, rows, rows.shape[1:], lambda index: (row, *index), 1)]


class SequenceInsert(Op, frozen=True):
    """The sequence with a tensor put before `position`, at the end if omitted. Source: ONNX SequenceInsert-11."""

    any_length = True
    polymorphic = True

    def infer(self, sequence: Fact, value: Fact, position: Fact | None = None) -> SequenceType:
        _check_position(position)
        element = element_of(sequence)
        if not same_kind(element, value.type):
            raise TypeRuleError(f"inserts {value.type} into {sequence.type}", fix="insert a Cast")
        return SequenceType(join(element, value.type))

    def run(self, sequence: list[Any], value: Any, position: np.ndarray | None = None) -> list[Any]:
        length = len(sequence)
        index = length if position is None else resolve_position(position, length, length)
        return [*sequence[:index], detach(value), *sequence[index:]]

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        rows, value, position = inputs[0], inputs[1], inputs.optional(2)
        if len(rows.shape) != len(value.shape) + 1 or not fit(k, value.shape, rows.shape[1:]):
            return None
        if position is None:
            return [concat_views(k, (rows, reshape_view(k, value, (1, *value.shape))), 0)]
        inserted = row_number(k, position, rows.shape[0], rows.shape[0])
        shape = (rows.shape[0] + 1, *rows.shape[1:])
        result = k.temporary(rows.dtype, shape)
        with k.nest(rows.shape) as index:
            moved = k.cast(k.compare("ge", index[0], inserted), INT64)
            k.store(result, (k.add(index[0], moved), *index[1:]), rows.at(index))
        with k.nest(value.shape) as index:
            k.store(result, (inserted, *index), value.at(index))
        return [k.view_of(result, shape)]


class SequenceErase(Op, frozen=True):
    """The sequence without the element at `position`, the last one if omitted. Source: ONNX SequenceErase-11."""

    any_length = True
    polymorphic = True

    def infer(self, sequence: Fact, position: Fact | None = None) -> SequenceType:
        _check_position(position)
        return SequenceType(element_of(sequence))

    def run(self, sequence: list[Any], position: np.ndarray | None = None) -> list[Any]:
        length = len(sequence)
        index = resolve_position(np.array(-1) if position is None else position, length, length - 1)
        return sequence[:index] + sequence[index + 1 :]

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        rows, position = inputs[0], inputs.optional(1)
        if position is None:
            k.fail_unless(k.compare("gt", k.length(rows.shape[0]), k.const(0)))
            erased = k.const(rows.shape[0] - 1)
        else:
            erased = row_number(k, position, rows.shape[0], rows.shape[0] - 1)

        def source(index: Index) -> Sequence[Expr]:
            return (k.add(index[0], k.cast(k.compare("ge", index[0], erased), INT64)), *index[1:])

        return [map_indices(k, rows, (rows.shape[0] - 1, *rows.shape[1:]), source, 2)]


class SequenceLength(Op, frozen=True):
    """The number of elements, an int64 scalar. Source: ONNX SequenceLength-11."""

    any_length = True
    polymorphic = True

    def infer(self, sequence: Fact) -> TensorType:
        element_of(sequence)
        return TensorType(INT64, ())

    def run(self, sequence: list[Any]) -> np.ndarray:
        return np.array(len(sequence), np.int64)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return [broadcast_scalar(k, k.const(inputs[0].shape[0]), ())]


class ConcatFromSequence(Op, frozen=True):
    """The elements joined along `axis`, or stacked on a new axis there if `new_axis` is 1.

    Source: ONNX ConcatFromSequence-11.
    """

    any_length = True
    polymorphic = True

    axis: int
    new_axis: int = 0

    def infer(self, sequence: Fact) -> TensorType:
        element = element_of(sequence)
        if not isinstance(element, TensorType):
            raise TypeRuleError(f"joins elements of type {element}, expected tensors")
        if isinstance(element.shape, AnyShape):
            return element
        axis = normal_axis(self.axis, len(element.shape) + bool(self.new_axis))
        rest = element.shape[axis if self.new_axis else axis + 1 :]
        return element.with_shape((*element.shape[:axis], UNKNOWN, *rest))

    def run(self, sequence: list[np.ndarray]) -> np.ndarray:
        if not sequence:
            raise RunError("an empty sequence cannot be joined", fix="guard with SequenceLength and If")
        first = sequence[0].shape
        rank = len(first) + bool(self.new_axis)
        if not -rank <= self.axis < rank:
            raise RunError(f"axis {self.axis} is outside [{-rank}, {rank}) for elements of shape {list(first)}")
        axis = self.axis % rank
        for index, other in enumerate(sequence):
            if other.shape != first and not self._fits(first, other.shape, axis):
                raise RunError(f"element {index} has shape {list(other.shape)}, element 0 {list(first)}")
        return np.stack(sequence, axis) if self.new_axis else np.concatenate(sequence, axis)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (rows,), shape = inputs, inputs[0].shape[1:]
        k.fail_unless(k.compare("gt", k.length(rows.shape[0]), k.const(0)))
        axis = self.axis % (len(shape) + bool(self.new_axis))
        if self.new_axis:
            concat_shape = (*shape[:axis], rows.shape[0], *shape[axis:])
            return [
                map_indices(k, rows, concat_shape, lambda i: (i[axis], *i[:axis], *i[axis + 1 :]), 0) if axis else rows
            ]
        concat_shape = replace_at(shape, axis, rows.shape[0] * shape[axis])
        if not axis:
            return [reshape_view(k, rows, concat_shape)]
        length = k.let(k.apply("max", k.const(shape[axis]), k.const(1)))

        def source(index: Index) -> Sequence[Expr]:
            return (k.div(index[axis], length), *replace_at(index, axis, k.apply("rem", index[axis], length)))

        return [map_indices(k, rows, concat_shape, source, 2 if shape[axis] != 1 else 0)]

    def _fits(self, first: tuple[int, ...], other: tuple[int, ...], axis: int) -> bool:
        if self.new_axis or len(first) != len(other):
            return first == other
        return all(a == b for k, (a, b) in enumerate(zip(first, other, strict=True)) if k != axis)


class SplitToSequence(Op, frozen=True):
    """A tensor cut along `axis` into a sequence of parts.

    `split` is one length for all parts (the last may be shorter), or the length of each; without it every part has
    length 1, and `keepdims` 0 drops the axis. Source: ONNX SplitToSequence-24.
    """

    any_length = True
    polymorphic = True

    axis: int = 0
    keepdims: int = 1

    def infer(self, data: Fact, split: Fact | None = None) -> SequenceType:
        operand = tensor(data)
        if split is not None and tensor(split, "split").dtype not in (INT32, INT64):
            raise TypeRuleError(f"split is {split.type}, expected int32 or int64")
        return SequenceType(operand.with_shape(self._element_shape(operand.shape, split)))

    def _element_shape(self, shape: Shape, split: Fact | None) -> Shape:
        if isinstance(shape, AnyShape):
            return UNRANKED
        axis = normal_axis(self.axis, len(shape))
        before, after = shape[:axis], shape[axis + 1 :]
        if split is None:
            return (*before, 1, *after) if self.keepdims else (*before, *after)
        return (*before, _part_length(shape[axis], split), *after)

    def run(self, data: np.ndarray, split: np.ndarray | None = None) -> list[np.ndarray]:
        if not -data.ndim <= self.axis < data.ndim:
            raise RunError(f"axis {self.axis} is outside [{-data.ndim}, {data.ndim}) of a tensor of rank {data.ndim}")
        axis = self.axis % data.ndim
        before = (slice(None),) * axis
        if split is None and not self.keepdims:
            return [data[(*before, k, ...)] for k in range(data.shape[axis])]
        ends = part_ends(data.shape[axis], split)
        return [data[(*before, slice(start, end))] for start, end in zip([0, *ends], ends, strict=False)]

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        data, split = inputs[0], inputs.optional(1)
        axis = self.axis % len(data.shape)
        length = data.shape[axis]
        if split is None and not self.keepdims:
            shape = (length, *data.shape[:axis], *data.shape[axis + 1 :])
            return [map_indices(k, data, shape, lambda index: insert_at(index[1:], axis, index[0]))]
        part, count = _equal_parts(k, length, split)
        if part is None:
            return None
        shape = (count, *replace_at(data.shape, axis, part))

        def source(index: Index) -> Sequence[Expr]:
            start = k.mul(index[0], k.const(part))
            return replace_at(index[1:], axis, k.add(start, index[1 + axis]))

        return [map_indices(k, data, shape, source, 2)]


def _equal_parts(k: NativeBuilder, length: Dim, split: View | None) -> tuple[Dim | None, Dim]:
    """The length of the parts that an axis is cut into, if all surely have the same, and their number."""
    if split is None:
        return 1, length
    sizes = all_numbers(split)
    if not sizes or min(sizes) < 1 or len(set(sizes)) > 1:
        return None, 0
    part = sizes[0]
    if split.shape:
        return (part, len(sizes)) if fit(k, (length,), (part * len(sizes),)) else (None, 0)
    if isinstance(length, int) and length < part:
        return length, min(length, 1)
    return (part, dims.call("floor", length, part)) if dims.equal(length % part, 0) else (None, 0)


def _part_length(length: Dim, split: Fact) -> Dim:
    """The length all parts have, if they have one."""
    sizes = known_ints(split)
    if not sizes or split.known is None:
        return UNKNOWN
    if split.known.ndim:
        return sizes[0] if len(set(sizes)) == 1 else UNKNOWN
    if isinstance(length, int) and length < sizes[0]:
        return length
    return sizes[0] if sizes[0] > 0 and dims.equal(length % sizes[0], 0) else UNKNOWN


def part_ends(total: int, split: np.ndarray | None) -> list[int]:
    """Where each part of an axis of `total` elements ends."""
    return np.cumsum(_lengths(total, split), dtype=np.int64).tolist()


def _lengths(total: int, split: np.ndarray | None) -> list[int]:
    """The length of every part of an axis of `total` elements."""
    if split is None:
        return [1] * total
    sizes = [int(size) for size in split.reshape(-1)]
    if split.ndim:
        if min(sizes, default=0) < 0 or sum(sizes) != total:
            raise RunError(f"split {sizes} does not divide an axis of length {total}")
        return sizes
    if sizes[0] <= 0:
        raise RunError(f"split {sizes[0]} is not a length of parts", fix="give a positive number")
    whole, left = divmod(total, sizes[0])
    return [sizes[0]] * whole + [left] * (left > 0)
