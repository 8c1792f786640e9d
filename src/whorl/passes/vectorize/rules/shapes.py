"""Batching rules of ops that ask for shapes or change them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whorl.ir.build import Builder
from whorl.ir.graph import Op, Value
from whorl.ops.core.base import known_ints
from whorl.ops.elementwise.arithmetic import Div
from whorl.ops.movement.axes import Concat, Transpose
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.shapes import Expand, Flatten, Reshape, Shape, Size, Squeeze, Unsqueeze
from whorl.ops.reduce.reductions import ReduceProd
from whorl.passes.vectorize.batched import (
    Batched,
    CannotVectorize,
    Operands,
    align,
    all_mapped,
    lengths_of,
    permute,
    row_count,
)
from whorl.passes.vectorize.rules.rule import Rule


def listed(value: Batched, what: str) -> tuple[int, ...]:
    """Axes that are known. Errors: CannotVectorize."""
    numbers = known_ints(value.value)
    if numbers is None or value.is_mapped:
        raise CannotVectorize(f"{what} are known only when it runs")
    return numbers


def batch_shape(op: Shape, operands: Operands, build: Builder) -> Sequence[Batched]:
    """The same for all rows."""
    (x,) = operands
    assert x is not None
    start, end, _ = slice(op.start, op.end).indices(x.rank)
    return [Batched(build.add(Shape(1 + start, 1 + end), x.value), is_mapped=False)]


def batch_size(_: Size, operands: Operands, build: Builder) -> Sequence[Batched]:
    """The same for all rows."""
    (x,) = operands
    assert x is not None
    return [Batched(build.add(ReduceProd(keepdims=0), build.add(Shape(1), x.value)), is_mapped=False)]


def batch_unsqueeze(op: Unsqueeze, operands: Operands, build: Builder) -> Sequence[Batched]:
    x, axes = operands
    assert x is not None and axes is not None
    numbers = listed(axes, "the axes of an Unsqueeze")
    rank = x.rank + len(numbers)
    return [Batched(build.add(op, x.value, build.int64(*(1 + axis % rank for axis in numbers))))]


def batch_squeeze(op: Squeeze, operands: Operands, build: Builder) -> Sequence[Batched]:
    x, axes = operands[0], operands[1] if len(operands) > 1 else None
    assert x is not None
    numbers = _axes_of_one(x) if axes is None else listed(axes, "the axes of a Squeeze")
    return [Batched(build.add(op, x.value, build.int64(*map(x.axis, numbers))))]


def _axes_of_one(x: Batched) -> list[int]:
    """The axes of a row that surely have length 1, where those of the others are known, too."""
    lengths = lengths_of(x.value)[x.is_mapped :]
    if not all(isinstance(length, int) for length in lengths):
        raise CannotVectorize("which axes a Squeeze removes is known only when it runs")
    return [axis for axis, length in enumerate(lengths) if length == 1]


def batch_reshape(op: Reshape, operands: Operands, build: Builder) -> Sequence[Batched]:
    """The number of rows goes before the lengths, of which 0 then copies the length that it did."""
    x, shape = operands
    assert x is not None and shape is not None
    if shape.is_mapped:
        raise CannotVectorize("rows have shapes of their own")
    requested = known_ints(shape.value)
    if requested is None or -1 not in requested:
        return [Batched(build.add(op, x.value, _with_rows(shape.value, operands, build)))]
    lengths = _without_rest(op, x, requested, build)
    return [Batched(build.add(Reshape(allowzero=1), x.value, _with_rows(lengths, operands, build)))]


def _without_rest(op: Reshape, x: Batched, requested: tuple[int, ...], build: Builder) -> Value:
    """The lengths with those that 0 copies and the one that -1 stands for, which has no meaning without rows."""
    row = build.add(Shape(1), x.value, name="shape")
    copied = {k: build.add(Gather(), row, build.int64(k)) for k, n in enumerate(requested) if not (n or op.allowzero)}
    others = [copied.get(k, build.int64(n)) for k, n in enumerate(requested) if n != -1]
    product, size = (
        build.add(ReduceProd(), numbers, build.int64(0), name="size")
        for numbers in (build.add(Concat(0), *others, build.int64(), name="lengths"), row)
    )
    others.insert(requested.index(-1), build.add(Div(), size, product, name="rest"))
    return build.add(Concat(0), *others, name="shape")


def _with_rows(shape: Value, operands: Operands, build: Builder) -> Value:
    return build.add(Concat(0), row_count(operands, build), shape, name="shape")


def batch_expand(op: Expand, operands: Operands, build: Builder) -> Sequence[Batched]:
    x, shape = operands
    assert x is not None and shape is not None
    if shape.is_mapped:
        raise CannotVectorize("rows have shapes of their own")
    (rank,) = Batched(build.add(Shape(), shape.value), is_mapped=False).value.known or (None,)
    if not isinstance(rank, int):
        raise CannotVectorize("the rank of an Expand is known only when it runs")
    return [Batched(build.add(op, align(x, rank, build), _with_rows(shape.value, operands, build)))]


def batch_flatten(op: Flatten, operands: Operands, build: Builder) -> Sequence[Batched]:
    """The axes of a row before and from one on become one each."""
    (x,) = operands
    assert x is not None
    axis = 1 + (op.axis + x.rank if op.axis < 0 else op.axis)
    sides = (build.add(Shape(a, b), x.value, name="shape") for a, b in ((1, axis), (axis, None)))
    sizes = [build.add(ReduceProd(), side, build.int64(0), name="size") for side in sides]
    shape = build.add(Concat(0), row_count(operands, build), *sizes, name="shape")
    return [Batched(build.add(Reshape(allowzero=1), x.value, shape))]


def batch_transpose(op: Transpose, operands: Operands, build: Builder) -> Sequence[Batched]:
    (x,) = operands
    assert x is not None
    order = range(x.rank)[::-1] if op.perm is None else op.perm
    return [Batched(permute(x.value, [0, *(1 + axis for axis in order)], build))]


def batch_concat(op: Concat, operands: Operands, build: Builder) -> Sequence[Batched]:
    axis = next(x.axis(op.axis) for x in operands if x is not None and x.is_mapped)
    return [Batched(build.add(Concat(axis), *all_mapped(operands, build)))]


RULES: Mapping[type[Op], Rule] = {
    Shape: batch_shape,
    Size: batch_size,
    Unsqueeze: batch_unsqueeze,
    Squeeze: batch_squeeze,
    Reshape: batch_reshape,
    Expand: batch_expand,
    Flatten: batch_flatten,
    Transpose: batch_transpose,
    Concat: batch_concat,
}
