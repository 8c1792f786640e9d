"""Ranges, searches for indices, and selection of elements by size."""

from __future__ import annotations

import numpy as np

from whorl.errors import LoadError, SaveError
from whorl.formats.openvino.ops.nodes import (
    cast,
    constant_of,
    counted,
    emit,
    flat,
    integers_of,
    length_of_axis,
    like,
    listed,
    one,
    whole,
)
from whorl.formats.openvino.reading.importer import IrNode, importer
from whorl.formats.openvino.writing.exporter import exporter, rewritten
from whorl.formats.openvino.writing.layers import convert, drop_axes, scalar, types_of, write_layer
from whorl.formats.openvino.writing.net import NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, FLOAT32, INT32, INT64, STRING, is_float, is_integer
from whorl.ir.graph import Node, Op, Value
from whorl.ir.types import UNRANKED, AnyShape, TensorType, tensor
from whorl.ops.elementwise.arithmetic import Add, Identity, Round, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Equal, GreaterOrEqual, Less, LessOrEqual, Where
from whorl.ops.linear.einsum import Einsum
from whorl.ops.movement.axes import Concat, Slice
from whorl.ops.movement.filling import ConstantOfShape, Range
from whorl.ops.movement.indexing import GatherElements
from whorl.ops.movement.selection import NonZero, OneHot, TopK, Trilu, Unique
from whorl.ops.movement.shapes import Expand, Reshape, Shape, Unsqueeze
from whorl.ops.random.distributions import Dropout
from whorl.ops.reduce.reductions import ArgMax, ArgMin, ArgumentReduction, ReduceSum


@importer("Range", 1)
def range_1(node: IrNode, build: Builder) -> list[Value]:
    """Start, stop and step, all of one element type."""
    bounds = [one(build, node.required(k)) for k in range(3)]
    return _counted_out(node, build, bounds, tensor(bounds[0]).dtype, tensor(bounds[0]).dtype)


@importer("Range", 4)
def range_4(node: IrNode, build: Builder) -> list[Value]:
    """Start, stop and step may be of different element types; the numbers counted in floats are rounded to integers."""
    dtype = node.dtype("output_type")
    bounds = [one(build, node.required(k)) for k in range(3)]
    floats = [tensor(value).dtype for value in bounds if is_float(tensor(value).dtype)]
    return _counted_out(node, build, bounds, floats[0] if floats and not is_float(dtype) else dtype, dtype)


def _counted_out(node: IrNode, build: Builder, ends: list[Value], dtype: np.dtype, result: np.dtype) -> list[Value]:
    """The numbers, counted in one element type; integers of types that Range lacks in int64."""
    if is_integer(dtype) and dtype not in (INT32, INT64):
        dtype = INT64
    counted = [cast(build, value, dtype) for value in ends]
    if dtype == result:
        return emit(node, build, Range(), *counted)
    numbers = build.add(Range(), *counted)
    return emit(node, build, Cast(result), build.add(Round(), numbers) if is_float(dtype) else numbers)


@importer("Eye", 9)
def eye_9(node: IrNode, build: Builder) -> list[Value]:
    """Ones where the column minus the row is the diagonal's number, in every matrix of a batch."""
    dtype = node.dtype("output_type")
    rows, columns, diagonal = (one(build, cast(build, node.required(k), INT64)) for k in range(3))
    zero, step = (build.constant(np.array(number, np.int64)) for number in (0, 1))
    across, down = (build.add(Range(), zero, length, step) for length in (columns, rows))
    gap = build.add(Sub(), across, build.add(Unsqueeze(), down, build.int64(1)))
    matrix = build.add(Equal(), gap, diagonal)
    batch = node.input(3)
    if batch is None:
        return emit(node, build, Cast(dtype), matrix)
    sides = [build.add(Reshape(), length, build.int64(1)) for length in (rows, columns)]
    shape = build.add(Concat(0), listed(build, batch), *sides)
    return emit(node, build, Expand(), build.add(Cast(dtype), matrix), shape)


