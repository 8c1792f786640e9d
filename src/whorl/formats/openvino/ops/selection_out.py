"""Places that are found, and elements that are picked by their size, written."""

from __future__ import annotations

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.exporting import LayerWriter, Source, exporter, rewritten
from whorl.formats.openvino.ops.common_out import (
    converted,
    counted,
    length_of_axis,
    number,
    scalar,
    types_of,
    whole,
    without_axes,
)
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Node, Value
from whorl.ir.types import UNRANKED, AnyShape, TensorType, tensor
from whorl.ops.elementwise.arithmetic import Add, Identity, Mod, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Equal, GreaterOrEqual, Less, LessOrEqual, Where
from whorl.ops.linear.einsum import Einsum
from whorl.ops.movement.axes import Slice, Transpose
from whorl.ops.movement.filling import ConstantOfShape
from whorl.ops.movement.selection import OneHot, TopK, Trilu, Unique
from whorl.ops.movement.shapes import Reshape, Shape, Unsqueeze
from whorl.ops.reduce.cumulative import CumProd, CumSum
from whorl.ops.reduce.reductions import ArgumentReduction, ReduceProd


@exporter("TopK")
def write_top_k(node: Node, write: LayerWriter) -> list[Source]:
    """Of equal elements the first comes first."""
    op, (x, k) = node.op, node.inputs
    assert isinstance(op, TopK) and x is not None
    count = without_axes(write, write.source(k))
    values = tensor(node.outputs[0])
    return _top_k(write, write.source(x), count, op.axis, "max" if op.largest else "min", values)


def _top_k(write: LayerWriter, x: Source, count: Source, axis: int, mode: str, values: TensorType) -> list[Source]:
    results = [values, values.with_dtype(INT64)]
    return write.layer(
        "TopK", 11, [x, count], results, axis=axis, mode=mode, sort="value", index_element_type=INT64, stable=True
    )


@exporter("ArgMax")
@exporter("ArgMin")
def write_argument(node: Node, write: LayerWriter) -> list[Source]:
    """The place of the first of the elements in order; the last of equals is the first one from the other end."""
    op, x = node.op, node.inputs[0]
    assert isinstance(op, ArgumentReduction) and x is not None
    (result,), rank = types_of(node.outputs), tensor(x).rank
    if rank == 0:
        return [scalar(write, 0)]
    if op.select_last_index:
        return write.through(node, lambda build, y: _last_place(op, build, y))
    mode = "max" if op.largest else "min"
    shape = tensor(x).shape
    if isinstance(shape, AnyShape):
        kept = TensorType(INT64, UNRANKED)
    else:
        kept = TensorType(INT64, tuple(1 if k == op.axis % len(shape) else dim for k, dim in enumerate(shape)))
    places = _top_k(write, write.source(x), scalar(write, 1), op.axis, mode, kept.with_dtype(tensor(x).dtype))[1]
    if op.keepdims:
        return [places]
    axes = write.constant(np.array([op.axis], np.int64))
    return write.layer("Squeeze", 1, [places, axes], [result])


def _last_place(op: ArgumentReduction, build: Builder, x: Value) -> Value:
    rows = (build.int64(each) for each in (-1, np.iinfo(np.int64).min, op.axis, -1))
    place = build.add(type(op)(op.axis, op.keepdims), build.add(Slice(), x, *rows))
    return build.add(Sub(), build.add(Sub(), length_of_axis(build, x, op.axis), whole(build, 1)), place)


@exporter("NonZero")
def write_non_zero(node: Node, write: LayerWriter) -> list[Source]:
    """A scalar has no axes, and so no rows of places."""
    x = write.source(node.inputs[0])
    (result,) = types_of(node.outputs)
    if x.type.rank == 0:
        raise SaveError("the input has no axes", fix="give it one")
    return write.layer("NonZero", 3, [x], [result], output_type=INT64)


@exporter("OneHot")
def write_one_hot(node: Node, write: LayerWriter) -> list[Source]:
    """Negative indices are counted from the front first; both values are inputs of their own."""
    op, (indices, depth, values) = node.op, node.inputs
    assert isinstance(op, OneHot)
    place, count = converted(write, write.source(indices), INT64), without_axes(write, write.source(depth))
    count = converted(write, count, INT64)
    negative = write.layer("Less", 1, [place, scalar(write, 0)], [place.type.with_dtype(BOOL)])[0]
    moved = write.layer("Add", 1, [place, count], [place.type])[0]
    place = write.layer("Select", 1, [negative, moved, place], [place.type])[0]
    pair, axis = write.source(values), scalar(write, 0)
    single = pair.type.with_shape(())
    off, on = (write.layer("Gather", 8, [pair, scalar(write, k), axis], [single], batch_dims=0)[0] for k in (0, 1))
    return write.layer("OneHot", 1, [place, count, on, off], types_of(node.outputs), axis=op.axis)


