"""Sequences: lists of tensors that are made, read, grown, shrunk, split and joined, never changed in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import FLOAT32, INT32, INT64
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, Operands, View, fixed
from whorl.ir.types import UNRANKED, AnyShape, Fact, SequenceType, Shape, TensorType, Type, join, same_kind, tensor
from whorl.ops.core.base import detach, known_ints, normal_axis, one_element
from whorl.ops.native.index_maps import (
    broadcast_scalar,
    concat_views,
    map_indices,
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


def _resolve_position(position: np.ndarray, length: int, last: int) -> int:
    """A position counted from the front, when it is one of `-length .. last`."""
    index = int(one_element(position, "the position"))
    if not -length <= index <= last:
        raise RunError(f"position {index} is outside [{-length}, {last}] of a sequence of length {length}")
    return index if index >= 0 else index + length


class SequenceEmpty(Op, frozen=True):
    """A sequence without elements. Source: ONNX SequenceEmpty-11."""

    dtype: np.dtype | None = None
    """The element type of the tensors it may hold; float32 if left out."""

    def infer(self) -> SequenceType:
        return SequenceType(TensorType(self.dtype or FLOAT32))

    def run(self) -> list[Any]:
        return []


class SequenceConstruct(Op, frozen=True):
    """The inputs as a sequence, in order. Source: ONNX SequenceConstruct-11."""

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


class SequenceAt(Op, frozen=True):
    """The element at a position; negative positions count from the end. Source: ONNX SequenceAt-11."""

    any_length = True

    def infer(self, sequence: Fact, position: Fact) -> Type:
        _check_position(position)
        return element_of(sequence)

    def run(self, sequence: list[Any], position: np.ndarray) -> Any:
        return sequence[_resolve_position(position, len(sequence), len(sequence) - 1)]

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        rows, position = inputs
        position_index = k.materialise(normalise_indices(k, position, rows.shape[0]))
        row = read_element(k, position_index)
        return [map_indices(k, rows, rows.shape[1:], lambda index: (row, *index), 1)]


class SequenceInsert(Op, frozen=True):
    """The sequence with a tensor put before `position`, at the end if omitted. Source: ONNX SequenceInsert-11."""

    any_length = True

    def infer(self, sequence: Fact, value: Fact, position: Fact | None = None) -> SequenceType:
        _check_position(position)
        element = element_of(sequence)
        if not same_kind(element, value.type):
            raise TypeRuleError(f"inserts {value.type} into {sequence.type}", fix="insert a Cast")
        return SequenceType(join(element, value.type))

    def run(self, sequence: list[Any], value: Any, position: np.ndarray | None = None) -> list[Any]:
        length = len(sequence)
        index = length if position is None else _resolve_position(position, length, length)
        return [*sequence[:index], detach(value), *sequence[index:]]

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        rows, value, position = inputs[0], inputs[1], inputs.optional(2)
        if position is not None or rows.shape[1:] != value.shape:
            return None
        return [concat_views(k, (rows, reshape_view(k, value, (1, *value.shape))), 0)]


class SequenceErase(Op, frozen=True):
    """The sequence without the element at `position`, the last one if omitted. Source: ONNX SequenceErase-11."""

    def infer(self, sequence: Fact, position: Fact | None = None) -> SequenceType:
        _check_position(position)
        return SequenceType(element_of(sequence))

    def run(self, sequence: list[Any], position: np.ndarray | None = None) -> list[Any]:
        length = len(sequence)
        index = _resolve_position(np.array(-1) if position is None else position, length, length - 1)
        return sequence[:index] + sequence[index + 1 :]


class SequenceLength(Op, frozen=True):
    """The number of elements, an int64 scalar. Source: ONNX SequenceLength-11."""

    any_length = True

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
        length = k.const(max(fixed(shape[axis]), 1))

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
        ends = np.cumsum(_lengths(data.shape[axis], split), dtype=np.int64).tolist()
        return [data[(*before, slice(start, end))] for start, end in zip([0, *ends], ends, strict=False)]


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
