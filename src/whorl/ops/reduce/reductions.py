"""Reductions: one value for each group of elements along axes, and the indices of extremes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, TypeVar

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import BOOL, FLOAT64, INT64, INTEGERS, PACKED_BITS, UNSIGNED, is_float, is_integer
from whorl.ir.elements.base import Elements, Leaf
from whorl.ir.elements.sums import blockwise_sum, row_major
from whorl.ir.graph import Op
from whorl.ir.intervals import Interval, Intervals
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Operands, View
from whorl.ir.types import UNRANKED, AnyShape, Fact, Shape, TensorType, tensor
from whorl.ops.core.base import (
    COMPUTED_FLOATS,
    are_numbers,
    known_dims,
    known_ints,
    length_of,
    normal_axis,
    require_dtype,
    unknown_shape,
    widen,
)
from whorl.ops.movement.lengths import bounds, interval_of_counts
from whorl.ops.movement.rearranging import integers, vector_length
from whorl.ops.native.index_maps import all_numbers, broadcast_scalar, cast_view, lengths, reshape_view, widen_view
from whorl.ops.reduce.native_reductions import (
    find_extremes,
    find_extremes_by_rows,
    is_row_reduction,
    map_elements,
    reduce_view,
)

_NUMBERS = (INTEGERS - frozenset(PACKED_BITS)) | COMPUTED_FLOATS


def reduced_axes(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """Distinct axes counted from the front. As in NumPy a scalar may be reduced along axis 0 or -1: nothing happens."""
    if rank == 0 and all(axis in (0, -1) for axis in axes):
        return ()
    picked = tuple(normal_axis(axis, rank) for axis in axes)
    if len(set(picked)) < len(picked):
        raise TypeRuleError(f"axes {list(axes)} name an axis of a tensor of rank {rank} twice")
    return picked


_Length = TypeVar("_Length", bound=Dim)


def without_axes(shape: Sequence[_Length], axes: Sequence[int], keepdims: bool) -> tuple[_Length | int, ...]:
    """The shape after a reduction: the axes have length 1, or are gone."""
    if keepdims:
        return tuple(1 if k in axes else dim for k, dim in enumerate(shape))
    return tuple(dim for k, dim in enumerate(shape) if k not in axes)


class Reduction(Op, frozen=True):
    """One value for each group of elements that differ only in their index along `axes`.

    Without axes (omitted or empty) all are meant, or none with `noop_with_empty_axes`. Integers keep their type and
    wrap; sums over float16 and bfloat16 are float32 and rounded once. The order of a sum is NumPy's for
    row-major data, whatever the strides.
    """

    abstract: ClassVar[bool] = True

    any_length = True

    keepdims: int = 1
    noop_with_empty_axes: int = 0
    dtypes: ClassVar[frozenset[np.dtype]] = _NUMBERS
    is_sum: ClassVar[bool] = False
    """Whether the result follows from the sum of the elements."""
    how: ClassVar[str] = "sum"
    """How native code adds an element to a total."""

    def infer(self, data: Fact, axes: Fact | None = None) -> TensorType:
        type = tensor(data)
        require_dtype(type.dtype, self.dtypes)
        return type.with_shape(self._shape(type.shape, axes))

    def _shape(self, shape: Shape, axes: Fact | None) -> Shape:
        count = 0 if axes is None else vector_length(axes, "axes")
        listed = known_ints(axes) if count != 0 else ()
        if listed == () and self.noop_with_empty_axes:
            return shape
        if listed == () and not self.keepdims:
            return ()
        if isinstance(shape, AnyShape):
            return UNRANKED
        if listed is not None:
            picked = reduced_axes(listed, len(shape)) if listed else range(len(shape))
            return without_axes(shape, picked, bool(self.keepdims))
        if self.keepdims:
            return tuple(1 if dims.equal(dim, 1) else UNKNOWN for dim in shape)
        return unknown_shape(None if count is None else max(0, len(shape) - count))

    def run(self, data: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
        listed = () if axes is None else tuple(integers(axes))
        result = self.reduce(row_major(widen(data)), self._picked(listed, data.ndim), bool(self.keepdims))
        return np.asarray(result).astype(data.dtype, copy=False)

    def lazily(self, data: Elements, axes: Elements | None = None) -> tuple[Elements, ...] | None:
        """A sum of all elements, block by block in the order of `run`."""
        listed = () if axes is None else tuple(integers(axes.numpy()))
        if not self.is_sum or len(self._picked(listed, data.ndim)) < data.ndim:
            return None
        total = self.of_sum(blockwise_sum(data), data.size)
        shape = (1,) * data.ndim if self.keepdims else ()
        return (Leaf(np.asarray(total).astype(data.dtype).reshape(shape)),)

    def of_sum(self, total: np.ndarray, count: int) -> np.ndarray:
        """The result for groups of `count` elements that have these sums."""
        return total

    def _picked(self, listed: tuple[int, ...], rank: int) -> tuple[int, ...]:
        if not listed:
            return () if self.noop_with_empty_axes else tuple(range(rank))
        try:
            return reduced_axes(listed, rank)
        except TypeRuleError as error:
            raise RunError(error.message) from None

    def reduce(self, data: np.ndarray, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
        """The reduction of widened data; the caller rounds the result to the data's own type."""
        raise TypeError(f"{self.name} does not reduce")

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        data, axes = inputs[0], inputs.optional(1)
        listed = () if axes is None else all_numbers(axes)
        if listed is None:
            return None
        picked = self._picked(tuple(listed), len(data.shape))
        if (extremes := self._share_extremes(k, data, picked)) is not None:
            return [reshape_view(k, extremes, lengths(outputs[0]))]
        total = self.total(k, widen_view(k, data), picked)
        return [cast_view(k, total, data.dtype)]

    def _share_extremes(self, k: NativeBuilder, data: View, axes: tuple[int, ...]) -> View | None:
        """The extremes that an ArgMax or ArgMin of the same tensor finds anyhow; None without such a reader."""
        for op in k.readers if len(axes) == 1 and data.dtype != BOOL else ():
            if not isinstance(op, ArgumentReduction) or self.how != ("max" if op.largest else "min"):
                continue
            if op.axis % len(data.shape) == axes[0] and is_row_reduction(data, axes[0]):
                return find_extremes_by_rows(k, data, axes[0], op.largest, bool(op.select_last_index))[0]
        return None

    def total(self, k: NativeBuilder, data: View, axes: tuple[int, ...]) -> View:
        """Native form along known axes of a widened tensor."""
        count = dims.product(data.shape[axis] for axis in axes)
        elements = map_elements(k, lambda x: self.before(k, x), data)
        return reduce_view(k, elements, axes, self.how, bool(self.keepdims), lambda total: self.after(k, total, count))

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        return are_numbers(operands[1:])

    def before(self, k: NativeBuilder, x: Expr) -> Expr:
        """What native code adds up for an element."""
        return x

    def after(self, k: NativeBuilder, total: Expr, count: Dim) -> Expr:
        """The result that native code makes of a total of `count` elements."""
        return total