@exporter("CumSum")
def write_cum_sum(node: Node, write: LayerWriter) -> list[Source]:
    """The axis is an input without axes."""
    op = node.op
    assert isinstance(op, CumSum)
    x, axis = write.source(node.inputs[0]), without_axes(write, write.source(node.inputs[1]))
    backwards, excluding = bool(op.reverse), bool(op.exclusive)
    return write.layer("CumSum", 3, [x, axis], types_of(node.outputs), exclusive=excluding, reverse=backwards)


@exporter("CumProd")
def write_cum_prod(node: Node, write: LayerWriter) -> list[Source]:
    """The product of all elements, each with ones in the place of those that do not count."""
    op, fixed, rank = node.op, write.constant_value(node.inputs[1]), tensor(node.outputs[0]).rank
    assert isinstance(op, CumProd)
    if fixed is not None:
        axis = int(fixed.reshape(-1)[0])
        return write.through(node, lambda build, x, *_: _products(op, build, x, axis))
    if rank is None:
        raise SaveError("the rank of the input is not known", fix="declare its shape")
    return write.through(node, lambda build, x, axis: _products_at_run_time(op, build, x, axis, rank))


def _products_at_run_time(op: CumProd, build: Builder, x: Value, axis: Value, rank: int) -> Value:
    """Those along each axis, and a choice among them."""
    place = build.add(Mod(), build.add(Cast(INT64), axis), whole(build, rank))
    result = _products(op, build, x, 0)
    for k in range(1, rank):
        along = build.add(Equal(), place, whole(build, k))
        result = build.add(Where(), along, _products(op, build, x, k), result)
    return result


def _products(op: CumProd, build: Builder, x: Value, axis: int) -> Value:
    rank = tensor(x).rank
    if rank is None:
        raise SaveError("the rank of the input is not known", fix="declare its shape")
    order = (*(k for k in range(rank) if k != axis % rank), axis % rank)
    rows = build.add(Unsqueeze(), build.add(Transpose(order), x), build.int64(-2))
    place = counted(build, length_of_axis(build, x, axis))
    here = build.add(Unsqueeze(), place, build.int64(1))
    left, right = (here, place) if op.reverse else (place, here)
    counts = build.add(Less() if op.exclusive else LessOrEqual(), left, right)
    kept = build.add(Where(), counts, rows, number(build, x, 1))
    back = tuple(int(k) for k in np.argsort(order))
    return build.add(Transpose(back), build.add(ReduceProd(keepdims=0), kept, build.int64(-1)))


@rewritten("Trilu")
def trilu(node: Node, build: Builder, x: Value, k: Value | None = None) -> Value:
    """Zeros on one side of a diagonal."""
    op = node.op
    assert isinstance(op, Trilu)
    down, across = (counted(build, length_of_axis(build, x, axis)) for axis in (-2, -1))
    diagonal = build.add(Unsqueeze(), down, build.int64(1))
    if k is not None:
        shift = k if tensor(k).rank == 0 else build.add(Reshape(), k, build.int64())
        diagonal = build.add(Add(), diagonal, build.add(Cast(INT64), shift))
    kept = build.add(GreaterOrEqual() if op.upper else LessOrEqual(), across, diagonal)
    return build.add(Where(), kept, x, number(build, x, 0))


@rewritten("Dropout")
def dropout(
    node: Node, build: Builder, x: Value, ratio: Value | None = None, training: Value | None = None
) -> list[Value]:
    """Nothing is dropped outside of training."""
    known = None if training is None else training.known
    if training is not None and (known is None or known.reshape(-1)[0]) and not _is_zero(ratio):
        raise SaveError("drops elements at random", fix="leave out training_mode")
    return [build.add(Identity(), x), build.add(ConstantOfShape(np.ones(1, np.bool_)), build.add(Shape(), x))]


def _is_zero(ratio: Value | None) -> bool:
    return ratio is not None and ratio.known is not None and ratio.known.reshape(-1)[0] == 0


@exporter("Einsum")
def write_einsum(node: Node, write: LayerWriter) -> list[Source]:
    """The equation without blanks."""
    op = node.op
    assert isinstance(op, Einsum)
    sources = [write.source(value) for value in node.inputs]
    return write.layer("Einsum", 7, sources, types_of(node.outputs), equation=op.equation.replace(" ", ""))


@exporter("Unique")
def write_unique(node: Node, write: LayerWriter) -> list[Source]:
    """All four outputs."""
    op, x = node.op, node.inputs[0]
    assert isinstance(op, Unique) and x is not None
    inputs = [write.source(x)] + ([] if op.axis is None else [scalar(write, op.axis)])
    results = list(op.infer(x))
    return write.layer(
        "Unique", 10, inputs, results, sorted=bool(op.sorted), index_element_type=INT64, count_element_type=INT64
    )
