"""Packed filters: blocks of features, the order in memory in which a convolution reads its filters."""

from __future__ import annotations

import numpy as np

from whorl.ir.elements.mapping import note_read
from whorl.kernels.aligned import aligned_empty
from whorl.kernels.machine import FILTER_BLOCK


def filter_blocks(features: int) -> list[tuple[int, int, int]]:
    """Blocks of almost equal height: (height, first feature, how many), the higher ones first."""
    count = -(-features // FILTER_BLOCK)
    height, higher = divmod(features, max(1, count))
    blocks = [(height + 1, 0, higher), (height, higher * (height + 1), count - higher)]
    return [block for block in blocks if block[2]]


def pack_filters(filters: np.ndarray) -> np.ndarray:
    """Filters [group, features, taps] as [group, features * taps]: block by block, tap by tap, a feature an element."""
    group, features, taps = filters.shape
    packed = aligned_empty((group, features * taps), filters.dtype)
    for height, first, count in filter_blocks(features):
        part = filters[:, first : first + height * count].reshape(group, count, height, taps)
        target = packed[:, first * taps : (first + height * count) * taps].reshape(group, count, taps, height)
        target[...] = part.swapaxes(2, 3)
    note_read(filters)
    return packed


def unpack_filters(packed: np.ndarray, features: int) -> np.ndarray:
    """The filters [features, taps] of one group."""
    taps = packed.size // max(1, features)
    filters = np.empty((features, taps), packed.dtype)
    for height, first, count in filter_blocks(features):
        part = packed[first * taps : (first + height * count) * taps].reshape(count, taps, height)
        filters[first : first + height * count] = part.swapaxes(1, 2).reshape(height * count, taps)
    return filters
