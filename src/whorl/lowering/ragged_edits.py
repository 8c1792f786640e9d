"""Tensors put between those of a sequence, and taken out of it, where these are elements and a table (`ragged`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, Operands, View
from whorl.ir.types import Fact, TensorType, tensor
from whorl.ops.native.index_maps import read_element
from whorl.ops.sequence.sequences import resolve_position, row_number


class RowAt(Op, frozen=True):
    """The row of a table at a position that counts from either end; the last where it is left out.

    `is_between`: the rows are those before which something may be put, of which there is one more.
    """

    abstract: ClassVar[bool] = True
    any_length = True

    is_between: bool

    def infer(self, table: Fact, position: Fact | None = None) -> TensorType:
        return TensorType(INT64, ())

    def run(self, table: np.ndarray, position: np.ndarray | None = None) -> np.ndarray:
        last = len(table) - (not self.is_between)
        known = np.array(last if self.is_between else -1) if position is None else position
        return np.array(resolve_position(known, len(table), last), np.int64)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        rows, position = inputs[0].shape[0], inputs.optional(1)
        last = rows if self.is_between else rows - 1
        if position is None:
            position = k.scalar(k.length(last if self.is_between else -1))
        return [k.scalar(row_number(k, position, rows, last))]


class ErasedElements(Op, frozen=True):
    """The elements without those of a row of the table; tensors have this rank."""

    abstract: ClassVar[bool] = True
    any_length = True
    polymorphic = True

    rank: int

    def infer(self, elements: Fact, table: Fact, row: Fact) -> TensorType:
        return tensor(elements).with_shape((UNKNOWN,))

    def run(self, elements: np.ndarray, table: np.ndarray, row: np.ndarray) -> np.ndarray:
        first, *lengths = table[row].tolist()
        return np.delete(elements, np.s_[first : first + int(np.prod(lengths))])

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        elements, table, row = inputs
        number = read_element(k, row)
        first, size = k.let(table.at((number, k.const(0)))), _size(k, table, number, self.rank)
        length = k.new_length(k.sub(k.length(elements.shape[0]), size))

        def at(index: Index) -> Expr:
            return elements.at((k.add(index[0], k.mul(k.cast(k.compare("ge", index[0], first), INT64), size)),))

        return [k.view(elements.dtype, (length,), at, elements.cost + 3)]


class ErasedRow(Op, frozen=True):
    """The table without a row, for elements without those of the row; tensors have this rank."""

    abstract: ClassVar[bool] = True
    any_length = True

    rank: int

    def infer(self, table: Fact, row: Fact) -> TensorType:
        return TensorType(INT64, (UNKNOWN, 1 + self.rank))

    def run(self, table: np.ndarray, row: np.ndarray) -> np.ndarray:
        result = np.delete(table, row, 0)
        result[int(row) :, 0] -= np.prod(table[row, 1:], dtype=np.int64)
        return result

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        table, row = inputs
        number = k.let(read_element(k, row))
        size, columns = _size(k, table, number, self.rank), table.shape[1]

        def at(index: Index) -> Expr:
            is_behind = k.cast(k.compare("ge", index[0], number), INT64)
            is_start = k.cast(k.compare("eq", index[1], k.const(0)), INT64)
            moved = k.mul(k.mul(is_behind, is_start), size)
            return k.sub(table.at((k.add(index[0], is_behind), index[1])), moved)

        return [k.view(INT64, (table.shape[0] - 1, columns), at, table.cost + 6)]


class InsertedElements(Op, frozen=True):
    """The elements with those of a tensor before a row of the table, or at the end."""

    abstract: ClassVar[bool] = True
    any_length = True
    polymorphic = True

    def infer(self, elements: Fact, table: Fact, value: Fact, row: Fact) -> TensorType:
        return tensor(elements).with_shape((UNKNOWN,))

    def run(self, elements: np.ndarray, table: np.ndarray, value: np.ndarray, row: np.ndarray) -> np.ndarray:
        first = _start_of(elements, table, row)
        return np.concatenate([elements[:first], value, elements[first:]])

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        elements, table, value, row = inputs
        first, size = _start(k, elements, table, k.let(read_element(k, row))), k.length(value.shape[0])
        shape = (elements.shape[0] + value.shape[0],)
        result = k.temporary(elements.dtype, shape)
        with k.nest(elements.shape) as index:
            moved = k.mul(k.cast(k.compare("ge", index[0], first), INT64), size)
            k.store(result, (k.add(index[0], moved),), elements.at(index))
        with k.nest(value.shape) as index:
            k.store(result, (k.add(first, index[0]),), value.at(index))
        return [k.view_of(result, shape)]


class InsertedRow(Op, frozen=True):
    """The table with a row for a tensor before another row, or at the end, for elements with those of the tensor."""

    abstract: ClassVar[bool] = True
    any_length = True
    polymorphic = True

    def infer(self, elements: Fact, table: Fact, value: Fact, row: Fact) -> TensorType:
        return TensorType(INT64, (UNKNOWN, 1 + (tensor(value).rank or 0)))

    def run(self, elements: np.ndarray, table: np.ndarray, value: np.ndarray, row: np.ndarray) -> np.ndarray:
        number = int(row)
        result = np.insert(table, number, [_start_of(elements, table, row), *value.shape], 0)
        result[number + 1 :, 0] += value.size
        return result

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        elements, table, value, row = inputs
        number = k.let(read_element(k, row))
        first, size = _start(k, elements, table, number), k.const(1)
        for length in value.shape:
            size = k.mul(size, k.length(length))
        shape = (table.shape[0] + 1, table.shape[1])
        result = k.temporary(INT64, shape)
        with k.nest(table.shape) as index:
            is_behind = k.cast(k.compare("ge", index[0], number), INT64)
            is_start = k.cast(k.compare("eq", index[1], k.const(0)), INT64)
            moved = k.mul(k.mul(is_behind, is_start), size)
            k.store(result, (k.add(index[0], is_behind), index[1]), k.add(table.at(index), moved))
        for column, number_there in enumerate((first, *map(k.length, value.shape))):
            k.store(result, (number, k.const(column)), number_there)
        return [k.view_of(result, shape)]


def _size(k: NativeBuilder, table: View, number: Expr, rank: int) -> Expr:
    """The elements of the tensor in a row."""
    size = k.const(1)
    for column in range(1, rank + 1):
        size = k.mul(size, table.at((number, k.const(column))))
    return k.let(size)


def _start(k: NativeBuilder, elements: View, table: View, number: Expr) -> Expr:
    """Where the elements of a row begin; those of one behind all others behind all elements."""
    start = k.variable(INT64, "start", once=False)
    k.assign(start, k.length(elements.shape[0]))
    with k.when(k.compare("lt", number, k.length(table.shape[0]))):
        k.assign(start, table.at((number, k.const(0))))
    return start


def _start_of(elements: np.ndarray, table: np.ndarray, row: np.ndarray) -> int:
    return int(table[int(row), 0]) if row < len(table) else len(elements)