@importer("OneHot", 1)
def one_hot_1(node: IrNode, build: Builder) -> list[Value]:
    """A negative index marks nothing."""
    return _one_hot(node, build, "ignore_negative")


@importer("OneHot", 16)
def one_hot_16(node: IrNode, build: Builder) -> list[Value]:
    """A negative index marks nothing, or counts from the end."""
    choices = ("ignore_negative", "normalize")
    return _one_hot(node, build, node.text("negative_indices_mode", "ignore_negative", choices))


def _one_hot(node: IrNode, build: Builder, mode: str) -> list[Value]:
    """In the element types that engines have kernels for: indices and depth in int64, integers and truth values too."""
    indices, depth = cast(build, node.required(0), INT64), one(build, cast(build, node.required(1), INT64))
    on, off = (flat(build, node.required(k)) for k in (2, 3))
    fixed, dtype = constant_of(indices), tensor(on).dtype
    if mode == "ignore_negative" and (fixed is None or (fixed < 0).any()):
        negative = build.add(Less(), indices, like(build, indices, 0))
        indices = build.add(Where(), negative, depth, indices)
    op = OneHot(node.integer("axis", -1))
    if is_float(dtype) or dtype in (INT64, STRING):
        return emit(node, build, op, indices, depth, build.add(Concat(0), off, on))
    pair = build.add(Concat(0), cast(build, off, INT64), cast(build, on, INT64))
    return emit(node, build, Cast(dtype), build.add(op, indices, depth, pair))


@importer("NonZero", 3)
def non_zero_3(node: IrNode, build: Builder) -> list[Value]:
    """Indices in the declared element type; a scalar has one."""
    x = node.required(0)
    if tensor(x).rank == 0:
        x = build.add(Reshape(), x, build.int64(1))
    dtype = node.dtype("output_type", "i64")
    if dtype == INT64:
        return emit(node, build, NonZero(), x)
    return emit(node, build, Cast(dtype), build.add(NonZero(), x))


@importer("TopK", 1, 3, 11)
def top_k_1(node: IrNode, build: Builder) -> list[Value]:
    """Sorted by value, which any order allows, or by index; of equals the first comes first, as `stable` demands."""
    node.flag("stable", False)
    x, count = node.required(0), build.add(Reshape(), cast(build, node.required(1), INT64), build.int64(1))
    axis, largest = node.integer("axis"), node.text("mode", None, ("max", "min")) == "max"
    order, dtype = node.text("sort", "value", ("value", "index", "none")), node.dtype("index_element_type", "i32")
    values, positions = build.add_many(
        TopK(axis, int(largest)), [x, count], [node.outputs[0], "places"], name=node.name
    )
    if order == "index":
        positions = build.add_many(TopK(axis, largest=0), [positions, count], ["places"])[0]
        values = build.add_many(GatherElements(axis), [x, positions], node.outputs[:1])[0]
    (positions,) = build.add_many(Cast(dtype), [positions], [*node.outputs, "places"][1:2])
    return [values, positions]


@importer("Einsum", 7)
def einsum_7(node: IrNode, build: Builder) -> list[Value]:
    """The equation as it is."""
    node.text("equation")
    return emit(node, build, Einsum(node.attributes["equation"]), *node.inputs)


@importer("Unique", 10)
def unique_10(node: IrNode, build: Builder) -> list[Value]:
    """The distinct elements or slices, the first index of each, the index of each element among them, and counts.

    Integers are told apart in int64.
    """
    axis = node.input(1)
    fixed = integers_of(axis)
    if axis is not None and not fixed:
        raise LoadError("the axis is computed at run time", node.title, "make it a Const")
    op = Unique(fixed[0] if fixed else None, int(node.flag("sorted", True)))
    kinds = [node.dtype("index_element_type", "i64"), node.dtype("count_element_type", "i64")]
    x = node.required(0)
    is_native = is_float(tensor(x).dtype) or tensor(x).dtype == STRING
    data = x if is_native else cast(build, x, INT64)
    results = build.add_many(op, [data], ["values", "first", "inverse", "counts"], name=node.name)
    pairs = zip(results, (tensor(x).dtype, kinds[0], kinds[0], kinds[1]), strict=True)
    return [cast(build, value, dtype) for value, dtype in pairs]


