"""Ops that ask for the shape of a tensor or change it without moving elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim, Linear
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Op
from whorl.ir.intervals import Interval, Intervals
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Operands, View
from whorl.ir.types import UNRANKED, AnyShape, Fact, TensorType, tensor
from whorl.ir.types import Shape as Lengths
from whorl.ops.core.base import are_numbers, broadcast_shapes, known_dims, known_ints, normal_axis, unknown_shape
from whorl.ops.core.lazy import lazy_view
from whorl.ops.movement.lengths import bounds, interval_of_counts, quotient
from whorl.ops.movement.rearranging import (
    Rearranging,
    as_objects,
    broadcast_value,
    integers,
    run_axis,
    sizes,
    vector_length,
)
from whorl.ops.native.index_maps import (
    all_fixed,
    broadcast_scalar,
    broadcast_view,
    embed_numbers,
    fixed_lengths,
    lengths,
    read_int64,
    reshape_view,
)
from whorl.ops.native.run_time_lengths import read_broadcast, read_shape


class Shape(Op, frozen=True):
    """The lengths of the axes `start` to `end` of x, counted and clamped as Python slices. Source: ONNX Shape-25."""

    polymorphic = True
    any_length = True
    never_fails = True

    start: int = 0
    end: int | None = None

    def infer(self, x: Fact) -> TensorType:
        shape = tensor(x).shape
        return TensorType(INT64, (UNKNOWN if isinstance(shape, AnyShape) else len(shape[self.start : self.end]),))

    def infer_known(self, x: Fact) -> tuple[np.ndarray | None, ...]:
        shape = tensor(x).shape
        return () if isinstance(shape, AnyShape) else (as_objects(shape[self.start : self.end]),)

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.array(x.shape[self.start : self.end], np.int64)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        picked = inputs[0].shape[self.start : self.end]
        return [embed_numbers(k, picked, INT64, (len(picked),))]

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        return interval_of_counts(result.known)


class Size(Op, frozen=True):
    """The number of elements of x, a scalar. Source: ONNX Size-25."""

    polymorphic = True
    any_length = True
    never_fails = True

    def infer(self, x: Fact) -> TensorType:
        tensor(x)
        return TensorType(INT64, ())

    def infer_known(self, x: Fact) -> tuple[np.ndarray | None, ...]:
        shape = tensor(x).shape
        return () if isinstance(shape, AnyShape) else (as_objects([dims.product(shape)]).reshape(()),)

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.array(x.size, np.int64)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return [broadcast_scalar(k, k.const(inputs[0].size), ())]

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        return interval_of_counts(result.known)


class Reshaping(Rearranging, frozen=True):
    """An op that leaves the elements of its first input where they are in row-major order."""

    abstract: ClassVar[bool] = True

    lazily = lazy_view

    any_length = True
    moves_elements = True

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        return _under_shape(k, inputs[0], lengths(outputs[0]))

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        return are_numbers(operands[1:]) and dims.equal(_size(operands[0]), _size(results[0]))

    def preserves_order(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        return True


def _under_shape(k: NativeBuilder, x: View, shape: Sequence[Dim]) -> Sequence[View] | None:
    """The elements of x under another shape; the program fails where that has another number of elements."""
    if dims.product(shape) != x.size:
        if all_fixed((*shape, *x.shape)):
            return None
        k.fail_unless(k.compare("eq", k.const(dims.product(shape)), k.const(x.size)))
    return [reshape_view(k, x, shape)]


def _size(fact: Fact | None) -> Dim:
    """The number of elements of a tensor."""
    shape = UNRANKED if fact is None else tensor(fact).shape
    return UNKNOWN if isinstance(shape, AnyShape) else dims.product(shape)


class Reshape(Reshaping, frozen=True):
    """The elements of x in row-major order under a new shape: 0 copies x's length, -1 is what is left.

    With `allowzero` a 0 is a length. Where another length is 0, -1 has no meaning. Source: ONNX Reshape-25.
    """

    allowzero: int = 0

    def infer(self, x: Fact, shape: Fact) -> TensorType:
        requested, length = known_dims(shape), vector_length(shape, "shape")
        if requested is None:
            return TensorType(tensor(x).dtype, unknown_shape(length))
        if any(isinstance(d, int) and d < -1 for d in requested) or sum(_is(d, -1) for d in requested) > 1:
            raise TypeRuleError(f"shape is {list(requested)}", fix="give lengths, 0 to copy one, and -1 at most once")
        return TensorType(tensor(x).dtype, self._prove(requested, tensor(x).shape))

    def _prove(self, requested: Sequence[Dim], actual: Lengths) -> tuple[Dim, ...]:
        """The lengths that follow.

        A named length could be 0 at run time, which copies another one; it counts where the numbers of elements agree.
        """
        copied = self._copied_axes(requested)
        doubtful = [i for i, d in enumerate(requested) if not self.is_certain(d, i, actual)]
        if isinstance(actual, AnyShape):
            return tuple(UNKNOWN if i in copied or i in doubtful or _is(d, -1) else d for i, d in enumerate(requested))
        if any(i >= len(actual) for i in copied):
            raise TypeRuleError(f"shape {list(requested)} copies axis {max(copied)} of a tensor of rank {len(actual)}")
        left = [d for i, d in enumerate(actual) if i not in copied]
        result = [actual[i] if i in copied else d for i, d in enumerate(requested)]
        if -1 in requested:
            known = [d for i, d in enumerate(requested) if i not in copied and not _is(d, -1)]
            result[requested.index(-1)] = _left(left, known)
        agrees = _is(quotient(left, [d for i, d in enumerate(result) if i not in copied]), 1)
        if not doubtful or agrees:
            return tuple(result)
        if len(doubtful) > 1 or -1 in requested or not all(bounds(d)[0] > 0 for d in actual):
            return tuple(UNKNOWN if i in doubtful or _is(requested[i], -1) else d for i, d in enumerate(result))
        others = [d for i, d in enumerate(requested) if i not in copied and i not in doubtful]
        result[doubtful[0]] = quotient(left, others)
        return tuple(result)

    def _copied_axes(self, requested: Sequence[Dim]) -> list[int]:
        return [i for i, d in enumerate(requested) if _is(d, 0) and not self.allowzero]

    def is_certain(self, dim: Dim, axis: int, actual: Lengths) -> bool:
        """Whether a requested length is surely the result's: not perhaps a -1, nor a 0 that copies anything but a 0."""
        if isinstance(dim, int) or bounds(dim)[0] >= 1 - self.allowzero:
            return True
        if isinstance(actual, AnyShape) or axis >= len(actual):
            return False
        return isinstance(quotient([dim], [actual[axis]]), int)

    def run(self, x: np.ndarray, shape: np.ndarray) -> np.ndarray:
        requested = integers(shape)
        target = self._resolve(requested, x.shape)
        if math.prod(target) != x.size:
            raise RunError(f"cannot reshape {list(x.shape)}, {x.size} elements, into {requested}")
        return x.reshape(target)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, shape = inputs
        full = lengths(outputs[0])
        if not all(map(k.is_available, full)):
            return _under_shape(k, x, read_shape(k, x.shape, shape, full, bool(self.allowzero)))
        for axis, requested in enumerate(() if shape.known is None else shape.known.flat):
            if isinstance(requested, Linear) and requested != full[axis]:
                k.fail_unless(self._fits(k, k.length(requested), axis, full[axis], x.shape))
            if _is(requested, -1):
                _require_positive(k, (*full[:axis], *full[axis + 1 :]))
        return _under_shape(k, x, full)

    def _fits(self, k: NativeBuilder, requested: Expr, axis: int, length: Dim, actual: Sequence[Dim]) -> Expr:
        """Whether a number of the shape gives an axis the length that inference has proved of it if nothing fails."""
        fits = k.apply("or", k.compare("eq", requested, k.length(length)), k.compare("eq", requested, k.const(-1)))
        if self.allowzero or axis >= len(actual):
            return fits
        is_copy = k.compare("eq", k.length(actual[axis]), k.length(length))
        return k.apply("or", fits, k.apply("and", k.compare("eq", requested, k.const(0)), is_copy))

    def _resolve(self, requested: list[int], actual: tuple[int, ...]) -> list[int]:
        copied = self._copied_axes(requested)
        if any(i >= len(actual) for i in copied):
            raise RunError(f"shape {requested} copies axis {max(copied)} of a tensor of rank {len(actual)}")
        target = [actual[i] if i in copied else d for i, d in enumerate(requested)]
        if any(d < -1 for d in target) or target.count(-1) > 1:
            raise RunError(f"shape is {requested}, expected lengths and -1 at most once")
        if -1 in target:
            others = -math.prod(target)
            if not others:
                raise RunError(f"-1 in {requested} stands for no one length where another length is 0")
            target[target.index(-1)] = math.prod(actual) // others
        return target


