"""Packed weights: the order in memory in which a product of matrices reads its right operand.

A matrix is cut into panels of columns that lie one after the other, each row-major, so that a product reads memory in
order whatever the matrix's width.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided

from whorl.ir.elements.mapping import note_read
from whorl.kernels.aligned import aligned_empty
from whorl.kernels.machine import FEW_ROWS, PANEL_BYTES, WIDE_PANEL_BYTES


def panel_width(rows: int, dtype: np.dtype) -> int:
    """The columns of a panel, for products of so many rows."""
    return (WIDE_PANEL_BYTES if rows <= FEW_ROWS else PANEL_BYTES) // dtype.itemsize


def packed_shape(inner: int, columns: int, width: int) -> tuple[int, int, int]:
    """The shape of a packed matrix: panels, rows, columns; the last panel is filled up with zeros."""
    return -(-columns // width), inner, width


def pack_matrix(matrix: np.ndarray, width: int) -> np.ndarray:
    """A matrix [K, N] as packed weights, in memory that starts at a cache line."""
    count, inner, _ = packed_shape(matrix.shape[0], matrix.shape[1], width)
    panels = aligned_empty((count, inner, width), matrix.dtype)
    whole = matrix.shape[1] // width
    row, column = matrix.strides
    panels[:whole] = as_strided(matrix, (whole, inner, width), (width * column, row, column), writeable=False)
    if whole < count:
        panels[whole] = 0
        panels[whole, :, : matrix.shape[1] - whole * width] = matrix[:, whole * width :]
    note_read(matrix)
    return panels


def unpack_matrix(panels: np.ndarray, columns: int) -> np.ndarray:
    """The matrix [K, N] of packed weights."""
    count, inner, width = panels.shape
    return panels.transpose(1, 0, 2).reshape(inner, count * width)[:, :columns]


# ---- bytes -----------------------------------------------------------------------------------------------------

WORD = 4
"""Bytes that a word has, whose products are added at once."""


def word_count(inner: int) -> int:
    """The words that hold so many bytes."""
    return -(-inner // WORD)


def words_of(matrix: np.ndarray) -> np.ndarray:
    """A matrix of bytes [K, N] as words [K / 4, N], the rows of which follow from low to high; filled up with zeros."""
    inner, columns = matrix.shape
    padded = np.zeros((word_count(inner) * WORD, columns), np.uint8)
    padded[:inner] = matrix.view(np.uint8)
    rows = padded.reshape(-1, WORD, columns).astype(np.uint32)
    return (rows << (8 * np.arange(WORD, dtype=np.uint32))[:, None]).sum(1, dtype=np.uint32).view(np.int32)