@importer("SearchSorted", 15)
def search_sorted_15(node: IrNode, build: Builder) -> list[Value]:
    """How many elements of the row come before each value; equal ones only in right mode."""
    rows, values = node.required(0), node.required(1)
    rows = build.add(Unsqueeze(), rows, build.int64(0 if tensor(rows).rank == 1 else -2))
    op = LessOrEqual() if node.flag("right_mode", False) else Less()
    return _counted(node, build, op, rows, values, node.dtype("output_type", "i64"))


@importer("Bucketize", 3)
def bucketize_3(node: IrNode, build: Builder) -> list[Value]:
    """How many bounds lie below each number; a bound itself belongs below it or above it."""
    x, bounds = node.required(0), node.required(1)
    op = Less() if node.flag("with_right_bound", True) else LessOrEqual()
    if tensor(x).dtype != tensor(bounds).dtype:
        x, bounds = cast(build, x, FLOAT32), cast(build, bounds, FLOAT32)
    return _counted(node, build, op, bounds, x, node.dtype("output_type", "i64"))


def _counted(node: IrNode, build: Builder, op: Op, row: Value, values: Value, dtype: np.dtype) -> list[Value]:
    """How many elements of the row, which lies along the last axis, stand in a relation to each value."""
    matches = build.add(op, row, build.add(Unsqueeze(), values, build.int64(-1)))
    numbers = build.add(Cast(dtype), matches)
    return emit(node, build, ReduceSum(keepdims=0), numbers, build.int64(-1))


@exporter(TopK)
def write_top_k(op: TopK, node: Node, write: NetWriter) -> list[Source]:
    """Of equal elements the first comes first."""
    (x, k) = node.inputs
    assert x is not None
    count = drop_axes(write, write.source(k))
    values = tensor(node.outputs[0])
    return _top_k(write, write.source(x), count, op.axis, "max" if op.largest else "min", values)


def _top_k(write: NetWriter, x: Source, count: Source, axis: int, mode: str, values: TensorType) -> list[Source]:
    results = [values, values.with_dtype(INT64)]
    return write.layer(
        "TopK", 11, [x, count], results, axis=axis, mode=mode, sort="value", index_element_type=INT64, stable=True
    )


@exporter(ArgMax, ArgMin)
def write_argument(op: ArgumentReduction, node: Node, write: NetWriter) -> list[Source]:
    """The index of the first of the elements in order; the last of equals is the first one from the other end."""
    x = node.inputs[0]
    assert x is not None
    (result,), rank = types_of(node.outputs), tensor(x).rank
    if rank == 0:
        return [scalar(write, 0)]
    if op.select_last_index:
        return write.through(node, lambda build, y: _last_position(op, build, y))
    mode = "max" if op.largest else "min"
    shape = tensor(x).shape
    if isinstance(shape, AnyShape):
        reduced = TensorType(INT64, UNRANKED)
    else:
        reduced = TensorType(INT64, tuple(1 if k == op.axis % len(shape) else dim for k, dim in enumerate(shape)))
    positions = _top_k(write, write.source(x), scalar(write, 1), op.axis, mode, reduced.with_dtype(tensor(x).dtype))[1]
    if op.keepdims:
        return [positions]
    axes = write.constant(np.array([op.axis], np.int64))
    return write.layer("Squeeze", 1, [positions, axes], [result])


