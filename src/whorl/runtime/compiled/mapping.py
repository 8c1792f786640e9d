"""Memory that grows without a copy of its contents: large pieces, mapped each for itself, which Linux moves."""

from __future__ import annotations

import mmap
import sys

import numpy as np

from whorl.debug import debug, poison

LEAST = 1 << 20
"""Bytes from which memory is mapped for itself: whole pages are few beside it."""


def map_memory(size: int) -> mmap.mmap | None:
    """Memory of its own; None where it is small, or where it could not grow in it. Errors: OSError without memory."""
    if sys.platform != "linux" or size < LEAST:
        return None
    mapping = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    mapping.madvise(mmap.MADV_HUGEPAGE)
    if debug().poisons:
        poison(bytes_of(mapping))
    return mapping


def bytes_of(mapping: mmap.mmap) -> np.ndarray:
    """All of it as an array, which has to be gone before it grows."""
    return np.frombuffer(mapping, np.uint8)


def resize(mapping: mmap.mmap, size: int) -> bool:
    """Whether it has this size now, with its contents at another address perhaps; False while an array shows it.

    Errors: OSError where there is no memory.
    """
    before = len(mapping)
    try:
        mapping.resize(size)
    except BufferError:
        return False
    if debug().poisons and size > before:
        poison(bytes_of(mapping)[before:])
    return True