def _require_positive(k: NativeBuilder, shape: Sequence[Dim]) -> None:
    """End the program with a failure where a length is 0, so that -1 stands for no one length."""
    for length in shape:
        if not k.is_positive(length):
            k.fail_unless(k.compare("ne", k.length(length), k.const(0)))


def _is(dim: Dim, number: int) -> bool:
    return isinstance(dim, int) and dim == number


def _left(numerators: Sequence[Dim], denominators: Sequence[Dim]) -> Dim:
    """What -1 stands for; an error where it cannot stand for anything."""
    if any(_is(d, 0) for d in denominators):
        raise TypeRuleError("shape holds both 0 and -1, so -1 stands for no one length", fix="leave allowzero out")
    if all(isinstance(d, int) for d in (*numerators, *denominators)):
        top, bottom = dims.product(numerators), dims.product(denominators)
        if isinstance(top, int) and isinstance(bottom, int) and top % bottom:
            raise TypeRuleError(f"cannot share {top} elements evenly among {bottom}")
    return quotient(numerators, denominators)


class Flatten(Reshaping, frozen=True):
    """x as a matrix: rows are the product of the axes before `axis`, columns of the others. Source: ONNX Flatten-25."""

    axis: int = 1

    def infer(self, x: Fact) -> TensorType:
        type = tensor(x)
        if isinstance(type.shape, AnyShape):
            return type.with_shape((UNKNOWN, UNKNOWN))
        cut = self._cut(len(type.shape))
        if cut is None:
            rank = len(type.shape)
            raise TypeRuleError(f"axis {self.axis} is outside [{-rank}, {rank}] of a tensor of rank {rank}")
        return type.with_shape((dims.product(type.shape[:cut]), dims.product(type.shape[cut:])))

    def _cut(self, rank: int) -> int | None:
        return self.axis + rank * (self.axis < 0) if -rank <= self.axis <= rank else None

    def run(self, x: np.ndarray) -> np.ndarray:
        cut = self._cut(x.ndim)
        if cut is None:
            raise RunError(f"axis {self.axis} is outside [{-x.ndim}, {x.ndim}] of a tensor of rank {x.ndim}")
        return x.reshape(math.prod(x.shape[:cut]), math.prod(x.shape[cut:]))


