"""Native form of an axis that is resized between lengths that only the run knows: its tables, computed in the program.

The formulas are those of `resampling`, step by step, in float64.
"""

from __future__ import annotations

import math

import numpy as np
from msgspec import Struct

from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, FLOAT32, FLOAT64, INT64
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import View
from whorl.ops.image.resampling import Filter

_NATIVE_ROUNDINGS = {
    "round_prefer_floor": ("ceil", -0.5),
    "round_prefer_ceil": ("floor", 0.5),
    "floor": ("floor", 0.0),
    "ceil": ("ceil", 0.0),
}
MOST_TAPS = 64
"""Elements that a kernel may weigh for one output element, whose sum is written out."""


class RunAxis(Struct, frozen=True):
    """One axis of `length` elements resized to `count`, as `AxisResize`."""

    k: NativeBuilder
    length: Dim
    count: Dim
    scale: float | None
    roi: tuple[float, float]
    mode: str

    def _number(self, value: float) -> Expr:
        return self.k.const(value, FLOAT64)

    def _float(self, length: Dim) -> Expr:
        return self.k.let(self.k.cast(self.k.length(length), FLOAT64))

    def _resized(self) -> Expr:
        if self.scale is None:
            return self._float(self.count)
        return self.k.mul(self._number(self.scale), self._float(self.length))

    def is_unchanged(self) -> Expr:
        """Whether the axis stays what it is."""
        k = self.k
        if self.scale not in (None, 1) or (self.mode == "tf_crop_and_resize" and self.roi != (0.0, 1.0)):
            return k.const(False, BOOL)
        return k.let(k.compare("eq", k.length(self.length), k.length(self.count)))

    def positions(self, precision: np.dtype = FLOAT64) -> View:
        """The position of every output element, counted in input elements."""
        k, number = self.k, self._number
        last, resized = k.let(k.sub(self._float(self.length), number(1))), k.let(self._resized())
        is_short = k.compare("le", resized, number(1))

        def position(x: Expr) -> Expr:
            match self.mode:
                case "asymmetric":
                    return self._divide(x, precision)
                case "align_corners":
                    spread = k.div(k.mul(x, last), k.sub(resized, number(1)))
                    return k.select(k.compare("eq", resized, number(1)), number(0), spread)
                case "tf_crop_and_resize":
                    start, end = self.roi
                    part = k.div(k.mul(k.mul(x, number(end - start)), last), k.sub(resized, number(1)))
                    spread = k.add(k.mul(number(start), last), part)
                    return k.select(is_short, k.mul(number(0.5 * (start + end)), last), spread)
                case _:
                    return self._at_centres(k.add(x, number(0.5)), is_short, resized, precision)

        return k.materialise(k.view(FLOAT64, (self.count,), lambda i: position(k.cast(i[0], FLOAT64)), 8))

    def _at_centres(self, x: Expr, is_short: Expr, resized: Expr, precision: np.dtype) -> Expr:
        k, number, half = self.k, self._number, self._number(0.5)
        quotient = self._divide(x, precision)
        if self.mode == "half_pixel_symmetric":
            share = k.sub(number(1), k.div(self._float(self.count), resized))
            shift = k.mul(k.div(self._float(self.length), number(2)), share)
            return k.sub(k.add(shift, quotient), half)
        position = k.sub(quotient, half)
        return k.select(is_short, number(0), position) if self.mode == "pytorch_half_pixel" else position

    def _divide(self, x: Expr, precision: np.dtype) -> Expr:
        k = self.k
        if self.scale is None:
            return k.div(k.mul(x, self._float(self.length)), self._float(self.count))
        return k.cast(k.cast(k.div(x, self._number(self.scale)), precision), FLOAT64)

    def nearest(self, rounding: str) -> View:
        """The input element that each output element is."""
        k, positions = self.k, self.positions(FLOAT32)
        dtype = FLOAT64 if self.scale is None else FLOAT32
        op, shift = _NATIVE_ROUNDINGS[rounding]

        def element(i: Expr) -> Expr:
            rounded = k.apply(op, k.add(k.cast(positions.at((i,)), dtype), k.const(shift, dtype)))
            return k.select(unchanged, i, self._clip(k.cast(rounded, FLOAT64)))

        unchanged = self.is_unchanged()
        return k.materialise(k.view(INT64, (self.count,), lambda index: element(index[0]), 8))

    def _clip(self, element: Expr) -> Expr:
        """A whole number as the index of an element, the first or the last one where it lies outside."""
        k = self.k
        last = k.cast(k.length(self.length - 1), FLOAT64)
        return k.cast(k.apply("min", k.apply("max", element, self._number(0)), last), INT64)

    def taps(self, kernel: Filter, dtype: np.dtype) -> tuple[View, View] | None:
        """Input elements and their weights, both [taps, output elements]; None where only the run knows how many."""
        if kernel.antialias and self.scale is None:
            return None
        k, positions = self.k, self.positions()
        filter_scale = min(1.0, self.scale or 1.0) if kernel.antialias else 1.0
        reach = (2 if kernel.cubic else 1) / filter_scale
        count = math.ceil(2 * reach)
        if count > MOST_TAPS:
            return None
        elements, weights = k.temporary(INT64, (count, self.count)), k.temporary(FLOAT64, (count, self.count))
        with k.loop(self.count) as i:
            position = k.let(positions.at((i,)))
            first = k.add(k.apply("floor", k.sub(position, self._number(reach))), self._number(1))
            total = self._number(0)
            for tap in range(count):
                element = k.let(k.add(first, self._number(tap)))
                distance = k.mul(k.sub(element, position), self._number(filter_scale))
                weight = k.let(self._outside_is_nothing(element, self._weigh(kernel, distance), kernel))
                total = k.let(k.add(total, weight))
                k.store(elements, (k.const(tap), i), self._clip(element))
                k.store(weights, (k.const(tap), i), weight)
            if kernel.antialias or kernel.exclude_outside:
                divisor = k.let(k.select(k.compare("eq", total, self._number(0)), self._number(1), total))
                for tap in range(count):
                    at = (k.const(tap), i)
                    k.store(weights, at, k.div(k.load(weights, at), divisor))
        shape = (count, self.count)
        share = k.view_of(weights, shape)
        return k.view_of(elements, shape), k.view(dtype, shape, lambda index: k.cast(share.at(index), dtype), 2)

    def _outside_is_nothing(self, element: Expr, weight: Expr, kernel: Filter) -> Expr:
        if not kernel.exclude_outside:
            return weight
        k, zero = self.k, self._number(0)
        inside = k.apply("and", k.compare("ge", element, zero), k.compare("lt", element, self._float(self.length)))
        return k.select(inside, weight, zero)

    def _weigh(self, kernel: Filter, distance: Expr) -> Expr:
        """The weight of an element at a distance, as `Filter.weigh`."""
        k, number, a = self.k, self._number, kernel.a
        d = k.let(k.apply("abs", distance))
        if not kernel.cubic:
            return k.apply("max", number(0), k.sub(number(1), d))
        near = k.mul(k.mul(k.sub(k.mul(number(a + 2), d), number(a + 3)), d), d)
        far = k.mul(k.add(k.mul(k.sub(k.mul(number(a), d), number(5 * a)), d), number(8 * a)), d)
        beyond = k.select(k.compare("lt", d, number(2)), k.sub(far, number(4 * a)), number(0))
        return k.select(k.compare("le", d, number(1)), k.add(near, number(1)), beyond)

    def outside(self) -> View | None:
        """The output elements that lie outside the input; None where there are none."""
        if self.mode != "tf_crop_and_resize":
            return None
        k, positions = self.k, self.positions()
        last = k.let(k.cast(k.length(self.length - 1), FLOAT64))

        def is_outside(position: Expr) -> Expr:
            return k.apply("or", k.compare("lt", position, self._number(0)), k.compare("gt", position, last))

        return k.view(BOOL, (self.count,), lambda index: is_outside(positions.at(index)), 3)
