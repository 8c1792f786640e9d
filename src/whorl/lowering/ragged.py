"""Sequences of tensors that differ in shape as two tensors: their elements one after the other, and a table of shapes.

A row of the table has the position of a tensor's first element, then its lengths. The tensors follow each other in the
order of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
from msgspec import Struct

from whorl.ir.dims import UNKNOWN, Dim, product
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, Operands, View
from whorl.ir.types import Fact, SequenceType, TensorType, tensor
from whorl.lowering.graph_program import sequence_of
from whorl.ops.native.index_maps import (
    broadcast_scalar,
    normalise_indices,
    ravel_index,
    read_element,
    replace_at,
)
from whorl.ops.sequence.sequences import (
    ConcatFromSequence,
    SequenceAt,
)

Shape = tuple[int | None, ...]
"""The lengths that all tensors of a sequence have, None where they differ."""


class RaggedSequence(Op, frozen=True):
    """The sequence whose elements and table are inputs of a program; its tensors have these lengths, None for any."""

    abstract: ClassVar[bool] = True
    any_length = True
    polymorphic = True

    shape: Shape

    def infer(self, elements: Fact, table: Fact) -> SequenceType:
        return SequenceType(tensor(elements).with_shape(tuple(UNKNOWN if n is None else n for n in self.shape)))

    def run(self, elements: np.ndarray, table: np.ndarray) -> list[np.ndarray]:
        return sequence_of(elements, table)


class ShapeRow(Op, frozen=True):
    """The table's row of a tensor that is put behind other elements: int64 [1, 1 + rank]."""

    abstract: ClassVar[bool] = True
    any_length = True
    polymorphic = True

    def infer(self, elements: Fact, value: Fact) -> TensorType:
        return TensorType(INT64, (1, 1 + (tensor(value).rank or 0)))

    def run(self, elements: np.ndarray, value: np.ndarray) -> np.ndarray:
        return np.array([[len(elements), *value.shape]], np.int64)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        elements, value = inputs
        return [
            _row_view(k, 1, lambda _: [k.const(n) for n in (elements.shape[0], *value.shape)], 1 + len(value.shape))
        ]


class PartRows(Op, frozen=True):
    """The table of the parts of a tensor along its first axis, from where they end."""

    abstract: ClassVar[bool] = True
    any_length = True
    polymorphic = True

    def infer(self, data: Fact, ends: Fact) -> TensorType:
        return TensorType(INT64, (UNKNOWN, 1 + (tensor(data).rank or 0)))

    def run(self, data: np.ndarray, ends: np.ndarray) -> np.ndarray:
        lengths = np.broadcast_to(data.shape[1:], (len(ends) - 1, data.ndim - 1))
        first = ends[:-1] * np.prod(data.shape[1:], dtype=np.int64)
        return np.column_stack([first, np.diff(ends), lengths]).astype(np.int64)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        data, ends = inputs
        rest = data.shape[1:]

        def row(number: Expr) -> list[Expr]:
            start, end = ends.at((number,)), ends.at((k.add(number, k.const(1)),))
            return [k.mul(start, k.const(product(rest))), k.sub(end, start), *map(k.const, rest)]

        return [_row_view(k, ends.shape[0] - 1, row, 1 + len(data.shape))]


def _row_view(k: NativeBuilder, rows: Dim, row: Callable[[Expr], list[Expr]], columns: int) -> View:
    def at(index: Index) -> Expr:
        cells = row(index[0])
        result = cells[-1]
        for column in reversed(range(columns - 1)):
            result = k.select(k.compare("eq", index[1], k.const(column)), cells[column], result)
        return result

    return k.view(INT64, (rows, columns), at, 2 * columns)


class RaggedLength(Op, frozen=True):
    """The number of rows of a table, an int64 scalar."""

    abstract: ClassVar[bool] = True
    any_length = True

    def infer(self, table: Fact) -> TensorType:
        return TensorType(INT64, ())

    def run(self, table: np.ndarray) -> np.ndarray:
        return np.array(len(table), np.int64)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return [broadcast_scalar(k, k.const(inputs[0].shape[0]), ())]


