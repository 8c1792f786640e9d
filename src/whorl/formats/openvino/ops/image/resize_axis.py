"""Resizing one axis as nodes that hold for any lengths: where each element lies, and which elements it weighs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.graph import Value
from whorl.ir.types import tensor
from whorl.ops.core.writer import Writer
from whorl.ops.elementwise.arithmetic import Abs, Ceil, Clip, Div, Floor
from whorl.ops.elementwise.comparison import Equal, Less, LessOrEqual, Where
from whorl.ops.image.resampling import Filter
from whorl.ops.movement.filling import Range
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.shapes import Reshape


class Axis(Struct, frozen=True):
    """An axis that is resized: its number, and as float32 scalars its length, its new one, and the scale."""

    index: int
    length: Value
    count: Value
    scale: Value
    resized: Value
    """What the formulas take for the new length; scale * length may be a fraction."""
    roi: tuple[Value, Value] | None = None


class Resampler:
    """Adds the nodes for one axis after the other."""

    def __init__(self, build: Builder) -> None:
        self.build, self.write = build, Writer(build)

    def number(self, value: float) -> Value:
        return self.write.number(value, FLOAT32)

    def over(self, x: Value, y: Value) -> Value:
        return self.build.add(Div(), x, y)

    def coordinates(self, axis: Axis, mode: str) -> Value:
        """The coordinate of every element on the axis before, counted in its elements."""
        write, one, half = self.write, self.number(1), self.number(0.5)
        zero, step = self.number(0), self.build.add(Range(), self.number(0), axis.count, one)
        last, wide = write.sub(axis.length, one), write.sub(axis.resized, one)
        match mode:
            case "asymmetric":
                return self.over(step, axis.scale)
            case "align_corners":
                is_one = self.build.add(Equal(), axis.resized, one)
                return write.mul(step, self.build.add(Where(), is_one, zero, self.over(last, wide)))
            case "tf_crop_and_resize" if axis.roi is not None:
                start, end = axis.roi
                slope = self.over(write.mul(write.sub(end, start), last), wide)
                spread = write.add(write.mul(start, last), write.mul(step, slope))
                middle = write.mul(write.mul(half, write.add(start, end)), last)
                return self.build.add(Where(), self.build.add(LessOrEqual(), axis.resized, one), middle, spread)
            case _:
                pass
        centred = self.over(write.add(step, half), axis.scale)
        if mode == "tf_half_pixel_for_nn":
            return centred
        centred = write.sub(centred, half)
        if mode == "half_pixel_symmetric":
            lost = write.sub(one, self.over(axis.count, axis.resized))
            return write.add(write.mul(write.mul(half, axis.length), lost), centred)
        if mode == "pytorch_half_pixel":
            return self.build.add(Where(), self.build.add(LessOrEqual(), axis.resized, one), zero, centred)
        return centred

    def nearest(self, x: Value, axis: Axis, coordinates: Value, rounding: str) -> Value:
        """The nearest elements."""
        half = self.number(0.5)
        match rounding:
            case "round_prefer_floor":
                whole = self.build.add(Ceil(), self.write.sub(coordinates, half))
            case "round_prefer_ceil":
                whole = self.build.add(Floor(), self.write.add(coordinates, half))
            case "simple":
                shrinks = self.build.add(Less(), axis.scale, self.number(1))
                up, down = self.build.add(Ceil(), coordinates), self.build.add(Floor(), coordinates)
                whole = self.build.add(Where(), shrinks, up, down)
            case _:
                whole = self.build.add(Ceil() if rounding == "ceil" else Floor(), coordinates)
        return self._taken(x, axis, whole)

    def weighed(self, x: Value, axis: Axis, coordinates: Value, kernel: Filter) -> Value:
        """Sums of the elements around."""
        first = self.build.add(Floor(), coordinates)
        offsets = (-1, 0, 1, 2) if kernel.cubic else (0, 1)
        elements = [self.write.add(first, self.number(offset)) for offset in offsets]
        weights = [self._weight(self.write.sub(element, coordinates), kernel) for element in elements]
        if kernel.exclude_outside:
            weights = self._inside(axis, elements, weights)
        column = (-1, *(1,) * ((tensor(x).rank or 1) - axis.index - 1))
        total: Value | None = None
        for element, weight in zip(elements, weights, strict=True):
            part = self.write.mul(
                self._taken(x, axis, element), self.build.add(Reshape(), weight, self.build.int64(*column))
            )
            total = part if total is None else self.write.add(total, part)
        assert total is not None
        return total

    def _weight(self, distance: Value, kernel: Filter) -> Value:
        write, d = self.write, self.build.add(Abs(), distance)
        if not kernel.cubic:
            return write.sub(self.number(1), d)
        a = kernel.a
        near = self._polynomial(d, (a + 2, -(a + 3), 0, 1))
        far = self._polynomial(d, (a, -5 * a, 8 * a, -4 * a))
        return self.build.add(Where(), self.build.add(LessOrEqual(), d, self.number(1)), near, far)

    def _polynomial(self, x: Value, factors: Sequence[float]) -> Value:
        result = self.number(factors[0])
        for factor in factors[1:]:
            result = self.write.add(self.write.mul(result, x), self.number(factor))
        return result

    def _inside(self, axis: Axis, elements: Sequence[Value], weights: Sequence[Value]) -> list[Value]:
        """Weights of the elements that exist, with 1 as their sum."""
        zero, remaining = self.number(0), []
        for element, weight in zip(elements, weights, strict=True):
            is_low = self.build.add(Less(), element, zero)
            is_high = self.build.add(LessOrEqual(), axis.length, element)
            low = self.build.add(Where(), is_low, zero, weight)
            remaining.append(self.build.add(Where(), is_high, zero, low))
        total = remaining[0]
        for weight in remaining[1:]:
            total = self.write.add(total, weight)
        total = self.build.add(Where(), self.build.add(Equal(), total, zero), self.number(1), total)
        return [self.over(weight, total) for weight in remaining]

    def _taken(self, x: Value, axis: Axis, elements: Value) -> Value:
        """Elements along the axis, at its ends where they lie outside."""
        last = self.write.sub(axis.length, self.number(1))
        inside = self.build.add(Clip(), elements, self.number(0), last)
        return self.build.add(Gather(axis.index), x, self.write.cast(inside, INT64))


def scalar(build: Builder, vector: Value, index: int) -> Value:
    """One element of a vector as a float32 without axes."""
    picked = build.add(Gather(0), vector, build.constant(np.array(index, np.int64)))
    return Writer(build).cast(picked, FLOAT32)
