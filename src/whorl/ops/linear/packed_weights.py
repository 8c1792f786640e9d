"""Packed weights: the order in memory in which a product of matrices reads its right operand.

A matrix is cut into panels of columns that lie one after the other. Wide panels are for few rows, where reading the
matrix is the work.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

FEW_ROWS = 3
"""Rows up to which a product takes as long as reading its matrix."""
PANEL_BYTES, WIDE_PANEL_BYTES = 128, 256
"""A matrix is cut into panels of so many bytes of columns, each of which is row-major; wide ones are for few rows."""


def panel_width(rows: int, dtype: np.dtype) -> int:
    """The columns of a panel, for products of so many rows."""
    return (WIDE_PANEL_BYTES if rows <= FEW_ROWS else PANEL_BYTES) // dtype.itemsize


def panels_shape(inner: int, columns: int, width: int) -> tuple[int, int, int]:
    """The shape of a matrix in panels; the last panel is filled up with columns that do not count."""
    return -(-columns // width), inner, width


def in_panels(matrix: np.ndarray, width: int) -> np.ndarray:
    """A matrix [K, N] in panels, in memory that starts at a cache line."""
    count, inner, _ = panels_shape(matrix.shape[0], matrix.shape[1], width)
    panels = aligned_empty((count, inner, width), matrix.dtype)
    whole = matrix.shape[1] // width
    split = matrix[:, : whole * width].reshape(inner, whole, width)
    panels[:whole] = split.transpose(1, 0, 2)
    if whole < count:
        panels[whole] = 0
        panels[whole, :, : matrix.shape[1] - whole * width] = matrix[:, whole * width :]
    return panels


def from_panels(panels: np.ndarray, columns: int) -> np.ndarray:
    """The matrix [K, N] that lies in panels."""
    count, inner, width = panels.shape
    return panels.transpose(1, 0, 2).reshape(inner, count * width)[:, :columns]


def aligned_empty(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """An array without contents that starts at a cache line, so that no vector of it lies in two."""
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + 64, np.uint8)
    start = -memory.__array_interface__["data"][0] % 64
    return memory[start : start + size].view(dtype).reshape(tuple(shape))
