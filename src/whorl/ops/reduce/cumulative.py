"""Running totals along an axis."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from whorl.errors import TypeRuleError
from whorl.ir.dims import Dim
from whorl.ir.dtypes import INTEGERS, PACKED_BITS, is_integer
from whorl.ir.graph import Op
from whorl.ir.intervals import Intervals
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import AnyShape, Fact, TensorType, tensor
from whorl.ops.core.base import (
    COMPUTED_FLOATS,
    are_numbers,
    known_dims,
    known_ints,
    normal_axis,
    one_element,
    require_dtype,
    widen,
)
from whorl.ops.movement.rearranging import as_objects, run_axis, vector_length
from whorl.ops.native.index_maps import all_numbers, cast_view, widen_view
from whorl.ops.reduce.native_reductions import accumulate_view

_NUMBERS = (INTEGERS - frozenset(PACKED_BITS)) | COMPUTED_FLOATS


class Cumulative(Op, frozen=True):
    """Each element becomes the total of all up to it along `axis`, a tensor of one integer.

    `exclusive` leaves the element itself out, `reverse` counts from the end. Integers keep their type and wrap;
    totals of float16 and bfloat16 are float32 and each is rounded once.
    """

    abstract: ClassVar[bool] = True

    any_length = True

    exclusive: int = 0
    reverse: int = 0
    start: ClassVar[int]
    """The total of no elements."""
    how: ClassVar[str]
    """How native code adds an element to a total."""

    def infer(self, x: Fact, axis: Fact) -> TensorType:
        type, listed = tensor(x), known_ints(axis)
        require_dtype(type.dtype, _NUMBERS)
        if vector_length(axis, "axis") not in (1, None):
            raise TypeRuleError(f"axis is {axis.type}, expected one integer")
        if listed is not None and len(listed) == 1 and not isinstance(type.shape, AnyShape):
            normal_axis(listed[0], len(type.shape))
        return type

    def infer_known(self, x: Fact, axis: Fact) -> tuple[np.ndarray | None, ...]:
        """Totals of known integers and dims, as in arithmetic on shapes."""
        elements, type = known_dims(x), tensor(x)
        if elements is None or type.rank != 1 or not is_integer(type.dtype):
            return ()
        totals = self.totals(elements[::-1] if self.reverse else elements)
        limits = np.iinfo(type.dtype)
        if any(isinstance(total, int) and not limits.min <= total <= limits.max for total in totals):
            return ()
        return (as_objects(totals[::-1] if self.reverse else totals),)

    def totals(self, elements: tuple[Dim, ...]) -> list[Dim]:
        """The totals of a list, as many as it has elements."""
        running = list(itertools.accumulate(elements, self.step, initial=self.start))
        return running[:-1] if self.exclusive else running[1:]

    def run(self, x: np.ndarray, axis: np.ndarray) -> np.ndarray:
        along = run_axis(one_element(axis, "axis"), x.ndim)
        wide = widen(np.flip(x, along) if self.reverse else x)
        result = self.accumulate(wide, along)
        if self.exclusive and x.shape[along]:
            first = np.full_like(np.take(result, [0], along), self.start)
            rest = np.take(result, range(x.shape[along] - 1), along)
            result = np.concatenate([first, rest], along)
        return (np.flip(result, along) if self.reverse else result).astype(x.dtype, copy=False)

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        return are_numbers(operands[1:])

    def step(self, total: Dim, element: Dim) -> Dim:
        """The total with one more element."""
        raise TypeError(f"{self.name} has no step")

    def accumulate(self, x: np.ndarray, axis: int) -> np.ndarray:
        """The inclusive totals of a widened tensor from the front, in its own type."""
        raise TypeError(f"{self.name} does not accumulate")

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        (x, _), known = inputs, all_numbers(inputs[1])
        if known is None or len(known) != 1:
            return None
        total = accumulate_view(
            k, widen_view(k, x), known[0] % len(x.shape), self.how, self.start, bool(self.exclusive), bool(self.reverse)
        )
        return [cast_view(k, total, x.dtype)]


class CumSum(Cumulative, frozen=True):
    """y[i] = x[0] + ... + x[i] along an axis. Source: ONNX CumSum-14."""

    start = 0
    how = "add"

    def step(self, total: Dim, element: Dim) -> Dim:
        return total + element

    def accumulate(self, x: np.ndarray, axis: int) -> np.ndarray:
        return np.cumsum(x, axis=axis, dtype=x.dtype)


class CumProd(Cumulative, frozen=True):
    """y[i] = x[0] * ... * x[i] along an axis. Source: ONNX CumProd-26."""

    start = 1
    how = "mul"

    def step(self, total: Dim, element: Dim) -> Dim:
        return total * element

    def accumulate(self, x: np.ndarray, axis: int) -> np.ndarray:
        return np.cumprod(x, axis=axis, dtype=x.dtype)
