"""Value ranges as intervals that hold every element of a tensor."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, COMPUTED_FLOATS, INTEGERS

Number = int | float


class Interval(Struct, frozen=True):
    """All elements lie in [low, high], or are NaN where `nan`; integers may also lie below the dim `below`."""

    low: Number
    high: Number
    nan: bool = False
    below: Dim | None = None

    @property
    def is_point(self) -> bool:
        return self.low == self.high and not self.nan

    @property
    def is_finite(self) -> bool:
        return not self.nan and math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def has_zero(self) -> bool:
        """Whether an element may be 0."""
        return self.low <= 0 <= self.high

    @property
    def has_no_sign(self) -> bool:
        """Whether no element is negative, -0 or NaN: of floats, 0 may be either zero."""
        return not self.nan and (self.low > 0 or (self.low == 0 and isinstance(self.low, int)))


Intervals = Sequence[Interval | None]
"""Intervals of operands; None for an omitted one, and for element types without an order."""
TRUTH = Interval(0, 1)


def truth(answer: bool | None) -> Interval:
    """The interval of a comparison; None for an answer that depends on the elements."""
    return TRUTH if answer is None else Interval(int(answer), int(answer))


def whole(dtype: np.dtype) -> Interval | None:
    """The interval of an element type; None for types that have no order."""
    if dtype == BOOL:
        return TRUTH
    if dtype in INTEGERS and dtype.kind in "iu":
        info = np.iinfo(dtype)
        return Interval(int(info.min), int(info.max))
    return Interval(-math.inf, math.inf, True) if dtype in COMPUTED_FLOATS else None


def of_array(array: np.ndarray) -> Interval | None:
    """The interval of the elements of a constant; None for no elements."""
    if whole(array.dtype) is None or not array.size:
        return None
    if array.dtype.kind in "iub":
        return Interval(int(array.min()), int(array.max()))
    wide = array.astype(np.float64)
    nan = np.isnan(wide)
    if nan.all():
        return Interval(-math.inf, math.inf, True)
    return Interval(float(wide[~nan].min()), float(wide[~nan].max()), bool(nan.any()))


def union(intervals: Iterable[Interval | None]) -> Interval | None:
    """The interval of all elements of several; None as soon as one is None."""
    known: list[Interval] = []
    for each in intervals:
        if each is None:
            return None
        known.append(each)
    if not known:
        return None
    below = known[0].below if all(each.below == known[0].below for each in known) else None
    nan = any(each.nan for each in known)
    return Interval(min(each.low for each in known), max(each.high for each in known), nan, below)


def within(interval: Interval, dtype: np.dtype) -> Interval | None:
    """The interval of an exact result in an element type: integers that leave the type's range wrap."""
    limits = whole(dtype)
    if limits is None or dtype.kind not in "iub":
        return interval if limits is not None else None
    return interval if limits.low <= interval.low and interval.high <= limits.high else limits


def corners(function: Callable[[Any, Any], Any], operands: Intervals, dtype: np.dtype) -> Interval | None:
    """The interval of a sum, difference or product, which takes its extremes at the ends of its operands.

    Floats are computed in their own type, so that the ends are rounded as the elements are.
    """
    a, b = operands
    if a is None or b is None:
        return None
    ends = [(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    if dtype.kind in "iu":
        values = [function(int(x), int(y)) for x, y in ends]
        return within(Interval(min(values), max(values)), dtype)
    if not a.is_finite or not b.is_finite:
        return whole(dtype)
    with np.errstate(all="ignore"):
        rounded = [float(function(dtype.type(x), dtype.type(y))) for x, y in ends]
    return Interval(min(rounded), max(rounded))
