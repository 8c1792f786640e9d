"""Products of large matrices piece by piece: between two calls of NumPy, whoever computes can be told to stop."""

from __future__ import annotations

import math

import numpy as np

MOST = 1 << 31
"""Products of two numbers in a piece."""


def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """As `np.matmul`; an element is computed in one piece."""
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-2] or a.size * b.shape[-1] <= MOST:
        return np.matmul(a, b)
    shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
    result = np.empty(shape, np.result_type(a, b))
    _fill(a, b, result)
    return result


def _fill(a: np.ndarray, b: np.ndarray, result: np.ndarray) -> None:
    """The product, by halves of the longest axis of the result."""
    length = max(result.shape, default=0)
    if math.prod(result.shape) * a.shape[-1] <= MOST or length < 2:
        np.matmul(a, b, out=result)
        return
    axis = result.shape.index(length) - result.ndim
    for half in (slice(0, length // 2), slice(length // 2, None)):
        _fill(_part(a, axis, half, -1), _part(b, axis, half, -2), _part(result, axis, half, 0))


def _part(x: np.ndarray, axis: int, half: slice, summed: int) -> np.ndarray:
    """The elements that go into a half of the result; the axis that is summed over, and repeated ones, stay whole."""
    if axis == summed or x.ndim < -axis or (axis < -2 and x.shape[axis] == 1):
        return x
    return x[(..., half, *(slice(None),) * (-axis - 1))]
