"""Numbers that are counted out, places that are found, and elements that are picked by their size."""

from __future__ import annotations

import numpy as np

from whorl.errors import LoadError
from whorl.formats.openvino.importing import IrNode, importer
from whorl.formats.openvino.ops.common import cast, constant_of, emit, flat, integers_of, like, listed, one
from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT32, INT32, INT64, STRING, is_float, is_integer
from whorl.ir.graph import Value
from whorl.ir.op import Op
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Round, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Equal, Less, LessOrEqual, Where
from whorl.ops.linear.einsum import Einsum
from whorl.ops.movement.axes import Concat
from whorl.ops.movement.filling import Range
from whorl.ops.movement.indexing import GatherElements
from whorl.ops.movement.selection import NonZero, OneHot, TopK, Unique
from whorl.ops.movement.shapes import Expand, Reshape, Unsqueeze
from whorl.ops.reduce.reductions import ReduceSum


@importer("Range", 1)
def range_1(node: IrNode, build: Builder) -> list[Value]:
    """Start, stop and step, all of one element type."""
    given = [one(build, node.required(k)) for k in range(3)]
    return _counted_out(node, build, given, tensor(given[0]).dtype, tensor(given[0]).dtype)


@importer("Range", 4)
def range_4(node: IrNode, build: Builder) -> list[Value]:
    """Start, stop and step may be of different element types; the numbers counted in floats are rounded to integers."""
    dtype = node.dtype("output_type")
    given = [one(build, node.required(k)) for k in range(3)]
    floats = [tensor(value).dtype for value in given if is_float(tensor(value).dtype)]
    return _counted_out(node, build, given, floats[0] if floats and not is_float(dtype) else dtype, dtype)


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
    """In the element types of which engines have kernels: places and depth in int64, integers and truth values too."""
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
    """The places in an element type that is asked for; a scalar has one place."""
    x = node.required(0)
    if tensor(x).rank == 0:
        x = build.add(Reshape(), x, build.int64(1))
    dtype = node.dtype("output_type", "i64")
    if dtype == INT64:
        return emit(node, build, NonZero(), x)
    return emit(node, build, Cast(dtype), build.add(NonZero(), x))


@importer("TopK", 1, 3, 11)
def top_k_1(node: IrNode, build: Builder) -> list[Value]:
    """Sorted by value, which any order allows, or by place; of equals the first comes first, as `stable` asks."""
    node.flag("stable", False)
    x, count = node.required(0), build.add(Reshape(), cast(build, node.required(1), INT64), build.int64(1))
    axis, largest = node.integer("axis"), node.text("mode", None, ("max", "min")) == "max"
    order, dtype = node.text("sort", "value", ("value", "index", "none")), node.dtype("index_element_type", "i32")
    values, places = build.add_many(TopK(axis, int(largest)), [x, count], [node.outputs[0], "places"], name=node.name)
    if order == "index":
        places = build.add_many(TopK(axis, largest=0), [places, count], ["places"])[0]
        values = build.add_many(GatherElements(axis), [x, places], node.outputs[:1])[0]
    (places,) = build.add_many(Cast(dtype), [places], [*node.outputs, "places"][1:2])
    return [values, places]


@importer("Einsum", 7)
def einsum_7(node: IrNode, build: Builder) -> list[Value]:
    """The equation as it is."""
    node.text("equation")
    return emit(node, build, Einsum(node.attributes["equation"]), *node.inputs)


@importer("Unique", 10)
def unique_10(node: IrNode, build: Builder) -> list[Value]:
    """The different elements or slices, the place of each one's first, where each element went, and how often.

    Integers are told apart in int64.
    """
    axis = node.input(1)
    fixed = integers_of(axis)
    if axis is not None and not fixed:
        raise LoadError("the axis is computed at run time", node.title, "make it a Const")
    op = Unique(fixed[0] if fixed else None, int(node.flag("sorted", True)))
    kinds = [node.dtype("index_element_type", "i64"), node.dtype("count_element_type", "i64")]
    x = node.required(0)
    kept = is_float(tensor(x).dtype) or tensor(x).dtype == STRING
    given = x if kept else cast(build, x, INT64)
    found = build.add_many(op, [given], ["values", "first", "inverse", "counts"], name=node.name)
    wanted = zip(found, (tensor(x).dtype, kinds[0], kinds[0], kinds[1]), strict=True)
    return [cast(build, value, dtype) for value, dtype in wanted]


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
    found = build.add(op, row, build.add(Unsqueeze(), values, build.int64(-1)))
    numbers = build.add(Cast(dtype), found)
    return emit(node, build, ReduceSum(keepdims=0), numbers, build.int64(-1))
