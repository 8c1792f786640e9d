"""Sums of elements that are computed block by block, equal to the last bit to sums of the whole array."""

from __future__ import annotations

import numpy as np

from whorl.ir.dtypes import FLOAT32, is_float
from whorl.ir.elements.base import BLOCK, Elements


def row_major(array: np.ndarray) -> np.ndarray:
    """The array itself if its elements lie in row-major order, else a copy where they do."""
    return array if array.flags.c_contiguous else array.copy(order="C")


def blockwise_sum(source: Elements) -> np.ndarray:
    """The sum of all elements as `np.add.reduce` of the whole row-major array gives it; narrow floats in float32.

    NumPy halves a vector, at a multiple of eight, until a piece is short; so sums of such halves are its sums.
    """
    is_narrow = is_float(source.dtype) and source.dtype.itemsize < FLOAT32.itemsize
    kind = FLOAT32 if is_narrow else source.dtype

    def total(start: int, stop: int) -> np.ndarray:
        if stop - start <= BLOCK:
            return np.add.reduce(source.flat(start, stop).astype(kind, copy=False), dtype=kind)
        half = (stop - start) // 2
        middle = start + half - half % 8
        return np.asarray(total(start, middle) + total(middle, stop))

    with np.errstate(all="ignore"):
        return np.asarray(total(0, source.size))
