"""Lengths of axes that reshaping, slicing and padding give, over ints and named dims.

A name stands for the length of some axis, so it is never negative.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Call, Dim, Linear
from whorl.ir.intervals import Interval

FAR = (1 << 31) - 1
"""Slice ends at or beyond this mean "to the end of the axis", as exporters write them."""


def bounds(dim: Dim) -> tuple[float, float]:
    """The smallest and the largest number a dim can be; infinite where nothing bounds it."""
    if isinstance(dim, int):
        return dim, dim
    if not isinstance(dim, Linear):
        return -math.inf, math.inf
    low: float = dim.constant
    high: float = dim.constant
    for atom, k in dim.terms:
        least, most = (0, math.inf) if isinstance(atom, str) else _call_bounds(atom)
        low += k * (least if k > 0 else most)
        high += k * (most if k > 0 else least)
    return low, high


def interval_of_counts(known: np.ndarray | None) -> Interval:
    """The interval of lengths or indices, which are never negative, from the dims that inference knows."""
    largest = int(np.iinfo(np.int64).max)
    if known is None or not known.size:
        return Interval(0, largest)
    lows, highs = zip(*(bounds(dim) for dim in known.flat), strict=True)
    high = max(highs)
    return Interval(max(0, int(min(lows))), int(high) if math.isfinite(high) else largest)


def _call_bounds(atom: Call) -> tuple[float, float]:
    lows, highs = zip(*map(bounds, atom.args), strict=True)
    match atom.kind:
        case "min":
            return min(lows), min(highs)
        case "max":
            return max(lows), max(highs)
        case "mul" if min(lows) >= 0:
            return math.prod(lows), math.inf if math.inf in highs else math.prod(highs)
        case "floor" if lows[0] >= 0 and lows[1] >= 0:
            return 0, highs[0]
        case "floor" if lows[1] > 0:
            return lows[0], max(highs[0], -1)
        case "mod" if lows[1] >= 0:
            return 0, highs[1] - 1
        case "less" | "equal":
            return 0, 1
        case _:
            pass
    return -math.inf, math.inf


def at_most(a: Dim, b: Dim) -> bool:
    """True only when `a <= b` is proved."""
    return bounds(b - a)[0] >= 0


def minimum(a: Dim, b: Dim) -> Dim:
    """The smaller of two dims, as simple as can be proved."""
    if at_most(a, b):
        return a
    return b if at_most(b, a) else dims.call("min", a, b)


def maximum(a: Dim, b: Dim) -> Dim:
    """The larger of two dims, as simple as can be proved."""
    if at_most(a, b):
        return b
    return a if at_most(b, a) else dims.call("max", a, b)


def nonnegative(dim: Dim) -> Dim:
    """`max(0, dim)`; `max(0, max(0, a) - c)` with c >= 0 is `max(0, a - c)`."""
    if isinstance(dim, Linear) and len(dim.terms) == 1 and dim.constant <= 0:
        atom, k = dim.terms[0]
        if k == 1 and isinstance(atom, Call) and atom.kind == "max" and 0 in atom.args and len(atom.args) == 2:
            inner = next(arg for arg in atom.args if arg != 0)
            return maximum(0, inner + dim.constant)
    return maximum(0, dim)


def ceil_div(dim: Dim, by: int) -> Dim:
    """`dim / by`, rounded up; `by` is positive."""
    return dims.call("floor", dim + (by - 1), by)


def quotient(numerators: Iterable[Dim], denominators: Iterable[Dim]) -> Dim:
    """The product of some dims over that of others, the division being exact and by nothing that is 0."""
    top, above = _factors(numerators)
    bottom, below = _factors(denominators)
    if not bottom or UNKNOWN in above or UNKNOWN in below:
        return UNKNOWN
    if not top:
        return 0
    left = []
    for factor in below:
        if factor in above:
            above.remove(factor)
        else:
            left.append(factor)
    shared = math.gcd(top, bottom)
    return dims.call("floor", dims.product([top // shared, *above]), dims.product([bottom // shared, *left]))


def _factors(product: Iterable[Dim]) -> tuple[int, list[Dim]]:
    """A product as one integer and factors that have none inside."""
    number, rest = 1, []
    for dim in product:
        if isinstance(dim, int):
            number *= dim
        elif isinstance(dim, Linear):
            content = math.gcd(dim.constant, *(k for _, k in dim.terms))
            number *= content
            rest += _primitive(dims.linear({atom: k // content for atom, k in dim.terms}, dim.constant // content))
        else:
            rest.append(dim)
    return number, rest


def _primitive(dim: Dim) -> list[Dim]:
    if isinstance(dim, Linear) and len(dim.terms) == 1 and not dim.constant:
        atom, k = dim.terms[0]
        if k == 1 and isinstance(atom, Call) and atom.kind == "mul":
            return list(atom.args)
    return [dim]


def slice_ends(length: int, start: int, end: int, step: int) -> tuple[int, int]:
    """First index and the index to stop before, clamped as ONNX Slice says; the stop of a negative step may be -1."""
    start, end = (v + length if v < 0 else v for v in (start, end))
    if step > 0:
        return min(max(start, 0), length), min(max(end, 0), length)
    return min(max(start, 0), length - 1), min(max(end, -1), length - 1)


def slice_length(length: Dim, start: Dim, end: Dim, step: int) -> Dim:
    """How many elements `start:end:step` takes of an axis; unknown where the clamping cannot be followed."""
    if isinstance(length, int) and isinstance(start, int) and isinstance(end, int):
        return len(range(*slice_ends(length, start, end, step), step))
    if step > 0:
        first, stop = _from_front(start, length, 2), minimum(_from_front(end, length, 2), length)
        span = minimum(stop - first, stop)
    else:
        first, stop, last = _from_front(start, length, 1), _from_front(end, length, 1), length - 1
        span = _clamped(first, 0, last) - _clamped(stop, -1, last)
    return nonnegative(ceil_div(span, abs(step)))


def _clamped(value: Dim, low: int, high: Dim) -> Dim:
    return high if at_most(high, value) else minimum(maximum(value, low), high)


def _from_front(value: Dim, length: Dim, near: int) -> Dim:
    """A slice end counted from the front of the axis; unknown where its sign is not proved.

    `length - k` with `k <= near` is negative only where counting from either side gives an empty slice.
    """
    if isinstance(value, int):
        if value >= FAR:
            return length
        return -1 if value <= -FAR else value if value >= 0 else value + length
    low, high = bounds(value)
    if low >= 0 or any(dims.equal(value, length - k) for k in range(1, near + 1)):
        return value
    return value + length if high < 0 else UNKNOWN
