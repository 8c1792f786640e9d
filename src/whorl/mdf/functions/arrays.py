"""Functions of whole arrays: reductions, shapes, joins, products of matrices, and those that make arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from whorl.errors import UnsupportedError
from whorl.ir.graph import Op, Value
from whorl.ir.types import AnyShape
from whorl.mdf.functions.builder import NodeBuilder, Operand
from whorl.mdf.functions.table import define, define_builtin, define_math
from whorl.mdf.model import Datum
from whorl.ops.elementwise.arithmetic import Max, Min, Mul, Sub
from whorl.ops.elementwise.functions import Sqrt
from whorl.ops.linear.determinants import Det
from whorl.ops.linear.products import MatMul
from whorl.ops.movement.axes import Concat, Transpose
from whorl.ops.movement.indexing import GatherElements
from whorl.ops.movement.shapes import Expand, Reshape, Shape, Squeeze, Unsqueeze
from whorl.ops.reduce.cumulative import CumProd, CumSum
from whorl.ops.reduce.reductions import (
    ArgMax,
    ArgMin,
    ReduceMax,
    ReduceMean,
    ReduceMin,
    ReduceProd,
    ReduceSum,
    Reduction,
)

Axes = int | Sequence[int] | None


def reduce(kind: type[Reduction], nodes: NodeBuilder, x: Operand, axis: Axes = None, keepdims: bool = False) -> Value:
    axes = [] if axis is None else [nodes.axes(axis)]
    return nodes.add(kind(keepdims=int(bool(keepdims))), nodes.number(x), *axes)


def reduce_truth(
    kind: type[Reduction], nodes: NodeBuilder, x: Operand, axis: Axes = None, keepdims: bool = False
) -> Value:
    return nodes.truth(reduce(kind, nodes, nodes.truth(x), axis, keepdims))


def reduce_extreme(kind: type[Reduction], op: Op, nodes: NodeBuilder, *operands: Operand, **keywords: Datum) -> Value:
    """`max(a, b)` of several operands, or of the elements of one."""
    return reduce(kind, nodes, *operands, **keywords) if len(operands) == 1 else nodes.compute(op, *operands)


def variance(nodes: NodeBuilder, x: Operand, axis: Axes = None, keepdims: bool = False) -> Value:
    rest = nodes.compute(Sub(), x, reduce(ReduceMean, nodes, x, axis, True))
    return reduce(ReduceMean, nodes, nodes.add(Mul(), rest, rest), axis, keepdims)


def deviation(nodes: NodeBuilder, x: Operand, axis: Axes = None, keepdims: bool = False) -> Value:
    return nodes.add(Sqrt(), variance(nodes, x, axis, keepdims))


def norm(nodes: NodeBuilder, x: Operand, axis: Axes = None, keepdims: bool = False) -> Value:
    value = nodes.number(x)
    return nodes.add(Sqrt(), reduce(ReduceSum, nodes, nodes.add(Mul(), value, value), axis, keepdims))


def index_of_extreme(
    kind: type[ArgMax] | type[ArgMin], nodes: NodeBuilder, x: Operand, axis: int | None = None
) -> Value:
    value = nodes.number(x) if axis is not None else ravel(nodes, nodes.number(x))
    return nodes.add(kind(axis=0 if axis is None else int(axis), keepdims=0), value)


def accumulate(op: Op, nodes: NodeBuilder, x: Operand, axis: int | None = None) -> Value:
    value = nodes.number(x)
    if axis is None and nodes.type(value).rank != 1:
        value = ravel(nodes, value)
    return nodes.add(op, value, nodes.build.constant(np.array(0 if axis is None else int(axis), np.int64)))


def ravel(nodes: NodeBuilder, x: Operand) -> Value:
    return nodes.add(Reshape(), nodes.value(x), nodes.build.int64(-1))


def reshape(nodes: NodeBuilder, x: Operand, *shape: Datum) -> Value:
    lengths = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
    return nodes.add(Reshape(allowzero=1), nodes.value(x), nodes.build.int64(*map(int, lengths)))


def transpose(nodes: NodeBuilder, x: Operand, axes: Sequence[int] | None = None) -> Value:
    return nodes.add(Transpose(perm=None if axes is None else tuple(axes)), nodes.value(x))


def concatenate(nodes: NodeBuilder, arrays: Operand, axis: int = 0) -> Value:
    return nodes.compute(Concat(axis=axis), *_require_list(arrays))


def append(nodes: NodeBuilder, x: Operand, values: Operand, axis: int | None = None) -> Value:
    if axis is not None:
        return concatenate(nodes, [x, values], axis)
    return concatenate(nodes, [ravel(nodes, nodes.number(part)) for part in (x, values)])


def hstack(nodes: NodeBuilder, arrays: Operand) -> Value:
    values = [nodes.number(array) for array in _require_list(arrays)]
    values = [ravel(nodes, value) if nodes.rank(value) == 0 else value for value in values]
    return concatenate(nodes, values, 0 if nodes.rank(values[0]) == 1 else 1)


def roll(nodes: NodeBuilder, x: Operand, shift: Datum, axis: Datum = None) -> Value:
    """The elements of one axis, of which the last ones come first."""
    value = nodes.number(x)
    shape = nodes.type(value).shape
    length = shape[0] if isinstance(shape, tuple) and len(shape) == 1 else None
    if not isinstance(length, int) or not isinstance(shift, int) or axis not in (None, 0):
        fix = "write it with concatenate"
        raise UnsupportedError("roll of other than one axis of a known length is not compiled", fix=fix)
    first = -shift % length if length else 0
    return concatenate(nodes, [nodes.cut(value, 0, slice(first, None)), nodes.cut(value, 0, slice(first))])


def take_along_axis(nodes: NodeBuilder, x: Operand, indices: Operand, axis: Datum) -> Value:
    value, chosen = nodes.number(x), nodes.whole(indices)
    shapes = [list(shape) if isinstance(shape := nodes.type(each).shape, tuple) else None for each in (value, chosen)]
    lengths, others = shapes
    if isinstance(axis, int) and lengths is not None and others is not None and len(lengths) == len(others):
        own = axis % len(lengths)
        if all(one == other for k, (one, other) in enumerate(zip(lengths, others, strict=True)) if k != own):
            return nodes.add(GatherElements(axis=axis), value, chosen)
    fix = "give indices the shape of the array, but for the axis"
    raise UnsupportedError("take_along_axis of these shapes is not compiled", fix=fix)


def stack(nodes: NodeBuilder, arrays: Operand, axis: int = 0) -> Value:
    return nodes.stack([nodes.number(array) for array in _require_list(arrays)], axis)


def _require_list(arrays: Operand) -> Sequence[Operand]:
    if not isinstance(arrays, list | tuple):
        raise UnsupportedError("the arrays to join are not written as a list")
    return arrays


def expand_dims(nodes: NodeBuilder, x: Operand, axis: int) -> Value:
    return nodes.add(Unsqueeze(), nodes.value(x), nodes.build.int64(axis))


def squeeze(nodes: NodeBuilder, x: Operand, axis: Axes = None) -> Value:
    return nodes.add(Squeeze(), nodes.value(x), *([] if axis is None else [nodes.axes(axis)]))


def fill_like(nodes: NodeBuilder, x: Operand, fill: Operand) -> Value:
    return nodes.add(Expand(), nodes.number(fill), nodes.add(Shape(), nodes.value(x)))


def dot(nodes: NodeBuilder, x: Operand, y: Operand) -> Value:
    a, b = nodes.number(x), nodes.number(y)
    ranks = nodes.rank(a), nodes.rank(b)
    if max(ranks) > 2:
        raise UnsupportedError("dot of arrays of more than two axes is not compiled", fix="write it with @")
    return nodes.add(MatMul() if min(ranks) else Mul(), a, b)


def outer(nodes: NodeBuilder, x: Operand, y: Operand) -> Value:
    column, row = (expand_dims(nodes, ravel(nodes, nodes.number(part)), axis) for part, axis in ((x, 1), (y, 0)))
    return nodes.add(Mul(), column, row)


def array(nodes: NodeBuilder, x: Operand, dtype: Operand = None) -> Value:
    return nodes.value(x) if dtype is None else nodes.number(x)


def length(nodes: NodeBuilder, x: Operand) -> int:
    if isinstance(x, list | tuple):
        return len(x)
    shape = nodes.type(nodes.value(x)).shape
    if isinstance(shape, AnyShape) or not shape or not isinstance(shape[0], int):
        raise UnsupportedError("the length of a value is not known before the run")
    return shape[0]


# ---- how many elements a result has ------------------------------------------------------------------------------


def _product(lengths: Datum) -> float:
    return float(np.prod(np.ravel(lengths), dtype=float))


def _steps(values: Sequence[Datum]) -> float:
    numbers = [float(x) for x in values if isinstance(x, int | float | np.number)]
    span = abs(numbers[0]) if len(numbers) == 1 else abs(numbers[1] - numbers[0])
    return span / abs(numbers[2]) if len(numbers) > 2 and numbers[2] else span


def _repeats(values: Sequence[Datum]) -> float:
    return float(np.size(values[0])) * float(np.max(np.abs(values[1]))) ** max(np.size(values[1]), 1)


def _shape(values: Sequence[Datum]) -> float:
    return _product(values[0])


def _square(values: Sequence[Datum]) -> float:
    return float(values[0]) ** 2


def _samples(values: Sequence[Datum]) -> float:
    return max((float(x) for x in values[2:] if isinstance(x, int)), default=50.0)


def _pairs(values: Sequence[Datum]) -> float:
    return float(np.size(values[0])) * float(np.size(values[1]))


for name, kind in {
    "sum": ReduceSum,
    "prod": ReduceProd,
    "mean average": ReduceMean,
    "amax": ReduceMax,
    "amin": ReduceMin,
}.items():
    define(name, partial(reduce, kind), positional=2)
define("max", partial(reduce_extreme, ReduceMax, Max()), positional=2)
define("min", partial(reduce_extreme, ReduceMin, Min()), positional=2)
define("all", partial(reduce_truth, ReduceMin), positional=2)
define("any", partial(reduce_truth, ReduceMax), positional=2)
define("var", variance, positional=2)
define("std", deviation, positional=2)
define("linalg.norm", norm, positional=3)
define("argmax", partial(index_of_extreme, ArgMax), positional=2)
define("argmin", partial(index_of_extreme, ArgMin), positional=2)
define("cumsum", partial(accumulate, CumSum()), positional=2)
define("cumprod", partial(accumulate, CumProd()), positional=2)
define("ravel", ravel, positional=1)
define("reshape", reshape, positional=2)
define("transpose", transpose, positional=2)
define("concatenate", concatenate, positional=2)
define("hstack", hstack, positional=1)
define("append", append, positional=3)
define("roll", roll, positional=3)
define("take_along_axis", take_along_axis, positional=3)
define("stack", stack, positional=2)
define("expand_dims", expand_dims, positional=2)
define("squeeze", squeeze, positional=2)
define("zeros_like", lambda nodes, x: fill_like(nodes, x, 0.0), positional=1)
define("ones_like", lambda nodes, x: fill_like(nodes, x, 1.0), positional=1)
define("full_like", fill_like, positional=2)
define("dot", dot, positional=2)
define("outer", outer, positional=2, elements=_pairs)
define("array asarray", array, positional=1)
define("copy", lambda nodes, x: nodes.value(x), positional=1)
define("linalg.det", lambda nodes, x: nodes.compute(Det(), x), positional=1)
define("zeros ones", positional=1, elements=_shape)
define("full", positional=2, elements=_shape)
define("broadcast_to", positional=2, elements=lambda values: _product(values[-1]))
define("identity", positional=1, elements=_square)
define("eye", positional=2, elements=_square)
define("arange", positional=3, elements=_steps)
define("linspace logspace", positional=3, elements=_samples)
define("inner kron", positional=2, elements=_pairs)
define("tensordot", positional=3, elements=_pairs)
define("tile", positional=2, elements=_repeats)
define("repeat", positional=3, elements=_repeats)
define(
    """atleast_1d atleast_2d atleast_3d corrcoef cov diagonal ediff1d fliplr flipud imag linalg.inv nan_to_num ndim
    nonzero real shape sinc size vstack""",
    positional=1,
)
define(
    """allclose argsort array_equal column_stack convolve count_nonzero cross diag digitize flip isclose isin
    linalg.matrix_power linalg.solve median polyval ptp rot90 searchsorted sort trace tril triu vdot""",
    positional=2,
)
define("diff interp moveaxis percentile quantile select swapaxes take", positional=3)

define_math("prod", partial(reduce, ReduceProd), is_elementwise=False)
define_builtin(min, partial(reduce_extreme, ReduceMin, Min()))
define_builtin(max, partial(reduce_extreme, ReduceMax, Max()))
define_builtin(sum, partial(reduce, ReduceSum))
define_builtin(len, length)
