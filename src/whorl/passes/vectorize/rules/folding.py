"""Rows folded into an axis that an op treats line by line, such as its batch, and unfolded again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from whorl.ir.build import Builder
from whorl.ir.graph import Op, Value, as_types
from whorl.ops.elementwise.arithmetic import Mul
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.filling import Range
from whorl.ops.movement.shapes import Reshape, Shape, Unsqueeze
from whorl.passes.vectorize.batched import (
    Batched,
    CannotVectorize,
    Operands,
    give_all_rows,
    lengths_of,
    move_axis,
    row_count,
)
from whorl.passes.vectorize.rules.rule import Rule


def folded(*axes: int | None, to: Sequence[int | None] | None = None) -> Rule:
    """The rule of an op that treats the lines of an axis of each operand apart; None stands for what all rows share.

    `to`: the axis of each result, None where the result is shared, too; by default the first.
    """

    def batch(op: Op, operands: Operands, build: Builder) -> Sequence[Batched]:
        return batch_folded(op, operands, axes, to, build)

    return batch


def batch_folded(
    op: Op,
    operands: Operands,
    axes: Sequence[int | None],
    to: Sequence[int | None] | None,
    build: Builder,
    length: Value | None = None,
) -> list[Batched]:
    """The results of an op for all rows, which are lines of an axis of its operands, as `folded` says.

    `length`: the number of lines of one row in the results, by default that of the first operand with an axis.
    """
    rows = row_count(operands, build)
    inputs: list[Value | None] = []
    for number, (x, axis) in enumerate(zip_longest(operands, axes[: len(operands)])):
        if x is None or axis is None:
            inputs.append(None if x is None else require_shared(x, f"operand {number}"))
            continue
        whole = Batched(give_all_rows(x, rows, build))
        length = length_along(whole, axis, build) if length is None else length
        inputs.append(fold(whole, axis, build))
    assert length is not None
    outputs = call(op, inputs, build, None if to is None else len(to))
    lines = (0,) * len(outputs) if to is None else to
    return [
        Batched(value, is_mapped=False) if axis is None else unfold(value, axis, rows, length, build)
        for value, axis in zip(outputs, lines, strict=True)
    ]


def call(op: Op, inputs: Sequence[Value | None], build: Builder, count: int | None = None) -> list[Value]:
    """The first results of an op, or all."""
    most = len(as_types(op.infer(*inputs)))
    return build.add_many(op, inputs, [op.name] * (most if count is None else count))


def require_shared(x: Batched, what: str) -> Value:
    """What all rows share. Errors: CannotVectorize where rows differ."""
    if x.is_mapped:
        raise CannotVectorize(f"{what} differs by row")
    return x.value


def known_row_count(operands: Operands) -> int | None:
    """The number of rows, where that is known and not 0."""
    count = next(lengths_of(x.value)[0] for x in operands if x is not None and x.is_mapped)
    return count if isinstance(count, int) and count else None


def length_along(x: Batched, axis: int, build: Builder) -> Value:
    """The length of an axis of one row, as a vector of one."""
    at = x.axis(axis)
    return build.add(Shape(at, at + 1), x.value, name="length")


def fold(x: Batched, axis: int, build: Builder) -> Value:
    """The rows one after the other along one of their axes."""
    at = x.axis(axis) - 1
    moved = move_axis(x.value, 0, at, build)
    pair = (build.add(Shape(k, k + 1), moved, name="length") for k in (at, at + 1))
    before, after = build.add(Shape(0, at), moved, name="shape"), build.add(Shape(at + 2), moved, name="shape")
    shape = build.add(Concat(0), before, build.add(Mul(), *pair, name="lines"), after, name="shape")
    return build.add(Reshape(allowzero=1), moved, shape, name=x.value.name)


def unfold(value: Value, axis: int, rows: Value, length: Value, build: Builder) -> Batched:
    """The rows that lie one after the other along an axis of a value, `length` lines each."""
    at = Batched(value, is_mapped=False).axis(axis)
    before, after = build.add(Shape(0, at), value, name="shape"), build.add(Shape(at + 1), value, name="shape")
    shape = build.add(Concat(0), before, rows, length, after, name="shape")
    split = build.add(Reshape(allowzero=1), value, shape, name=value.name)
    return Batched(move_axis(split, at, 0, build))


def row_numbers(rows: Value, rank: int, build: Builder) -> Value:
    """The number of each row, as int64 of a rank."""
    zero, one = (build.add(Reshape(), build.int64(n), build.int64()) for n in (0, 1))
    numbers = build.add(Range(), zero, build.add(Reshape(), rows, build.int64(), name="rows"), one, name="row")
    return build.add(Unsqueeze(), numbers, build.int64(*range(1, rank)), name="row") if rank > 1 else numbers
