"""Values of many rows, and what rules do with them: aligned axes, a copy for each row, axes in another place."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from whorl.ir.build import Builder
from whorl.ir.dims import Dim
from whorl.ir.graph import Value
from whorl.ir.types import AnyShape, TensorType
from whorl.ops.core.base import normal_axis
from whorl.ops.movement.axes import Concat, Transpose
from whorl.ops.movement.shapes import Expand, Reshape, Shape, Unsqueeze


class CannotVectorize(Exception):
    """Something cannot be computed for all rows at once; the text is the reason."""


class Batched(Struct, frozen=True):
    """A value of each of many rows: `value` holds those of all rows along axis 0, or is the one that all share."""

    value: Value
    is_mapped: bool = True

    @property
    def rank(self) -> int:
        """The rank of one row's value. Errors: as `lengths_of`."""
        return len(lengths_of(self.value)) - self.is_mapped

    def axis(self, axis: int) -> int:
        """The axis of the value that is `axis` of one row, counted from the front."""
        return normal_axis(axis, self.rank) + self.is_mapped


def lengths_of(value: Value) -> tuple[Dim, ...]:
    """The shape of a tensor. Errors: CannotVectorize where its rank is unknown, or the value is no tensor."""
    type = value.type
    if not isinstance(type, TensorType):
        raise CannotVectorize(f"{value.name!r} is no tensor")
    if isinstance(type.shape, AnyShape):
        raise CannotVectorize(f"the rank of {value.name!r} is known only when it runs")
    return type.shape


Operands = Sequence[Batched | None]


def align(operand: Batched, rank: int, build: Builder) -> Value:
    """An operand that broadcasts against others of a rank: one that is mapped has as many axes after the first."""
    if not operand.is_mapped or operand.rank >= rank:
        return operand.value
    axes = build.int64(*range(1, 1 + rank - operand.rank))
    return build.add(Unsqueeze(), operand.value, axes, name=operand.value.name)


def as_scalar(operand: Batched, build: Builder) -> Batched:
    """A value of one element without its axes."""
    if operand.rank == 0:
        return operand
    shape = build.int64(*[-1] * operand.is_mapped)
    return Batched(build.add(Reshape(), operand.value, shape, name=operand.value.name), operand.is_mapped)


def row_count(operands: Operands, build: Builder) -> Value:
    """The number of rows, as a vector of one."""
    mapped = next(x for x in operands if x is not None and x.is_mapped)
    return build.add(Shape(0, 1), mapped.value, name="rows")


def give_all_rows(operand: Batched, rows: Value, build: Builder) -> Value:
    """The operand with a row for each: a shared one is repeated `rows` times, a vector of one."""
    if operand.is_mapped:
        return operand.value
    value = operand.value
    shape = rows if operand.rank == 0 else build.add(Concat(0), rows, build.add(Shape(), value), name="shape")
    return build.add(Expand(), value, shape, name=value.name)


def all_mapped(operands: Operands, build: Builder) -> list[Value | None]:
    """Every operand with a row for each."""
    rows = row_count(operands, build)
    return [None if x is None else give_all_rows(x, rows, build) for x in operands]


def move_axis(value: Value, source: int, target: int, build: Builder) -> Value:
    """The value with one of its axes in another place, as numpy.moveaxis."""
    rank = Batched(value, is_mapped=False).rank
    order = [axis for axis in range(rank) if axis != source]
    order.insert(target, source)
    return permute(value, order, build)


def permute(value: Value, order: Sequence[int], build: Builder) -> Value:
    """The value with its axes in another order."""
    return value if list(order) == sorted(order) else build.add(Transpose(tuple(order)), value, name=value.name)
