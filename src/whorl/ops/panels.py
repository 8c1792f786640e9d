"""Matrices in panels: the order in memory in which a product of matrices reads its right operand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

PANEL_BYTES = 128
"""The width of a panel: a matrix is cut into panels of so many bytes of columns, each of which is row-major."""


def panel_width(dtype: np.dtype) -> int:
    """The columns of a panel."""
    return PANEL_BYTES // dtype.itemsize


def panels_shape(inner: int, columns: int, dtype: np.dtype) -> tuple[int, int, int]:
    """The shape of a matrix in panels; the last panel is filled up with columns that do not count."""
    width = panel_width(dtype)
    return -(-columns // width), inner, width


def in_panels(matrix: np.ndarray) -> np.ndarray:
    """A matrix [K, N] in panels, in memory that starts at a cache line."""
    count, inner, width = panels_shape(matrix.shape[0], matrix.shape[1], matrix.dtype)
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
