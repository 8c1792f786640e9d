"""Ops that choose elements by their values or their indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import BOOL, COMPLEX, INT64, STRING, is_float, is_integer, name_of
from whorl.ir.graph import Op
from whorl.ir.intervals import Interval, Intervals
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, Operands, View
from whorl.ir.types import UNRANKED, AnyShape, Fact, TensorType, tensor
from whorl.ops.core.base import known_dims, length_of, normal_axis, one_element, shape_of, snapshot
from whorl.ops.movement.lengths import interval_of_counts
from whorl.ops.movement.native_selection import select_best
from whorl.ops.movement.native_unique import find_unique
from whorl.ops.movement.rearranging import Rearranging, integer_input, require_memory, run_axis, vector_length, zero_of
from whorl.ops.native.index_maps import (
    as_length,
    clamp_index,
    flat_element,
    insert_at,
    lengths,
    read_element,
    read_int64,
    require_lengths,
    reshape_view,
)
from whorl.ops.native.run_time_lengths import compress_view, find_nonzero


class OneHot(Op, frozen=True):
    """values[1] where the position along the new `axis` is the index, values[0] elsewhere. Source: ONNX OneHot-28.

    An index in [-depth, depth) counts as usual, others give values[0] only; floats are cut to integers.
    """

    polymorphic = True
    any_length = True

    axis: int = -1

    def infer(self, indices: Fact, depth: Fact, values: Fact) -> TensorType:
        index_type, type = tensor(indices), tensor(values, "values")
        tensor(depth, "depth")
        if isinstance(index_type.shape, AnyShape):
            return type.with_shape(UNRANKED)
        axis = normal_axis(self.axis, len(index_type.shape) + 1)
        known = known_dims(depth)
        classes: Dim = UNKNOWN if not known else int(known[0]) if isinstance(known[0], float) else known[0]
        return type.with_shape((*index_type.shape[:axis], classes, *index_type.shape[axis:]))

    def run(self, indices: np.ndarray, depth: np.ndarray, values: np.ndarray) -> np.ndarray:
        classes, axis = int(one_element(depth, "depth")), run_axis(self.axis, indices.ndim + 1)
        if classes < 0 or values.size != 2:
            raise RunError(f"depth is {classes} and values has {values.size} elements, expected depth >= 0 and 2")
        require_memory((*indices.shape, classes), values.dtype)
        if indices.dtype == np.uint64:
            indices = np.minimum(indices, np.uint64(classes))
        index = np.expand_dims(indices.astype(np.int64), axis)
        position = np.arange(classes).reshape(-1, *(1,) * (indices.ndim - axis))
        off, on = values.reshape(-1)[:1], values.reshape(-1)[1:]
        return np.where((index == position) | (index + classes == position), on, off)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (indices, depth, values), axis = inputs, self.axis % len(lengths(outputs[0]))
        classes = lengths(outputs[0])[axis]
        if depth.size != 1 or (not k.is_available(classes) and not is_integer(depth.dtype)):
            return None
        if not k.is_available(classes):
            classes = as_length(k, k.let(k.cast(read_element(k, depth), INT64)))
        k.fail_unless(k.compare("ge", k.length(classes), k.const(0)))
        require_lengths(k, [values.size], [2])
        flat = flat_element(k, values)
        off, on = (k.let(flat(k.const(n))) for n in (0, 1))
        count, source = k.length(classes), k.materialise_reread(indices)

        def at(index: Index) -> Expr:
            number = _class(k, source.at((*index[:axis], *index[axis + 1 :])), count)
            direct = k.compare("eq", number, index[axis])
            from_back = k.compare("eq", k.add(number, count), index[axis])
            return k.select(k.apply("or", direct, from_back), on, off)

        return [k.view(values.dtype, insert_at(indices.shape, axis, classes), at, 4 + source.cost)]


def _class(k: NativeBuilder, number: Expr, classes: Expr) -> Expr:
    """The index of a class as int64; numbers beyond int64 become one beyond the classes."""
    if number.dtype == np.uint64:
        number = k.apply("min", number, k.cast(classes, number.dtype))
    return k.cast(number, INT64)


class Compress(Rearranging, frozen=True):
    """The slices of x along `axis` (elements of x in a row without one) whose condition is true.

    The condition may be shorter than the axis: what it does not reach is left out. Source: ONNX Compress-28.
    """

    any_length = True

    axis: int | None = None

    def infer(self, x: Fact, condition: Fact) -> TensorType:
        type, flags = tensor(x), tensor(condition, "condition")
        if flags.dtype != BOOL or flags.rank not in (None, 1):
            raise TypeRuleError(f"condition is {flags}, expected a row of bool")
        chosen = UNKNOWN if condition.known is None else _count_nonzero(condition.known)
        if self.axis is None:
            return type.with_shape((chosen,))
        if isinstance(type.shape, AnyShape):
            return type
        axis = normal_axis(self.axis, len(type.shape))
        return type.with_shape((*type.shape[:axis], chosen, *type.shape[axis + 1 :]))

    def run(self, x: np.ndarray, condition: np.ndarray) -> np.ndarray:
        if self.axis is None:
            x, axis = x.reshape(-1), 0
        else:
            axis = run_axis(self.axis, x.ndim)
        (chosen,) = np.nonzero(snapshot(condition))
        if chosen.size and chosen[-1] >= x.shape[axis]:
            raise RunError(f"condition is true at {chosen[-1]}, axis {axis} has length {x.shape[axis]}")
        return np.take(x, chosen, axis)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, condition = inputs
        if self.axis is None:
            return [compress_view(k, reshape_view(k, x, (x.size,)), condition, 0)]
        return [compress_view(k, x, condition, self.axis % len(x.shape))]

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        shape, count = shape_of(operands[0]), length_of(operands[1], 0)
        if isinstance(shape, AnyShape):
            return False
        length = dims.product(shape) if self.axis is None else shape[self.axis]
        return isinstance(count, int) and isinstance(length, int) and count <= length


def _count_nonzero(known: np.ndarray) -> Dim:
    """How many known elements are not zero; unknown where one is a named dim."""
    plain = all(isinstance(element, (bool, int, float, complex)) for element in known.flat)
    return sum(bool(element) for element in known.flat) if plain else UNKNOWN


class NonZero(Op, frozen=True):
    """Row k has the coordinates on axis k of the nonzero elements, in row-major order. Source: ONNX NonZero-13.

    A scalar has no axes: its result has shape [0, 1] or [0, 0].
    """

    any_length = True

    def infer(self, x: Fact) -> TensorType:
        rank = tensor(x).rank
        count = UNKNOWN if x.known is None else _count_nonzero(x.known)
        return TensorType(INT64, (UNKNOWN if rank is None else rank, count))

    def infer_known(self, x: Fact) -> tuple[np.ndarray | None, ...]:
        if x.known is None or _count_nonzero(x.known) is UNKNOWN:
            return ()
        return (self.run(x.known).astype(object),)

    def run(self, x: np.ndarray) -> np.ndarray:
        flags = x.astype(np.bool_)
        positions = np.nonzero(flags.reshape(-1))[0]
        if not x.ndim:
            return np.zeros((0, positions.size), np.int64)
        return np.array(np.unravel_index(positions, x.shape), np.int64).reshape(x.ndim, positions.size)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return [find_nonzero(k, inputs[0])] if inputs[0].shape else None

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        return interval_of_counts(result.known)


class Unique(Op, frozen=True):
    """The different elements of x, or its different slices along `axis`, in ascending or (sorted=0) first-seen order.

    Outputs: these, the index of each one's first occurrence, each element's index among them, how often each occurs.
    NaNs are equal to each other and above all numbers. Source: ONNX Unique-28.
    """

    any_length = True

    axis: int | None = None
    sorted: int = 1

    def infer(self, x: Fact) -> tuple[TensorType, ...]:
        type, row = tensor(x), TensorType(INT64, (UNKNOWN,))
        if self.axis is None:
            total = UNKNOWN if isinstance(type.shape, AnyShape) else dims.product(type.shape)
            return type.with_shape((UNKNOWN,)), row, row.with_shape((total,)), row
        if isinstance(type.shape, AnyShape):
            return type, row, row, row
        axis = normal_axis(self.axis, len(type.shape))
        different = type.with_shape((*type.shape[:axis], UNKNOWN, *type.shape[axis + 1 :]))
        return different, row, row.with_shape((type.shape[axis],)), row

    def run(self, x: np.ndarray) -> tuple[np.ndarray, ...]:
        if self.axis is None:
            x, axis = x.reshape(-1), 0
        else:
            axis = run_axis(self.axis, x.ndim)
        slices = _ranks(np.moveaxis(x, axis, 0))
        _, first, inverse, counts = np.unique(
            slices, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        inverse = inverse.reshape(-1)
        if not self.sorted:
            order = np.argsort(first, kind="stable")
            first, counts, inverse = first[order], counts[order], np.argsort(order)[inverse]
        return np.take(x, first, axis), *(a.astype(np.int64) for a in (first, inverse, counts))

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x = inputs[0]
        if self.axis is None:
            return find_unique(k, reshape_view(k, x, (x.size,)), 0, bool(self.sorted))
        return find_unique(k, x, self.axis % len(x.shape), bool(self.sorted))

    def numbered(self, inputs: Sequence[Fact | None], number: Callable[[str], int]) -> Op | None:
        return None if self.sorted else self


def _ranks(slices: np.ndarray) -> np.ndarray:
    """One row of integers for each slice; rows compare as the slices do, element by element."""
    if not slices.size:
        return np.zeros((len(slices), 1), np.int64)
    _, inverse = np.unique(sortable(slices).reshape(-1), return_inverse=True)
    return inverse.reshape(len(slices), -1)


def sortable(x: np.ndarray) -> np.ndarray:
    """Elements of a type that NumPy sorts, in the same order."""
    if x.dtype.isbuiltin == 1:
        return x
    return x.astype(np.float32 if is_float(x.dtype) else np.int8)


class TopK(Op, frozen=True):
    """The k largest (or smallest) elements along `axis` and their indices, always sorted.

    Of equals, the one with the lower index comes first. NaN is above all numbers. Source: ONNX TopK-24.
    """

    any_length = True

    axis: int = -1
    largest: int = 1
    sorted: int = 1

    def infer(self, x: Fact, k: Fact) -> tuple[TensorType, TensorType]:
        type = tensor(x)
        if type.dtype in COMPLEX or type.dtype in (STRING, BOOL):
            raise TypeRuleError(f"does not accept {name_of(type.dtype)}")
        if vector_length(k, "k") not in (None, 1):
            raise TypeRuleError(f"k has {vector_length(k, 'k')} elements, expected one")
        if isinstance(type.shape, AnyShape):
            return type, type.with_dtype(INT64)
        axis, known = normal_axis(self.axis, len(type.shape)), known_dims(k)
        count, length = known[0] if known else UNKNOWN, type.shape[axis]
        if isinstance(count, int) and (count < 0 or (isinstance(length, int) and count > length)):
            raise TypeRuleError(f"k is {count}, axis {axis} of {type} has length {length}")
        values = type.with_shape((*type.shape[:axis], count, *type.shape[axis + 1 :]))
        return values, values.with_dtype(INT64)

    def run(self, x: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        axis, count = run_axis(self.axis, x.ndim), int(one_element(k, "k"))
        length = x.shape[axis]
        if not 0 <= count <= length:
            raise RunError(f"k is {count}, axis {axis} has length {length}")
        keys = sortable(x)
        if self.largest:
            order = length - 1 - np.flip(np.argsort(np.flip(keys, axis), axis, kind="stable"), axis)
        else:
            order = np.argsort(keys, axis, kind="stable")
        indices = np.take(order, np.arange(count), axis).astype(np.int64)
        return np.take_along_axis(x, indices, axis), indices

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (x, number), axis = inputs, self.axis % len(inputs[0].shape)
        if number.size != 1:
            return None
        count, length = lengths(outputs[0])[axis], x.shape[axis]
        if not k.is_available(count):
            count = as_length(k, k.let(k.cast(read_element(k, number), INT64)))
        if not isinstance(count, int) or not isinstance(length, int):
            k.fail_unless(k.compare("ge", k.length(count), k.const(0)))
            k.fail_unless(k.compare("le", k.length(count), k.length(length)))
        return select_best(k, x, axis, count, bool(self.largest))


class Trilu(Op, frozen=True):
    """The matrices in the last two axes with zeros below (upper) or above diagonal k. Source: ONNX Trilu-14."""

    polymorphic = True
    any_length = True

    upper: int = 1

    def infer(self, x: Fact, k: Fact | None = None) -> TensorType:
        type = tensor(x)
        if k is not None:
            integer_input(k, "k")
        if type.rank is not None and type.rank < 2:
            raise TypeRuleError(f"takes matrices, got {type}")
        return type

    def run(self, x: np.ndarray, k: np.ndarray | None = None) -> np.ndarray:
        if x.ndim < 2:
            raise RunError(f"takes matrices, got shape {list(x.shape)}")
        rows, columns = x.shape[-2:]
        diagonal = 0 if k is None else min(max(int(one_element(k, "k")), -rows - 1), columns + 1)
        gap = np.arange(columns) - np.arange(rows)[:, None]
        inside = gap >= diagonal if self.upper else gap <= diagonal
        return np.where(inside, x, zero_of(x.dtype))

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, shift = inputs[0], inputs.optional(1)
        if shift is not None and shift.size != 1:
            return None
        rows, columns = x.shape[-2:]
        start = k.const(0) if shift is None else clamp_index(k, read_int64(k, shift), -rows - 1, columns + 1)
        diagonal, zero = k.let(start), k.const(0, x.dtype)

        def at(index: Index) -> Expr:
            gap = k.sub(index[-1], index[-2])
            return k.select(k.compare("ge" if self.upper else "le", gap, diagonal), x.at(index), zero)

        return [k.view(x.dtype, x.shape, at, x.cost + 3)]
