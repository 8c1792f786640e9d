"""Batching rules of ops that select: the largest elements, triangles, classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Op, Value
from whorl.ops.core.base import normal_axis
from whorl.ops.elementwise.arithmetic import Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import GreaterOrEqual, LessOrEqual, Where
from whorl.ops.movement.filling import ConstantOfShape, EyeLike, Range
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.rearranging import zero_of
from whorl.ops.movement.selection import Compress, OneHot, TopK, Trilu
from whorl.ops.movement.shapes import Flatten, Reshape, Shape, Squeeze, Unsqueeze
from whorl.passes.rules.pattern import tensor_type
from whorl.passes.vectorize.batched import Batched, Operands, align
from whorl.passes.vectorize.rules.folding import call, require_shared
from whorl.passes.vectorize.rules.rule import Rule
from whorl.passes.vectorize.rules.shapes import batch_flatten


def batch_top_k(op: TopK, operands: Operands, build: Builder) -> Sequence[Batched]:
    x, count = operands
    assert x is not None and count is not None
    number = require_shared(count, "the number of a TopK")
    return [Batched(value) for value in call(replace(op, axis=x.axis(op.axis)), [x.value, number], build)]


def batch_one_hot(op: OneHot, operands: Operands, build: Builder) -> Sequence[Batched]:
    """Values of each row are selected by the classes that all values share."""
    indices, depth, values = operands
    assert indices is not None and depth is not None and values is not None
    classes = require_shared(depth, "the depth of a OneHot")
    axis = indices.is_mapped + normal_axis(op.axis, indices.rank + 1)
    if not values.is_mapped:
        return [Batched(build.add(replace(op, axis=axis), indices.value, classes, values.value))]
    truths = build.constant(np.array([False, True], BOOL))
    hot = Batched(build.add(replace(op, axis=axis), indices.value, classes, truths, name="hot"), indices.is_mapped)
    pair = (build.add(Gather(1), values.value, build.constant(np.array(n, np.int64))) for n in (1, 0))
    on, off = (align(Batched(value), hot.rank, build) for value in pair)
    return [Batched(build.add(Where(), hot.value, on, off))]


def batch_trilu(op: Trilu, operands: Operands, build: Builder) -> Sequence[Batched]:
    """A diagonal of each row becomes a mask over its matrices."""
    x, diagonal = (*operands, None)[:2]
    assert x is not None
    if diagonal is None or not diagonal.is_mapped:
        return [Batched(build.add(op, *(None if each is None else each.value for each in operands)))]
    last = _numbers(build.add(Shape(-1), x.value), build)
    line = _numbers(build.add(Shape(-2, -1), x.value), build)
    gap = build.add(Sub(), last, build.add(Unsqueeze(), line, build.int64(1)), name="gap")
    flat = Batched(build.add(Cast(INT64), build.add(Reshape(), diagonal.value, build.int64(-1)), name="diagonal"))
    test = GreaterOrEqual() if op.upper else LessOrEqual()
    inside = build.add(test, gap, align(flat, x.rank, build), name="inside")
    dtype = tensor_type(x.value).dtype
    zero = build.constant(np.full((), zero_of(dtype), dtype))
    return [Batched(build.add(Where(), inside, x.value, zero))]


def _numbers(length: Value, build: Builder) -> Value:
    zero, one = (build.constant(np.array(n, np.int64)) for n in (0, 1))
    return build.add(Range(), zero, build.add(Reshape(), length, build.int64(), name="length"), one, name="numbers")


def batch_compress(op: Compress, operands: Operands, build: Builder) -> Sequence[Batched]:
    """Without an axis, all elements of a row are in line."""
    x, condition = operands
    assert x is not None and condition is not None
    chosen = require_shared(condition, "how many elements a Compress takes")
    if op.axis is not None:
        return [Batched(build.add(Compress(x.axis(op.axis)), x.value, chosen))]
    (line,) = batch_flatten(Flatten(0), [x], build)
    row = build.add(Compress(2), line.value, chosen)
    return [Batched(build.add(Squeeze(), row, build.int64(1)))]


def batch_eye(op: EyeLike, operands: Operands, build: Builder) -> Sequence[Batched]:
    """The same for all rows: of a row only its shape counts."""
    (x,) = operands
    assert x is not None
    zero = np.zeros(1, op.dtype or tensor_type(x.value).dtype)
    like = build.add(ConstantOfShape(zero), build.add(Shape(1), x.value, name="shape"), name="like")
    return [Batched(build.add(op, like), is_mapped=False)]


RULES: Mapping[type[Op], Rule] = {
    TopK: batch_top_k,
    OneHot: batch_one_hot,
    Trilu: batch_trilu,
    Compress: batch_compress,
    EyeLike: batch_eye,
}
