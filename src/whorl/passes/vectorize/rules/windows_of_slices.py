"""Slices that start elsewhere in each row and all have the same length: their elements taken by index."""

from __future__ import annotations

import numpy as np

from whorl.ir.build import Builder
from whorl.ir.dims import Call, Dim, Linear
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Node, Op, Value
from whorl.ops.core.base import known_dims, known_ints
from whorl.ops.elementwise.arithmetic import Add, Identity, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.movement.filling import Range
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.lengths import at_most
from whorl.ops.movement.shapes import Reshape, Squeeze, Unsqueeze
from whorl.passes.vectorize.batched import Batched, CannotVectorize, lengths_of
from whorl.passes.vectorize.rules.indexing import batch_gather

NOT_CONSTANT = "rows are slices of different lengths"


def take_windows(
    x: Batched,
    starts: Batched,
    ends: Batched,
    axes: Batched | None,
    steps: Batched | None,
    build: Builder,
) -> Batched:
    """One window along one axis of each row, which begins at an iteration number plus a constant.

    Errors: CannotVectorize where it is not proved that all windows have the same length.
    """
    (axis,) = _one(axes) if axes is not None else (0,)
    if lengths_of(starts.value)[1:] != (1,) or (steps is not None and _one(steps) != (1,)):
        raise CannotVectorize(NOT_CONSTANT)
    (first, low), (last, high) = (_base_and_offset(each.value) for each in (starts, ends))
    length, own = high - low, lengths_of(x.value)[x.axis(axis)]
    if first is not last or length < 0 or low < 0 or not at_most(_most(first) + high, own):
        raise CannotVectorize(NOT_CONSTANT)
    rows = build.add(Reshape(), starts.value, build.int64(-1, 1), name="starts")
    steps_on = build.constant(np.arange(length, dtype=np.int64))
    indices = Batched(build.add(Add(), build.add(Cast(INT64), rows, name="starts"), steps_on, name="indices"))
    return batch_gather(Gather(axis), (x, indices), build)[0]


def _one(value: Batched) -> tuple[int]:
    """The one known number that all rows share."""
    numbers = None if value.is_mapped else known_ints(value.value)
    if numbers is None or len(numbers) != 1:
        raise CannotVectorize(NOT_CONSTANT)
    return (numbers[0],)


def _base_and_offset(value: Value) -> tuple[Value, int]:
    """The value as another one plus a constant."""
    offset = 0
    while isinstance(value.owner, Node):
        op, operands = value.owner.op, value.owner.inputs
        if _keeps_numbers(op) and operands[0] is not None:
            value = operands[0]
            continue
        pair = _sum_with_constant(op, operands)
        if pair is None:
            break
        value, number = pair
        offset += number
    return value, offset


def _keeps_numbers(op: Op) -> bool:
    return isinstance(op, Reshape | Squeeze | Unsqueeze | Identity) or op == Cast(INT64)


def _sum_with_constant(op: Op, operands: list[Value | None]) -> tuple[Value, int] | None:
    if not isinstance(op, Add | Sub):
        return None
    a, b = operands
    assert a is not None and b is not None
    if isinstance(op, Add) and _number(b) is None:
        a, b = b, a
    number = _number(b)
    return None if number is None else (a, number if isinstance(op, Add) else -number)


def _number(value: Value) -> int | None:
    numbers = known_ints(value)
    return numbers[0] if numbers is not None and len(numbers) == 1 else None


def _most(value: Value) -> Dim:
    """The largest of the numbers 0, 1, 2, ... that an iteration has. Errors: CannotVectorize for other values."""
    node = value.owner
    if not isinstance(node, Node) or not isinstance(node.op, Range):
        raise CannotVectorize(NOT_CONSTANT)
    first, _, step = (known_dims(each) for each in node.inputs)
    if first != (0,) or step != (1,):
        raise CannotVectorize(NOT_CONSTANT)
    return _where_positive(lengths_of(value)[0]) - 1


def _where_positive(count: Dim) -> Dim:
    """What max(a, 0) is where it is positive, as it is where there is an iteration."""
    match count:
        case Linear(terms=((Call(kind="max", args=(a, 0) | (0, a)), 1),), constant=0):
            return a
        case _:
            return count


def iteration_and_offset(value: Value) -> tuple[Value, int]:
    """The iteration numbers, and the constant that rows of one number are more. Errors: CannotVectorize for others."""
    base, offset = _base_and_offset(value)
    _most(base)
    return base, offset
