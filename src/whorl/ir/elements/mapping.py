"""Arrays that lie in mapped files: their pages are given back as they have been read."""

from __future__ import annotations

import mmap
import os
import weakref
from typing import Any, BinaryIO

import numpy as np

RESIDENT = 16 << 20
"""Bytes read of a mapped file after which its pages are given back; they stay in the system's cache."""
_TOUCHED = 1 << 20
"""Bytes that reading anything may make resident: the system maps large pages."""
SPAN = 128 << 20
"""Bytes of a mapped file that one reading may touch; a larger one is done in pieces."""


Identity = tuple[int, ...]
"""What a file is known by as long as nobody writes to it: device, number there, time of the last change, size."""


def identity_of(status: os.stat_result) -> Identity:
    """The identity of the file with this status."""
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


class MappedFile(mmap.mmap):
    """A file in memory, for reading, that knows how much of it was read since its pages were given back."""

    count: int = 0
    path: str = ""
    identity: Identity | None = None
    """Which file it is, where all of it is mapped for all who read it; `path` is absolute, links followed."""

    def note(self, part: np.ndarray) -> None:
        """Count a reading, and give the pages back now and then."""
        self.count += max(part.nbytes, _TOUCHED)
        if self.count > RESIDENT:
            self.drop()

    def drop(self) -> None:
        """Give back the pages, which are read again when they are touched again."""
        self.count = 0
        if _DROPPED is not None:
            self.madvise(_DROPPED)


_DROPPED: int | None = getattr(mmap, "MADV_DONTNEED", None)
"""What tells the system to take pages back; not every system has it."""


def mapped_file(number: int, size: int = 0) -> MappedFile:
    """The file of an open descriptor, up to a size or all of it."""
    return MappedFile(number, size, access=mmap.ACCESS_READ)


_MAPPINGS: weakref.WeakValueDictionary[tuple[str, Identity], MappedFile] = weakref.WeakValueDictionary()
"""The files that are mapped now for all who read them."""


def map_file(file: BinaryIO) -> MappedFile:
    """An open file in memory, mapped once for all the arrays in it: every mapping costs a file descriptor."""
    key = os.path.realpath(file.name), identity_of(os.fstat(file.fileno()))
    mapping = _MAPPINGS.get(key)
    if mapping is None:
        mapping = _MAPPINGS[key] = mapped_file(file.fileno())
        mapping.path, mapping.identity = key
    return mapping


def mapping_of(array: np.ndarray) -> MappedFile | None:
    """The mapped file that an array lies in."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    return base if isinstance(base, MappedFile) else None


def note_read(array: np.ndarray) -> None:
    """Count the reading of a whole array if it lies in a mapped file, whose pages are then given back now and then."""
    mapping = mapping_of(array)
    if mapping is not None:
        mapping.note(array)


def gathered(part: np.ndarray) -> np.ndarray:
    """A row-major copy of an array whose neighbours in a row lie far apart, made in tiles that fit the cache.

    Where the array is strewn over too much of a mapped file, the pages of that are given back on the way.
    """
    result = np.empty(part.shape, part.dtype)
    pitch, mapping = abs(part.strides[-1]), mapping_of(part)
    touched, rest = 0, _span(part[..., :1])
    for start in range(0, part.shape[-1], _TILE):
        result[..., start : start + _TILE] = part[..., start : start + _TILE]
        touched += _TILE * max(pitch, rest)
        if mapping is not None and touched > SPAN:
            touched = 0
            mapping.drop()
    return result


_TILE = 16


def is_scattered(array: np.ndarray) -> bool:
    """Whether neighbours in a row lie further apart than other elements do."""
    return (
        array.ndim > 1
        and array.shape[-1] > 1
        and any(
            0 < abs(step) < abs(array.strides[-1])
            for step, length in zip(array.strides, array.shape, strict=True)
            if length > 1
        )
    )


def _span(array: np.ndarray) -> int:
    """The bytes from the first to the last element."""
    return array.itemsize + sum(abs(n) * (length - 1) for n, length in zip(array.strides, array.shape, strict=True))
