"""Ops that make tensors from a shape or a few numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir.constants import as_array
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import BY_NAME, FLOAT32, is_integer, name_of
from whorl.ir.graph import Op
from whorl.ir.intervals import Interval, Intervals, of_array
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, Operands, View, fixed
from whorl.ir.types import AnyShape, Fact, TensorType, tensor
from whorl.ops.core.base import are_numbers, known_dims, known_ints, one_element, same_dtype, unknown_shape
from whorl.ops.movement.lengths import ceil_div, nonnegative
from whorl.ops.movement.rearranging import (
    Rearranging,
    as_objects,
    broadcast_value,
    is_small,
    require_memory,
    sizes,
    vector_length,
)
from whorl.ops.native.index_maps import all_fixed, as_length, broadcast_scalar, lengths, read_element, read_int64
from whorl.ops.native.run_time_lengths import count_range, count_steps

_SMALL = 4096
"""Elements up to which a constant tensor has memory of its own; beyond, all elements share one address."""


class ConstantOfShape(Rearranging, frozen=True, eq=False):
    """A tensor of a shape, every element `value` (float32 0 without one). Source: ONNX ConstantOfShape-25."""

    any_length = True

    value: Any = None

    @property
    def element(self) -> np.ndarray:
        return np.zeros((), np.float32) if self.value is None else np.asarray(self.value)

    def infer(self, shape: Fact) -> TensorType:
        count, requested = vector_length(shape, "shape"), known_dims(shape)
        if self.element.size != 1:
            raise TypeRuleError(f"value has shape {list(self.element.shape)}, expected one element")
        if requested is not None and any(isinstance(d, int) and d < 0 for d in requested):
            raise TypeRuleError(f"shape is {list(requested)}, lengths must not be negative")
        return TensorType(self.element.dtype, unknown_shape(count) if requested is None else requested)

    def run(self, shape: np.ndarray) -> np.ndarray:
        target, element = sizes(shape, "shape"), self.element.reshape(())
        if math.prod(target) <= _SMALL:
            return np.full(target, element, element.dtype)
        return broadcast_value(element, target)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        value, shape = self.element, lengths(outputs[0])
        if not all_fixed(shape):
            lengths_read = [k.let(read_int64(k, inputs[0], n)) for n in range(len(shape))]
            for length in lengths_read:
                k.fail_unless(k.compare("ge", length, k.const(0)))
            shape = tuple(k.new_length(length) for length in lengths_read)
        return [broadcast_scalar(k, k.const(value.reshape(-1)[0].item(), value.dtype), shape)]

    def numbered(self, inputs: Sequence[Fact | None], number: Callable[[str], int]) -> Op | None:
        return ConstantOfShape(np.array([number(text) for text in self.element.reshape(-1).tolist()], np.int64))

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        return are_numbers(operands)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        return of_array(np.asarray(as_array(self.element)))


RANGE_DTYPES = frozenset(BY_NAME[n] for n in ("int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"))


class Range(Op, frozen=True):
    """start + i * delta for i = 0 ... max(ceil((limit - start) / delta), 0) - 1. Source: ONNX Range-27.

    float16 and bfloat16 are computed in `stash_type` and rounded once; the count is a quotient of float64.
    """

    any_length = True

    stash_type: np.dtype = FLOAT32

    def infer(self, start: Fact, limit: Fact, delta: Fact) -> TensorType:
        dtype = same_dtype(start, limit, delta)
        if dtype not in RANGE_DTYPES:
            raise TypeRuleError(f"does not accept {name_of(dtype)}")
        return TensorType(dtype, (self._length(dtype, _scalar(start), _scalar(limit), _scalar(delta)),))

    def _length(self, dtype: np.dtype, start: Dim | float, limit: Dim | float, delta: Dim | float) -> Dim:
        if not is_integer(dtype):
            if not all(isinstance(v, (int, float)) for v in (start, limit, delta)):
                return UNKNOWN
            try:
                return self._count(*(np.array(v, dtype) for v in (start, limit, delta)))
            except RunError:
                return UNKNOWN
        if isinstance(start, float) or isinstance(limit, float) or not isinstance(delta, int) or not delta:
            return UNKNOWN
        gap = limit - start if delta > 0 else start - limit
        return nonnegative(ceil_div(gap, abs(delta)))

    def infer_known(self, start: Fact, limit: Fact, delta: Fact) -> tuple[np.ndarray | None, ...]:
        ends = [_scalar(x) for x in (start, limit, delta)]
        if not is_small(self.infer(start, limit, delta)) or not is_integer(tensor(start).dtype):
            return ()
        first, end, step = ends
        if isinstance(first, int) and isinstance(end, int) and isinstance(step, int):
            return (as_objects(list(range(first, end, step))),)
        return ()

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        ends = [() if x is None else known_dims(x) or () for x in operands]
        return all(len(end) == 1 for end in ends) and all(known_ints(operands[2]) or (0,))

    def _count(self, start: np.ndarray, limit: np.ndarray, delta: np.ndarray) -> int:
        first, end, step = (one_element(v, "an argument") for v in (start, limit, delta))
        if not step:
            raise RunError("delta is 0")
        if is_integer(start.dtype):
            return max(0, -((first - end) // step))
        work = self._work(start.dtype)
        gap = float(limit.reshape(()).astype(work) - start.reshape(()).astype(work))
        count = gap / float(step)
        if not math.isfinite(count):
            raise RunError(f"no range goes from {first} to {end} by {step}")
        return max(0, math.ceil(count))

    def _work(self, dtype: np.dtype) -> np.dtype:
        return self.stash_type if dtype.itemsize == 2 and not is_integer(dtype) else dtype

    def run(self, start: np.ndarray, limit: np.ndarray, delta: np.ndarray) -> np.ndarray:
        count, dtype = self._count(start, limit, delta), start.dtype
        work = np.dtype(np.int64) if is_integer(dtype) else self._work(dtype)
        require_memory((count,), work)
        first, step = start.reshape(()).astype(work), delta.reshape(()).astype(work)
        return (first + np.arange(count).astype(work) * step).astype(dtype)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        if any(x.size != 1 for x in inputs):
            return None
        dtype, length = inputs[0].dtype, lengths(outputs[0])[0]
        kind = dtype if is_integer(dtype) else self._work(dtype)
        start, limit, step = (k.let(k.cast(read_element(k, x), kind)) for x in inputs)
        if not k.is_available(length):
            count = count_range if is_integer(dtype) else count_steps
            length = as_length(k, count(k, start, limit, step))

        def at(index: Index) -> Expr:
            return k.cast(k.add(start, k.mul(k.cast(index[0], kind), step)), dtype)

        return [k.view(dtype, (length,), at, 2)]

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        start, limit, delta = inputs
        if start is None or limit is None or delta is None or tensor(result).dtype.kind not in "iu":
            return None
        if delta.low > 0:
            return Interval(start.low, max(start.low, limit.high - 1))
        return Interval(min(start.high, limit.low + 1), start.high) if delta.high < 0 else None


def _scalar(fact: Fact) -> Dim:
    known = known_dims(fact)
    return known[0] if known else UNKNOWN


class EyeLike(Op, frozen=True):
    """Ones where column - row is k, zeros elsewhere, in x's shape. Source: ONNX EyeLike-22."""

    any_length = True

    dtype: np.dtype | None = None
    k: int = 0

    def infer(self, x: Fact) -> TensorType:
        type = tensor(x)
        if not isinstance(type.shape, AnyShape) and len(type.shape) != 2:
            raise TypeRuleError(f"takes a matrix, got {type}")
        shape = (UNKNOWN, UNKNOWN) if isinstance(type.shape, AnyShape) else type.shape
        return TensorType(self.dtype or type.dtype, shape)

    def run(self, x: np.ndarray) -> np.ndarray:
        if x.ndim != 2:
            raise RunError(f"takes a matrix, got shape {list(x.shape)}")
        rows, columns = x.shape
        k = min(max(self.k, -fixed(rows)), fixed(columns))
        return np.eye(rows, columns, k, dtype=self.dtype or x.dtype)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        dtype = self.dtype or inputs[0].dtype

        def at(index: Index) -> Expr:
            is_one = k.compare("eq", k.sub(index[1], index[0]), k.const(self.k))
            return k.select(is_one, k.const(1, dtype), k.const(0, dtype))

        return [k.view(dtype, inputs[0].shape, at, 3)]
