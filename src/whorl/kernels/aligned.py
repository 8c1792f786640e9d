"""Arrays that start at a cache line, so that no vector of them lies in two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from io import FileIO

import numpy as np

CACHE_LINE = 64
"""Bytes."""


def aligned_empty(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """An array without contents that starts at a cache line."""
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + CACHE_LINE, np.uint8)
    start = -memory.__array_interface__["data"][0] % CACHE_LINE
    return memory[start : start + size].view(dtype).reshape(tuple(shape))


def read_aligned(file: FileIO, size: int, start: int = 0) -> memoryview:
    """What a file has up to a size, read-only; the byte at `start` lies at the start of a cache line.

    NumPy asks for large pages: small ones, as a `bytes` has them, take longer to get than to fill.
    """
    before = -start % CACHE_LINE
    memory = aligned_empty((before + size,), np.dtype(np.uint8)).data[before:]
    count = 0
    while part := file.readinto(memory[count:]):
        count += part
    return memory[:count].toreadonly()