class RaggedAt(Op, frozen=True):
    """The tensor at a position of a sequence."""

    abstract: ClassVar[bool] = True
    any_length = True
    polymorphic = True

    shape: Shape

    def infer(self, elements: Fact, table: Fact, position: Fact) -> TensorType:
        return tensor(elements).with_shape(tuple(UNKNOWN if n is None else n for n in self.shape))

    def run(self, elements: np.ndarray, table: np.ndarray, position: np.ndarray) -> np.ndarray:
        return SequenceAt().run(sequence_of(elements, table), position)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        elements, table, position = inputs
        number = read_element(k, k.materialise(normalise_indices(k, position, table.shape[0])))
        first, *lengths = (k.let(table.at((number, k.const(n)))) for n in range(1 + len(self.shape)))
        shape = tuple(k.new_length(n) if m is None else m for n, m in zip(lengths, self.shape, strict=True))

        def at(index: Index) -> Expr:
            return elements.at((k.add(first, ravel_index(k, index, shape)),))

        def flat(position: Expr) -> Expr:
            return elements.at((k.add(first, position),))

        return [k.view(elements.dtype, shape, at, elements.cost + 1, flat)]


class RaggedConcat(Op, frozen=True):
    """The tensors of a sequence joined along an axis, or stacked on a new one."""

    abstract: ClassVar[bool] = True
    any_length = True
    polymorphic = True

    how: ConcatFromSequence
    shape: Shape

    @property
    def axis(self) -> int:
        return self.how.axis % (len(self.shape) + bool(self.how.new_axis))

    def infer(self, elements: Fact, table: Fact) -> TensorType:
        element = tensor(elements).with_shape(tuple(UNKNOWN if n is None else n for n in self.shape))
        return self.how.infer(_Element(SequenceType(element)))

    def run(self, elements: np.ndarray, table: np.ndarray) -> np.ndarray:
        return self.how.run(sequence_of(elements, table))

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        elements, table = inputs
        axis, count = self.axis, table.shape[0]
        k.fail_unless(k.compare("gt", k.length(count), k.const(0)))
        first = [k.let(table.at((k.const(0), k.const(1 + n)))) for n in range(len(self.shape))]
        differing = None if self.how.new_axis else axis

        def fits(so_far: Expr, index: Index) -> Expr:
            for n, length in enumerate(first):
                if n != differing:
                    here = table.at((index[0], k.const(1 + n)))
                    so_far = k.apply("and", so_far, k.compare("eq", here, length))
            return so_far

        k.fail_unless(k.reduce((count,), k.const(True, BOOL), fits))
        lengths: list[Dim] = [k.new_length(n) if m is None else m for n, m in zip(first, self.shape, strict=True)]
        if self.how.new_axis:
            shape = (*lengths[:axis], count, *lengths[axis:])

            def stacked(index: Index) -> Expr:
                inner = (*index[:axis], *index[axis + 1 :])
                return elements.at((ravel_index(k, (index[axis], *inner), (count, *lengths)),))

            return [k.view(elements.dtype, shape, stacked, elements.cost + 2)]
        lengths[axis] = k.new_length(self._total(k, table))
        if not axis:
            flat = elements.at
            return [
                k.view(
                    elements.dtype,
                    lengths,
                    lambda index: flat((ravel_index(k, index, lengths),)),
                    elements.cost + 1,
                    lambda position: flat((position,)),
                )
            ]
        return [self._copied(k, elements, table, lengths)]

    def _total(self, k: NativeBuilder, table: View) -> Expr:
        """The sum of all lengths along the axis."""
        column = k.const(1 + self.axis)
        return k.reduce((table.shape[0],), k.const(0), lambda total, i: k.add(total, table.at((i[0], column))))

    def _copied(self, k: NativeBuilder, elements: View, table: View, shape: Sequence[Dim]) -> View:
        result, start, axis = k.temporary(elements.dtype, shape), k.variable(INT64, "start", once=False), self.axis
        k.assign(start, k.const(0))
        with k.loop(table.shape[0]) as number:
            first, length = (k.let(table.at((number, k.const(n)))) for n in (0, 1 + axis))
            inner = replace_at(shape, axis, k.new_length(length))
            with k.nest(inner) as index:
                element = elements.at((k.add(first, ravel_index(k, index, inner)),))
                k.store(result, replace_at(index, axis, k.add(start, index[axis])), element)
            k.assign(start, k.add(start, length))
        return k.view_of(result, shape)


class _Element(Struct, frozen=True):
    type: SequenceType
    known: None = None
