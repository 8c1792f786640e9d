"""Native form of reading an image at fractional coordinates, on the views that a kernel builder `k` makes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, FLOAT64, INT64
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Expr
from whorl.ir.native.view import Index, View
from whorl.ops.native.index_maps import fit

FAR = 2.0**22
"""Places are held inside [-FAR, FAR], where float32 tells them from their neighbours."""


def within_reach(k: NativeBuilder, position: Expr) -> Expr:
    """A position held inside [-FAR, FAR]; one that is NaN lies far before the axis."""
    first, last = k.const(-FAR, position.dtype), k.const(FAR, position.dtype)
    position = k.select(k.apply("isnan", position, dtype=BOOL), first, position)
    return k.apply("min", k.apply("max", position, first), last)


MOST_TAPS = 16
"""Elements read for one position, up to which the sum is written out."""
CUBIC = -0.75
"""The coefficient of the cubic kernel."""


class _Tap(Struct, frozen=True):
    """An element along an axis: its position, whether it lies on the axis, and its weight (None: the only one)."""

    index: Expr
    inside: Expr
    weight: Expr | None


class _Ends(Struct, frozen=True):
    """An axis as positions are counted on it: its length, the last element, the ends, twice the distance of these."""

    length: Expr
    last: Expr
    low: Expr
    high: Expr
    period: Expr


class Sampling(Struct, frozen=True):
    """How GridSample reads: `nearest`, `linear` or `cubic`; `zeros`, `border` or `reflection` outside."""

    k: NativeBuilder
    mode: str
    padding: str
    align_corners: bool

    def sampled(self, x: View, grid: View) -> View | None:
        """x [N, C, axes...] at grid [N, positions..., rank]; None where too many elements are read for a position."""
        k, rank = self.k, len(x.shape) - 2
        reach = {"nearest": 1, "linear": 2, "cubic": 4}[self.mode]
        if reach**rank > MOST_TAPS or not all(x.shape[2:]):
            return None
        if not fit(k, (grid.shape[0], grid.shape[-1]), (x.shape[0], rank)):
            return None
        for n in x.shape[2:]:
            if not k.is_positive(n):
                k.fail_unless(k.compare("gt", k.length(n), k.const(0)))
        ends = [self._ends(k.let(k.cast(k.length(n), grid.dtype))) for n in x.shape[2:]]
        shape = (*x.shape[:2], *grid.shape[1:-1])

        def at(index: Index) -> Expr:
            n, c, *spots = index
            columns = [grid.at((n, *spots, k.const(column))) for column in reversed(range(rank))]
            axes = [self.taps(end, position) for end, position in zip(ends, columns, strict=True)]
            total: Expr | None = None
            for taps in itertools.product(*axes):
                term = self._term(x, (n, c), taps)
                total = term if total is None else k.add(total, term)
            assert total is not None  # each axis has a tap
            return total

        return k.view(x.dtype, shape, at, 30 * reach**rank)

    def _term(self, x: View, before: Index, taps: Sequence[_Tap]) -> Expr:
        k = self.k
        value, inside, weight = x.at((*before, *(tap.index for tap in taps))), k.const(True, BOOL), None
        for tap in taps:
            inside = k.apply("and", inside, tap.inside)
            weight = tap.weight if weight is None else k.mul(weight, tap.weight) if tap.weight is not None else None
        value = k.select(inside, value, k.const(0, x.dtype))
        return value if weight is None else k.mul(value, k.cast(weight, x.dtype))

    def _ends(self, length: Expr) -> _Ends:
        """Where an axis begins and ends; lengths that an axis of an image has are exact as float32."""
        k, number = self.k, self._numbers(length.dtype)
        last = k.let(k.sub(length, number(1)))
        if self.align_corners:
            return _Ends(length, last, number(0), last, k.let(k.add(last, last)))
        return _Ends(length, last, number(-0.5), k.let(k.sub(length, number(0.5))), k.let(k.add(length, length)))

    def taps(self, axis: _Ends, spot: Expr) -> list[_Tap]:
        """The elements along an axis that a position of the grid reads."""
        k = self.k
        number = self._numbers(spot.dtype)
        if self.align_corners:
            position = k.mul(k.div(k.add(spot, number(1)), number(2)), axis.last)
        else:
            position = k.div(k.sub(k.mul(k.add(spot, number(1)), axis.length), number(1)), number(2))
        position = within_reach(k, position)
        if self.mode == "nearest":
            position = k.apply("rint", position)
        if self.padding == "reflection":
            position = self._reflected(position, axis)
        if self.mode == "nearest":
            return [self._tap(position, None, axis)]
        first = {"linear": 0, "cubic": -1}[self.mode]
        base = k.apply("floor", position)
        elements = [k.add(base, number(step)) for step in range(first, 2 - first)]
        return [self._tap(e, self._weight(k.sub(e, position)), axis) for e in elements]

    def _tap(self, element: Expr, weight: Expr | None, axis: _Ends) -> _Tap:
        k, number = self.k, self._numbers(element.dtype)
        inside = k.const(True, BOOL)
        if self.padding == "zeros":
            inside = k.apply("and", k.compare("ge", element, number(0)), k.compare("lt", element, axis.length))
        elif self.padding == "reflection":
            element = self._reflected(element, axis)
        clamped = k.apply("min", k.apply("max", element, number(0)), axis.last)
        return _Tap(k.cast(clamped, INT64), inside, weight)

    def _reflected(self, position: Expr, axis: _Ends) -> Expr:
        """The position thrown back at both ends until it is between them; one that is there stays."""
        k, zero = self.k, self.k.const(0, position.dtype)
        turn = k.apply("fmod", k.sub(position, axis.low), axis.period)
        turn = k.select(k.compare("lt", turn, zero), k.add(turn, axis.period), turn)
        thrown = k.add(axis.low, k.apply("min", turn, k.sub(axis.period, turn)))
        outside = k.apply("or", k.compare("lt", position, axis.low), k.compare("gt", position, axis.high))
        has_width = k.compare("gt", axis.period, zero)
        return k.select(has_width, k.select(outside, thrown, position), axis.low)

    def _weight(self, distance: Expr) -> Expr:
        """The weight of an element at a distance."""
        k, number = self.k, self._numbers(distance.dtype)
        d = k.apply("abs", distance)
        if self.mode == "linear":
            return k.apply("max", number(0), k.sub(number(1), d))
        squared = k.mul(k.sub(k.mul(number(CUBIC + 2), d), number(CUBIC + 3)), d)
        near = k.add(k.mul(squared, d), number(1))
        far = k.add(k.mul(k.sub(k.mul(number(CUBIC), d), number(5 * CUBIC)), d), number(8 * CUBIC))
        far = k.sub(k.mul(far, d), number(4 * CUBIC))
        beyond = k.select(k.compare("lt", d, number(2)), far, number(0))
        return k.select(k.compare("le", d, number(1)), near, beyond)

    def _numbers(self, dtype: np.dtype) -> Callable[[float], Expr]:
        return lambda value: self.k.const(value, dtype)


def element_positions(k: NativeBuilder, length: Dim, dtype: np.dtype, align_corners: bool) -> View:
    """Positions from -1 to 1 of the elements of an axis, or of their middles between these ends; 0 of a single one.

    They are computed in float64, by the formula of `np.linspace`.
    """
    count, last = (k.let(k.cast(k.length(n), FLOAT64)) for n in (length, length - 1))
    one = k.const(1.0, FLOAT64)
    step = k.let(k.div(k.const(2.0, FLOAT64), last))

    def at(index: Index) -> Expr:
        number = k.cast(index[0], FLOAT64)
        end = k.select(k.compare("eq", number, last), one, k.sub(k.mul(number, step), one))
        position = end if align_corners else k.div(k.mul(end, last), count)
        return k.cast(k.select(k.compare("le", count, one), k.const(0.0, FLOAT64), position), dtype)

    return k.materialise(k.view(dtype, (length,), at, 8))
