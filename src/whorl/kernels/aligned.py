"""Arrays that start at a cache line, so that no vector of them lies in two."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

CACHE_LINE = 64
"""Bytes."""


def aligned_empty(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """An array without contents that starts at a cache line."""
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + CACHE_LINE, np.uint8)
    start = -memory.__array_interface__["data"][0] % CACHE_LINE
    return memory[start : start + size].view(dtype).reshape(tuple(shape))
