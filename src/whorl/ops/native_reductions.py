"""Native forms of reductions, on the views that a kernel builder `k` makes: totals, extremes, places of extremes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from whorl.ir.dtypes import BOOL, INT64, is_float
from whorl.ops.index_maps import inserted

ROW = 8
"""Elements along the last axis from which a reduction over other axes goes row by row, which is how memory lies."""


def mapped_elements(k: Any, function: Callable[..., Any], *views: Any, cost: int = 1) -> Any:
    """A tensor of the first view's shape: a function of the elements that broadcasting puts at each index."""
    shape = views[0].shape
    given = [x if x.shape == shape else k.reread(x) for x in views]
    probe = function(*(k.variable(x.dtype, "probe") for x in views))

    def at(index: Any) -> Any:
        return function(*(k.aligned(x, index) for x in given))

    return k.view(probe.dtype, shape, at, cost + sum(x.cost for x in given))


def reduced_shape(shape: Sequence[int], axes: Sequence[int], keepdims: bool) -> tuple[int, ...]:
    if keepdims:
        return tuple(1 if axis in axes else n for axis, n in enumerate(shape))
    return tuple(n for axis, n in enumerate(shape) if axis not in axes)


def reduced(
    k: Any, x: Any, axes: Sequence[int], keepdims: bool, how: str, finish: Callable[[Any], Any] | None = None
) -> Any:
    """The sum ("sum"), product ("mul") or extreme ("max", "min") along axes, each result passed through `finish`, kept.

    `for lines: acc = start; for elements: acc = how(acc, x)`. Sums along lines that hold the last axis may be taken in
    any order; others, and all products, go from the first element to the last.
    """
    axes = sorted(axes)
    shape = reduced_shape(x.shape, axes, keepdims)
    start = k.const(_neutral(how, x.dtype), x.dtype)
    if x.dtype == BOOL:
        how = {"max": "or", "min": "and"}[how]
    last = len(x.shape) - 1
    if last >= ROW > 0 or (axes and last not in axes and x.shape[last] >= ROW and x.size > math.prod(shape)):
        return _row_by_row(k, x, axes, shape, keepdims, "add" if how == "sum" else how, start, finish)

    def at(index: Any) -> Any:
        outer = [i for axis, i in enumerate(index) if axis not in axes] if keepdims else list(index)

        def step(total: Any, inner: Any) -> Any:
            return k.apply(how, total, x.at(_merged(outer, inner, axes)))

        total = k.reduce([x.shape[axis] for axis in axes], start, step)
        return total if finish is None else finish(total)

    dtype = x.dtype if finish is None else finish(k.variable(x.dtype, "probe")).dtype
    return k.kept(k.view(dtype, shape, at, x.size))
