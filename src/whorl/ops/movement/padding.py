"""Ops that add elements at the ends of axes or take them away."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.graph import Op
from whorl.ir.intervals import Interval, Intervals, union
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Operands, View
from whorl.ir.types import AnyShape, Fact, Known, Shape, TensorType, tensor
from whorl.ops.core.base import known_dims, known_ints, normal_axis, same_dtype, shape_of, unknown_shape
from whorl.ops.movement.native_padding import centre, extend_view, pad_view, read_ends
from whorl.ops.movement.rearranging import (
    Rearranging,
    integers,
    require_memory,
    run_axis,
    sizes,
    vector_length,
    zero_of,
)
from whorl.ops.native.index_maps import all_numbers, as_length, lengths, read_element, read_int64

MODES = ("constant", "reflect", "edge", "wrap")


class Pad(Rearranging, frozen=True):
    """x longer by pads[k] at the start and pads[k + n] at the end of the k-th of n axes; negative pads crop.

    A cropped axis is cut first; then `edge` repeats what is left, `reflect` mirrors it without its end points, `wrap`
    starts it over. Source: ONNX Pad-25.
    """

    any_length = True

    mode: str = "constant"

    def infer(self, x: Fact, pads: Fact, constant_value: Fact | None = None, axes: Fact | None = None) -> TensorType:
        type, dtype = tensor(x), same_dtype(x, constant_value)
        if self.mode not in MODES:
            raise TypeRuleError(f"mode is {self.mode!r}", fix=f"use one of {', '.join(MODES)}")
        count = vector_length(pads, "pads")
        listed = None if axes is None else vector_length(axes, "axes")
        axis_count = type.rank if axes is None else listed
        if count is not None and (count % 2 or axis_count not in (None, count // 2)):
            raise TypeRuleError(f"pads has {count} numbers, expected two for each of {axis_count} axes")
        if isinstance(type.shape, AnyShape):
            return TensorType(dtype, unknown_shape(None if axes is not None or count is None else count // 2))
        return TensorType(dtype, self._padded(type.shape, pads, axes))

    def _padded(self, shape: tuple[Dim, ...], pads: Fact, axes: Fact | None) -> Shape:
        named = tuple(range(len(shape))) if axes is None else known_ints(axes)
        if named is None:
            return (UNKNOWN,) * len(shape)
        numbers = known_dims(pads) or (UNKNOWN,) * (2 * len(named))
        result = list(shape)
        for k, axis in enumerate(named):
            axis = normal_axis(axis, len(shape))
            length = shape[axis] + numbers[k] + numbers[k + len(named)]
            if isinstance(length, int) and length < 0:
                raise TypeRuleError(f"pads remove more than the {shape[axis]} elements of axis {axis}")
            result[axis] = length
        return tuple(result)

    def infer_known(
        self, x: Fact, pads: Fact, constant_value: Fact | None = None, axes: Fact | None = None
    ) -> tuple[np.ndarray | None, ...]:
        zero = Known(TensorType(tensor(x).dtype, ()), np.array(0, dtype=object))
        return super().infer_known(x, pads, constant_value or zero, axes)

    def is_total(self, inputs: Intervals, operands: Sequence[Fact | None], results: Sequence[Fact]) -> bool:
        shape, numbers = shape_of(operands[0]), known_ints(operands[1])
        axes = operands[3] if len(operands) > 3 else None
        if numbers is None or isinstance(shape, AnyShape) or (axes is not None and known_ints(axes) is None):
            return False
        has_elements = all(isinstance(n, int) and n > 0 for n in shape) and min(numbers, default=0) >= 0
        return self.mode == "constant" or has_elements

    def run(
        self,
        x: np.ndarray,
        pads: np.ndarray,
        constant_value: np.ndarray | None = None,
        axes: np.ndarray | None = None,
    ) -> np.ndarray:
        numbers = integers(pads)
        named = range(x.ndim) if axes is None else [run_axis(axis, x.ndim) for axis in integers(axes)]
        if len(numbers) != 2 * len(named):
            raise RunError(f"pads {numbers} has {len(numbers)} numbers, expected two for each of {len(named)} axes")
        ends = [(0, 0)] * x.ndim
        for k, axis in enumerate(named):
            ends[axis] = numbers[k], numbers[k + len(named)]
        if self.mode == "constant":
            fill = zero_of(x.dtype) if constant_value is None else constant_value
            return pad_array(x, ends, fill)
        for axis, (before, after) in enumerate(ends):
            if before or after:
                x = np.take(x, _sources(x.shape[axis], before, after, self.mode, axis), axis)
        return x

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, pads, value, axes = inputs[0], inputs[1], inputs.optional(2), inputs.optional(3)
        named = list(range(len(x.shape))) if axes is None else all_numbers(axes)
        if named is None or pads.size != 2 * len(named) or (value is not None and value.size != 1):
            return None
        ends = read_ends(k, pads, named, len(x.shape))
        if self.mode == "constant":
            fill = k.const(float(zero_of(x.dtype)), x.dtype) if value is None else k.let(read_element(k, value))
            return [pad_view(k, x, ends, fill)]
        return extend_view(k, x, ends, self.mode)

    def bounds(self, inputs: Intervals, operands: Sequence[Fact | None], result: Fact) -> Interval | None:
        value = inputs[2] if len(inputs) > 2 and operands[2] is not None else Interval(0, 0)
        return union((inputs[0], value))

    def is_identity(self, inputs: Sequence[Fact | None], outputs: Sequence[Fact]) -> bool:
        pads = known_ints(inputs[1])
        return pads is not None and not any(pads)


def pad_array(x: np.ndarray, ends: Sequence[tuple[int, int]], fill: np.ndarray) -> np.ndarray:
    """x with `ends` = (before, after) elements of `fill` on each axis; negative numbers crop."""
    shape = [n + before + after for n, (before, after) in zip(x.shape, ends, strict=True)]
    if any(length < 0 for length in shape):
        raise RunError(f"pads {[list(pair) for pair in ends]} remove more than shape {list(x.shape)} has")
    if fill.size != 1:
        raise RunError(f"constant_value has shape {list(fill.shape)}, expected one element")
    require_memory(shape, x.dtype)
    result = np.full(shape, fill.reshape(()), x.dtype)
    source, target = [], []
    for n, (before, after) in zip(x.shape, ends, strict=True):
        low, high = max(0, -before), n - max(0, -after)
        source.append(slice(low, max(low, high)))
        target.append(slice(low + before, max(low, high) + before))
    result[tuple(target)] = x[tuple(source)]
    return result


def _sources(length: int, before: int, after: int, mode: str, axis: int) -> np.ndarray:
    """Where each element of a padded axis comes from."""
    if length + before + after < 0:
        raise RunError(f"pads ({before}, {after}) remove more than the {length} elements of axis {axis}")
    low, high = max(0, -before), length - max(0, -after)
    index, count = np.arange(-before, length + after) - low, high - low
    if count <= 0 and index.size:
        raise RunError(f"axis {axis} has no element left that {mode} could repeat")
    if mode == "edge":
        index = np.clip(index, 0, count - 1)
    elif mode == "wrap":
        index = index % max(count, 1)
    else:
        period = max(2 * count - 2, 1)
        index = index % period
        index = np.minimum(index, period - index) if count > 1 else np.zeros_like(index)
    return index + low


class CenterCropPad(Op, frozen=True):
    """x cut or zero-padded on both sides of the axes listed, to the lengths in `shape`. Source: ONNX CenterCropPad-18.

    Where the difference is odd, the window starts half an element to the left, and one more zero goes to the right.
    """

    any_length = True

    axes: tuple[int, ...] | None = None

    def infer(self, x: Fact, shape: Fact) -> TensorType:
        type, count, known = tensor(x), vector_length(shape, "shape"), known_dims(shape)
        expected = type.rank if self.axes is None else len(self.axes)
        if count is not None and expected not in (None, count):
            raise TypeRuleError(f"shape has {count} lengths for {expected} axes")
        if isinstance(type.shape, AnyShape):
            return type.with_shape(unknown_shape(count if self.axes is None else None))
        named = range(len(type.shape)) if self.axes is None else self.axes
        result = list(type.shape)
        for axis, length in zip(named, known or (UNKNOWN,) * len(named), strict=True):
            result[normal_axis(axis, len(result))] = length
        return type.with_shape(tuple(result))

    def run(self, x: np.ndarray, shape: np.ndarray) -> np.ndarray:
        target = sizes(shape, "shape")
        named = range(x.ndim) if self.axes is None else [run_axis(axis, x.ndim) for axis in self.axes]
        if len(target) != len(named):
            raise RunError(f"shape {list(target)} has {len(target)} lengths for {len(named)} axes")
        ends = [(0, 0)] * x.ndim
        for axis, length in zip(named, target, strict=True):
            more = length - x.shape[axis]
            before = more // 2 if more >= 0 else -(-more // 2)
            ends[axis] = before, more - before
        return pad_array(x, ends, zero_of(x.dtype))

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        x, shape = inputs
        named = range(len(x.shape)) if self.axes is None else self.axes
        ends: list[tuple[Dim | Expr, Dim | Expr]] = [(0, 0)] * len(x.shape)
        result = list(x.shape)
        for n, axis in enumerate(named):
            length = lengths(outputs[0])[axis]
            result[axis] = length if k.is_available(length) else as_length(k, k.let(read_int64(k, shape, n)))
            k.fail_unless(k.compare("ge", k.length(result[axis]), k.const(0)))
            ends[axis] = centre(k, x.shape[axis], result[axis])
        return [pad_view(k, x, ends, k.const(0, x.dtype), result)]