def _last_position(op: ArgumentReduction, build: Builder, x: Value) -> Value:
    rows = (build.int64(each) for each in (-1, np.iinfo(np.int64).min, op.axis, -1))
    position = build.add(type(op)(op.axis, op.keepdims), build.add(Slice(), x, *rows))
    return build.add(Sub(), build.add(Sub(), length_of_axis(build, x, op.axis), whole(build, 1)), position)


@exporter(NonZero)
def write_non_zero(op: NonZero, node: Node, write: NetWriter) -> list[Source]:
    """A scalar has no axes, and so no rows of indices."""
    x = write.source(node.inputs[0])
    (result,) = types_of(node.outputs)
    if x.type.rank == 0:
        raise SaveError("the input has no axes", fix="give it one")
    return write.layer("NonZero", 3, [x], [result], output_type=INT64)


@exporter(OneHot)
def write_one_hot(op: OneHot, node: Node, write: NetWriter) -> list[Source]:
    """Negative indices are counted from the front first; both values are inputs of their own."""
    (indices, depth, values) = node.inputs
    position, count = convert(write, write.source(indices), INT64), drop_axes(write, write.source(depth))
    count = convert(write, count, INT64)
    negative = write.layer("Less", 1, [position, scalar(write, 0)], [position.type.with_dtype(BOOL)])[0]
    moved = write.layer("Add", 1, [position, count], [position.type])[0]
    position = write.layer("Select", 1, [negative, moved, position], [position.type])[0]
    pair, axis = write.source(values), scalar(write, 0)
    single = pair.type.with_shape(())
    off, on = (write.layer("Gather", 8, [pair, scalar(write, k), axis], [single], batch_dims=0)[0] for k in (0, 1))
    return write.layer("OneHot", 1, [position, count, on, off], types_of(node.outputs), axis=op.axis)


@rewritten(Trilu)
def trilu(op: Trilu, build: Builder, x: Value, k: Value | None = None) -> Value:
    """Zeros on one side of a diagonal."""
    down, across = (counted(build, length_of_axis(build, x, axis)) for axis in (-2, -1))
    diagonal = build.add(Unsqueeze(), down, build.int64(1))
    if k is not None:
        shift = k if tensor(k).rank == 0 else build.add(Reshape(), k, build.int64())
        diagonal = build.add(Add(), diagonal, build.add(Cast(INT64), shift))
    is_inside = build.add(GreaterOrEqual() if op.upper else LessOrEqual(), across, diagonal)
    return build.add(Where(), is_inside, x, like(build, x, 0))


@rewritten(Dropout)
def dropout(
    op: Dropout, build: Builder, x: Value, ratio: Value | None = None, training: Value | None = None
) -> list[Value]:
    """Nothing is dropped outside of training."""
    known = None if training is None else training.known
    if training is not None and (known is None or known.reshape(-1)[0]) and not _is_zero(ratio):
        raise SaveError("drops elements at random", fix="leave out training_mode")
    return [build.add(Identity(), x), build.add(ConstantOfShape(np.ones(1, np.bool_)), build.add(Shape(), x))]


def _is_zero(ratio: Value | None) -> bool:
    return ratio is not None and ratio.known is not None and ratio.known.reshape(-1)[0] == 0


@exporter(Einsum)
def write_einsum(op: Einsum, node: Node, write: NetWriter) -> list[Source]:
    """The equation without blanks."""
    return write_layer(write, node, "Einsum", 7, equation=op.equation.replace(" ", ""))


@exporter(Unique)
def write_unique(op: Unique, node: Node, write: NetWriter) -> list[Source]:
    """All four outputs."""
    x = node.inputs[0]
    assert x is not None
    inputs = [write.source(x)] + ([] if op.axis is None else [scalar(write, op.axis)])
    results = list(op.infer(x))
    return write.layer(
        "Unique", 10, inputs, results, sorted=bool(op.sorted), index_element_type=INT64, count_element_type=INT64
    )
