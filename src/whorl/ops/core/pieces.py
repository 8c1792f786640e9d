"""Linear algebra of large matrices piece by piece, so that limits and signals act between two calls of NumPy."""

from __future__ import annotations

import math

import numpy as np

MOST = 1 << 31
"""Products of two numbers in a piece."""
LARGE, COLUMNS = 512, 64
"""Rows of a matrix whose determinant NumPy computes in one call, under the interpreter's lock; columns that
are eliminated together."""


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


def determinants(x: np.ndarray) -> np.ndarray:
    """As `np.linalg.det`: the determinants of matrices [..., n, n]."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2] or x.shape[-1] < LARGE:
        return np.asarray(np.linalg.det(x))
    result = [_determinant(matrix.copy()) for matrix in x.reshape(-1, *x.shape[-2:])]
    return np.array(result, x.dtype).reshape(x.shape[:-2])


def _determinant(a: np.ndarray) -> np.floating:
    """By elimination with row pivots, a few columns at a time; the matrix is overwritten."""
    sign, n = a.dtype.type(1), len(a)
    for first in range(0, n, COLUMNS):
        stop = min(first + COLUMNS, n)
        for k in range(first, stop):
            pivot = k + int(np.argmax(np.abs(a[k:, k])))
            if a[pivot, k] == 0:
                return a.dtype.type(0)
            if pivot != k:
                a[[k, pivot]] = a[[pivot, k]]
                sign = -sign
            a[k + 1 :, k] /= a[k, k]
            a[k + 1 :, k + 1 : stop] -= np.outer(a[k + 1 :, k], a[k, k + 1 : stop])
        for k in range(first + 1, stop):
            a[k, stop:] -= a[k, first:k] @ a[first:k, stop:]
        a[stop:, stop:] -= matmul(a[stop:, first:stop], a[first:stop, stop:])
    return sign * np.multiply.reduce(np.diagonal(a))