class Squeeze(Reshaping, frozen=True):
    """x without the axes listed, each of length 1; without a list, without all of length 1. Source: ONNX Squeeze-25."""

    def infer(self, x: Fact, axes: Fact | None = None) -> TensorType:
        type = tensor(x)
        count = None if axes is None else vector_length(axes, "axes")
        if isinstance(type.shape, AnyShape):
            return type
        if axes is None:
            return type.with_shape(_without_ones(type.shape))
        listed = known_ints(axes)
        if listed is None:
            return type.with_shape(unknown_shape(None if count is None else max(len(type.shape) - count, 0)))
        dropped = {normal_axis(axis, len(type.shape)) for axis in listed}
        for axis in dropped:
            if dims.differ(type.shape[axis], 1):
                raise TypeRuleError(f"axis {axis} of {type} cannot be squeezed", fix="squeeze axes of length 1")
        return type.with_shape(tuple(d for axis, d in enumerate(type.shape) if axis not in dropped))

    def run(self, x: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
        if axes is None:
            return x.reshape([d for d in x.shape if d != 1])
        dropped = {run_axis(axis, x.ndim) for axis in integers(axes)}
        for axis in sorted(dropped):
            if x.shape[axis] != 1:
                raise RunError(f"axis {axis} has length {x.shape[axis]}, only length 1 can be squeezed")
        return x.reshape([d for axis, d in enumerate(x.shape) if axis not in dropped])


def _without_ones(shape: Sequence[Dim]) -> Lengths:
    """The dims that are not 1; unranked where one may be."""
    if any(not _is(d, 1) and not (dims.differ(d, 1) or bounds(d)[0] > 1) for d in shape):
        return UNRANKED
    return tuple(d for d in shape if not _is(d, 1))


class Unsqueeze(Reshaping, frozen=True):
    """x with new axes of length 1, their positions counted in the result. Source: ONNX Unsqueeze-25."""

    def infer(self, x: Fact, axes: Fact) -> TensorType:
        type, count, listed = tensor(x), vector_length(axes, "axes"), known_ints(axes)
        if isinstance(type.shape, AnyShape):
            return type
        if listed is None:
            return type.with_shape(unknown_shape(None if count is None else len(type.shape) + count))
        rank = len(type.shape) + len(listed)
        added = {normal_axis(axis, rank) for axis in listed}
        if len(added) < len(listed):
            raise TypeRuleError(f"axes {list(listed)} name an axis twice")
        rest = iter(type.shape)
        return type.with_shape(tuple(1 if axis in added else next(rest) for axis in range(rank)))

    def run(self, x: np.ndarray, axes: np.ndarray) -> np.ndarray:
        listed = integers(axes)
        rank = x.ndim + len(listed)
        added = {run_axis(axis, rank) for axis in listed}
        if len(added) < len(listed):
            raise RunError(f"axes {listed} name an axis twice")
        rest = iter(x.shape)
        return x.reshape([1 if axis in added else next(rest) for axis in range(rank)])


class Expand(Rearranging, frozen=True):
    """x broadcast with a shape (both ways: x's lengths stay where the shape has 1). Source: ONNX Expand-13."""

    lazily = lazy_view

    any_length = True
    moves_elements = True

    def infer(self, x: Fact, shape: Fact) -> TensorType:
        type, requested, length = tensor(x), known_dims(shape), vector_length(shape, "shape")
        if requested is None:
            return type.with_shape(broadcast_shapes(type.shape, unknown_shape(length)))
        if any(isinstance(d, int) and d < 0 for d in requested):
            raise TypeRuleError(f"shape is {list(requested)}, lengths must not be negative")
        return type.with_shape(broadcast_shapes(type.shape, requested))

    def run(self, x: np.ndarray, shape: np.ndarray) -> np.ndarray:
        target = sizes(shape, "shape")
        try:
            full = broadcast_shapes(x.shape, target)
        except TypeRuleError:
            raise RunError(f"cannot broadcast {list(x.shape)} with {list(target)}") from None
        return broadcast_value(x, fixed_lengths(TensorType(x.dtype, full)))

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, shape = inputs
        full = lengths(outputs[0])
        if not all(map(k.is_available, full)):
            full = read_broadcast(k, x.shape, shape, full)
        elif shape.known is None or not all_fixed(list(shape.known.flat)):
            _require_fit(k, shape, full)
        return [broadcast_view(k, x, full)]

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        return are_numbers(operands[1:])

    def preserves_order(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        return True


def _require_fit(k: NativeBuilder, shape: View, full: Sequence[Dim]) -> None:
    """End the program with a failure unless each element of a shape is 1 or the length that the result has there."""
    for n, length in enumerate(full[len(full) - shape.fixed_size :]):
        requested = read_int64(k, shape, n)
        fits = k.compare("eq", requested, k.length(length))
        k.fail_unless(k.apply("or", fits, k.compare("eq", requested, k.const(1))))
