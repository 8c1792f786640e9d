"""Arrays by where they lie in files: what can be written down of a large array without its elements."""

from __future__ import annotations

import math
import os
import weakref
from pathlib import Path

import numpy as np
from msgspec import Struct

from whorl.errors import LoadError
from whorl.ir.dtypes import STRING
from whorl.ir.elements.mapping import Identity, identity_of, map_file, mapping_of


class FileArray(Struct, frozen=True):
    """A tensor whose elements lie in a file; mapped, not copied, when `numpy()` is called."""

    path: Path
    offset: int
    dtype: np.dtype
    shape: tuple[int, ...]

    def numpy(self) -> np.ndarray:
        """The tensor: the same array for all who ask while one of them keeps it, as what they make of it may be."""
        count = math.prod(self.shape)
        if not count:
            return np.zeros(self.shape, self.dtype)
        try:
            with self.path.open("rb") as file:
                mapping = map_file(file)
            key = (mapping.identity, self.offset, self.dtype, self.shape)
            array = _ARRAYS.get(key)
            if array is None:
                data, size = memoryview(mapping)[self.offset :], count * self.dtype.itemsize
                if len(data) < size:
                    raise ValueError(f"its {len(mapping)} bytes end before byte {self.offset + size}")
                array = _ARRAYS[key] = np.frombuffer(data, self.dtype, count).reshape(self.shape)
        except (OSError, ValueError) as error:
            raise LoadError(f"external data {self.path.name!r} cannot be read: {error}") from None
        return array


Key = tuple[Identity | None, int, np.dtype, tuple[int, ...]]
_ARRAYS: weakref.WeakValueDictionary[Key, np.ndarray] = weakref.WeakValueDictionary()
"""The tensors in mapped files that are used now."""


class FileView(Struct, frozen=True):
    """Where the elements of an array lie in a file: the first one's offset, and the strides, in bytes."""

    path: str
    identity: Identity
    offset: int
    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def file_view_of(array: np.ndarray) -> FileView | None:
    """Where an array lies in a file that is mapped as a whole; None for any other."""
    mapping = mapping_of(array)
    if mapping is None or mapping.identity is None or not array.size:
        return None
    offset = array.ctypes.data - np.frombuffer(mapping, np.uint8).ctypes.data
    return FileView(mapping.path, mapping.identity, offset, array.dtype, array.shape, array.strides)


def array_in_file(view: FileView) -> np.ndarray:
    """The array, mapped and read-only. Raises OSError or ValueError where the file is another one now."""
    with open(view.path, "rb") as file:
        if identity_of(os.fstat(file.fileno())) != view.identity:
            raise ValueError(f"{view.path!r} has changed")
        mapping = map_file(file)
    if view.dtype == STRING:
        raise ValueError("strings do not lie in files as they do in memory")
    return np.ndarray(view.shape, view.dtype, mapping, view.offset, view.strides)