class SymbolicReduction(Reduction, frozen=True):
    """A reduction that inference follows over known integers and dims, as in arithmetic on shapes."""

    abstract: ClassVar[bool] = True

    def infer_known(self, data: Fact, axes: Fact | None = None) -> tuple[np.ndarray | None, ...]:
        elements, type = known_dims(data), tensor(data)
        listed = () if axes is None else known_ints(axes)
        if elements is None or listed is None or type.rank is None or not is_integer(type.dtype):
            return ()
        if type.rank == 0 or (not listed and self.noop_with_empty_axes):
            return (data.known,)
        value = self.combine(elements)
        if value is UNKNOWN or (isinstance(value, int) and not _fits(value, type.dtype)):
            return ()
        return (np.full((1,) if self.keepdims else (), value, object),)

    def combine(self, elements: tuple[Dim, ...]) -> Dim:
        """The reduction of all elements; UNKNOWN where dims cannot say it."""
        raise TypeError(f"{self.name} does not combine dims")


def _fits(value: int, dtype: np.dtype) -> bool:
    return np.iinfo(dtype).min <= value <= np.iinfo(dtype).max


def total_of(data: np.ndarray, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
    """The sum in the elements' own type."""
    return np.add.reduce(data, axis=axes, dtype=data.dtype, keepdims=keepdims)


class ReduceSum(SymbolicReduction, frozen=True):
    """The sum along axes; 0 for no elements. Source: ONNX ReduceSum-13."""

    is_sum = True

    def reduce(self, data: np.ndarray, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
        return total_of(data, axes, keepdims)

    def combine(self, elements: tuple[Dim, ...]) -> Dim:
        total: Dim = 0
        for element in elements:
            total = total + element
        return total

    def preserves_order(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        return is_integer(tensor(outputs[0]).dtype)


class ReduceProd(SymbolicReduction, frozen=True):
    """The product along axes; 1 for no elements. Source: ONNX ReduceProd-18."""

    how = "mul"

    def reduce(self, data: np.ndarray, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
        return np.multiply.reduce(data, axis=axes, dtype=data.dtype, keepdims=keepdims)

    def combine(self, elements: tuple[Dim, ...]) -> Dim:
        return dims.product(elements)

    def preserves_order(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        return is_integer(tensor(outputs[0]).dtype)


class ReduceMax(SymbolicReduction, frozen=True):
    """The largest along axes; NaN wins; -inf, the least integer or False for no elements. Source: ONNX ReduceMax-20."""

    how = "max"
    dtypes = _NUMBERS | {BOOL}

    def reduce(self, data: np.ndarray, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
        return np.maximum.reduce(data, axis=axes, keepdims=keepdims, initial=_extremes(data.dtype)[0])

    def combine(self, elements: tuple[Dim, ...]) -> Dim:
        return dims.call("max", *elements) if elements else UNKNOWN

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        return inputs[0] if _has_elements(operands[0]) else None

    def preserves_order(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        return True


class ReduceMin(SymbolicReduction, frozen=True):
    """The least along axes; NaN wins; inf, the largest integer or True for no elements. Source: ONNX ReduceMin-20."""

    how = "min"
    dtypes = _NUMBERS | {BOOL}

    def reduce(self, data: np.ndarray, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
        return np.minimum.reduce(data, axis=axes, keepdims=keepdims, initial=_extremes(data.dtype)[1])

    def combine(self, elements: tuple[Dim, ...]) -> Dim:
        return dims.call("min", *elements) if elements else UNKNOWN

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        return inputs[0] if _has_elements(operands[0]) else None

    def preserves_order(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        return True


def _extremes(dtype: np.dtype) -> tuple[float, float]:
    """The values below and above all others."""
    if dtype == BOOL:
        return False, True
    return (-np.inf, np.inf) if is_float(dtype) else (np.iinfo(dtype).min, np.iinfo(dtype).max)


class ReduceMean(Reduction, frozen=True):
    """The mean along axes, of integers truncated; NaN (integers: 0) for no elements. Source: ONNX ReduceMean-18."""

    is_sum = True

    def reduce(self, data: np.ndarray, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
        return self.of_sum(total_of(data, axes, keepdims), math.prod(data.shape[axis] for axis in axes))

    def of_sum(self, total: np.ndarray, count: int) -> np.ndarray:
        if is_float(total.dtype):
            return total / total.dtype.type(count)
        if total.dtype in UNSIGNED:
            return total.astype(np.uint64) // np.uint64(max(count, 1))
        wide, divisor = total.astype(np.int64), np.int64(max(count, 1))
        quotient = wide // divisor
        return quotient + ((wide < 0) & (quotient * divisor != wide))

    def after(self, k: NativeBuilder, total: Expr, count: Dim) -> Expr:
        if is_float(total.dtype):
            return k.div(total, k.const(count, total.dtype))
        wide = np.dtype(np.uint64) if total.dtype in UNSIGNED else INT64
        return k.cast(k.div(k.cast(total, wide), k.const(dims.call("max", count, 1), wide)), total.dtype)

    def preserves_order(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        return is_integer(tensor(outputs[0]).dtype)


class ReduceL1(Reduction, frozen=True):
    """The sum of absolute values along axes; 0 for no elements. Source: ONNX ReduceL1-18."""

    def reduce(self, data: np.ndarray, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
        return total_of(np.abs(data), axes, keepdims)

    def before(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.apply("abs", x)


class ReduceL2(Reduction, frozen=True):
    """The root of the sum of squares along axes, integers truncated; 0 for no elements. Source: ONNX ReduceL2-18."""

    def reduce(self, data: np.ndarray, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
        total = total_of(data * data, axes, keepdims)
        return np.sqrt(total if is_float(data.dtype) else total.astype(np.float64))

    def before(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.mul(x, x)

    def after(self, k: NativeBuilder, total: Expr, count: Dim) -> Expr:
        dtype = total.dtype
        if is_float(dtype):
            return k.apply("sqrt", total)
        return k.cast(k.apply("sqrt", k.cast(total, FLOAT64)), dtype)


class ReduceSumSquare(Reduction, frozen=True):
    """The sum of squares along axes; 0 for no elements. Source: ONNX ReduceSumSquare-18."""

    def reduce(self, data: np.ndarray, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
        return total_of(data * data, axes, keepdims)

    def before(self, k: NativeBuilder, x: Expr) -> Expr:
        return k.mul(x, x)


class ArgumentReduction(Op, frozen=True):
    """The index of an extreme along one axis: of equals the first, or the last by `select_last_index`. NaN wins."""

    abstract: ClassVar[bool] = True

    any_length = True

    axis: int = 0
    keepdims: int = 1
    select_last_index: int = 0
    largest: ClassVar[bool]

    def infer(self, data: Fact) -> TensorType:
        type = tensor(data)
        require_dtype(type.dtype, _NUMBERS)
        if isinstance(type.shape, AnyShape):
            return TensorType(INT64)
        axes = reduced_axes((self.axis,), len(type.shape))
        return TensorType(INT64, without_axes(type.shape, axes, bool(self.keepdims)))

    def run(self, data: np.ndarray) -> np.ndarray:
        axes = reduced_axes((self.axis,), data.ndim)
        shape = without_axes(data.shape, axes, bool(self.keepdims))
        if not axes or not math.prod(shape):
            return np.zeros(shape, np.int64)
        (axis,) = axes
        length = data.shape[axis]
        if not length:
            raise RunError(f"axis {self.axis} of shape {list(data.shape)} is empty, there is nothing to point at")
        if not self.select_last_index:
            return np.asarray(self.find(widen(data), axis), np.int64).reshape(shape)
        from_end = self.find(np.flip(widen(data), axis), axis)
        return np.asarray(length - 1 - from_end, np.int64).reshape(shape)

    def find(self, data: np.ndarray, axis: int) -> np.ndarray:
        """The index of the first extreme along an axis that is not empty."""
        raise TypeError(f"{self.name} does not say which extreme")

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (data,), shape = inputs, lengths(outputs[0])
        if not data.shape or not dims.product(shape):
            return [broadcast_scalar(k, k.const(0), shape)]
        axis = self.axis % len(data.shape)
        if not data.shape[axis]:
            return None
        k.fail_unless(k.compare("gt", k.length(data.shape[axis]), k.const(0)))
        indices = find_extremes(k, data, axis, self.largest, bool(self.select_last_index))
        return [reshape_view(k, indices, shape)]

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        return length_of(operands[0], self.axis) != 0

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        return interval_of_counts(result.known)


class ArgMax(ArgumentReduction, frozen=True):
    """The index of the largest element along an axis. Source: ONNX ArgMax-13."""

    largest = True

    def find(self, data: np.ndarray, axis: int) -> np.ndarray:
        return np.argmax(data, axis=axis)


class ArgMin(ArgumentReduction, frozen=True):
    """The index of the least element along an axis. Source: ONNX ArgMin-13."""

    largest = False

    def find(self, data: np.ndarray, axis: int) -> np.ndarray:
        return np.argmin(data, axis=axis)


def _has_elements(fact: Fact | None) -> bool:
    """Whether a tensor surely has elements: the extreme of none is not one of them."""
    shape = UNRANKED if fact is None else tensor(fact).shape
    return not isinstance(shape, AnyShape) and all(bounds(dim)[0] > 0 for dim in shape)
