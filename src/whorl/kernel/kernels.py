"""Kernels: whole products of matrices and convolutions that a program calls, and what each of them means."""

from __future__ import annotations

import math

import numpy as np

from whorl.ir.dtypes import BY_NAME
from whorl.kernel.convolutions import CONVOLUTIONS
from whorl.kernel.kernel import Kernel
from whorl.ops.linear.packed_weights import from_panels, panels_shape

_AT_ONCE = 64
NARROW = frozenset(BY_NAME[name] for name in ("float16", "bfloat16", "int8", "uint8"))
"""Element types of matrices that kernels widen to float32 as they read them."""


def _row_product(y: np.ndarray, x: np.ndarray, b: np.ndarray, inner: int, columns: int) -> None:
    y[...] = x @ b.reshape(inner, columns)


def _panel_product(
    c: np.ndarray, scratch: np.ndarray, a: np.ndarray, b: np.ndarray, rows: int, inner: int, columns: int, width: int
) -> None:
    matrix = from_panels(b.reshape(panels_shape(inner, columns, width)), columns).astype(a.dtype)
    c.reshape(rows, columns)[...] = a.reshape(rows, inner) @ matrix


def _panel_extents(rows: int, inner: int, columns: int, width: int, dtype: np.dtype) -> tuple[int, ...]:
    count, _, width = panels_shape(inner, columns, width)
    return rows * columns, rows * inner, rows * inner, count * inner * width


def _work(*numbers: int) -> int:
    """Products of two numbers, many of which are taken in the time of one statement."""
    return math.prod(numbers[:3]) // _AT_ONCE


def _steps(*numbers: int) -> int:
    return math.prod(numbers[:3])


KERNELS = {
    kernel.name: kernel
    for kernel in (
        Kernel("row_product", 1, lambda k, n, dtype: (n, k, k * n), _row_product, work=_work, steps=_steps),
        Kernel("panel_product", 2, _panel_extents, _panel_product, narrow={3: NARROW}, work=_work, steps=_steps),
        *CONVOLUTIONS,
    )
}
"""`row_product`: y[N] = x[K] @ B[K, N], numbers K, N. `panel_product`: C[M, N] = A[M, K] @ B with B in panels and M * K
elements of scratch after C, numbers M, K, N and the width of panels. float32 or float64, panels
with float32 of float16, bfloat16, int8 or uint8 too. Each element is one sum in
ascending order of k from 0, every step fused where the machine can: |error| <= K * eps * sum |a| |b|. Infinities and
NaN follow from that sum."""
