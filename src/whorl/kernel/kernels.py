"""Kernels: whole products of matrices that a program calls, and what each of them means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from whorl.ops.panels import from_panels, panels_shape


@dataclass(frozen=True)
class Kernel:
    """`run(*places, *numbers)` is the meaning, on flat arrays; `extents(*numbers)` the elements used at each place.

    The first `written` places are overwritten, none of which may overlap another place.
    """

    name: str
    written: int
    extents: Callable[..., tuple[int, ...]]
    run: Callable[..., None]


def _row_product(y: np.ndarray, x: np.ndarray, b: np.ndarray, inner: int, columns: int) -> None:
    y[...] = x @ b.reshape(inner, columns)


def _panel_product(
    c: np.ndarray, scratch: np.ndarray, a: np.ndarray, b: np.ndarray, rows: int, inner: int, columns: int
) -> None:
    matrix = from_panels(b.reshape(panels_shape(inner, columns, b.dtype)), columns)
    c.reshape(rows, columns)[...] = a.reshape(rows, inner) @ matrix


def _panel_extents(rows: int, inner: int, columns: int, dtype: np.dtype) -> tuple[int, ...]:
    count, _, width = panels_shape(inner, columns, dtype)
    return rows * columns, rows * inner, rows * inner, count * inner * width


KERNELS = {
    kernel.name: kernel
    for kernel in (
        Kernel("row_product", 1, lambda k, n, dtype: (n, k, k * n), _row_product),
        Kernel("panel_product", 2, _panel_extents, _panel_product),
    )
}
"""`row_product`: y[N] = x[K] @ B[K, N], numbers K, N. `panel_product`: C[M, N] = A[M, K] @ B with B in panels and M * K
elements of scratch after C, numbers M, K, N. float32 or float64. Each element is one sum in ascending order of k from
0, every step fused where the machine can: |error| <= K * eps * sum |a| |b|. Infinities and NaN follow from that sum."""
