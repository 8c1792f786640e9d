"""Initializers: bytes in the file, or in a file beside it that is mapped into memory when first read."""

from __future__ import annotations

import math
import os
import weakref
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.errors import LoadError
from whorl.formats.onnx.dtypes import from_onnx
from whorl.formats.onnx.protos import TensorProto
from whorl.formats.onnx.tensors import array_of, from_bytes, shape_of
from whorl.formats.onnx.wire import OWN_FILES
from whorl.ir.constants import LazyArray, MissingArray, as_array
from whorl.ir.dtypes import STRING, bits, name_of
from whorl.ir.elements.mapping import MappedFile, mapped_file
from whorl.ir.elements.packed import Packed, packed_size


class FileArray(Struct, frozen=True):
    """A tensor whose bytes lie in a file; mapped, not copied, when `numpy()` is called (packed types are unpacked)."""

    path: Path
    offset: int
    length: int
    dtype: np.dtype
    shape: tuple[int, ...]

    def numpy(self) -> np.ndarray:
        """The tensor: the same array for all who ask while one of them keeps it, as what they make of it may be."""
        if not self.length:
            return np.zeros(self.shape, self.dtype)
        try:
            mapping, identity = _mapped(self.path)
            data = memoryview(mapping)[self.offset : self.offset + self.length]
        except (OSError, ValueError) as error:
            raise LoadError(f"external data {self.path.name!r} cannot be read: {error}") from None
        key = (identity, self.offset, self.dtype, self.shape)
        array = _ARRAYS.get(key)
        if array is None:
            array = from_bytes(data, self.dtype, self.shape, f"external data {self.path.name!r}")
            _ARRAYS[key] = array
        return array


Identity = tuple[int, ...]
_MAPPINGS: weakref.WeakValueDictionary[Identity, MappedFile] = weakref.WeakValueDictionary()
"""The files that are mapped now, by what identifies their contents."""
_ARRAYS: weakref.WeakValueDictionary[tuple[Identity, int, np.dtype, tuple[int, ...]], np.ndarray]
_ARRAYS = weakref.WeakValueDictionary()
"""The tensors in them that are used now."""


def _mapped(path: Path) -> tuple[MappedFile, Identity]:
    """A file in memory, mapped once for all the tensors in it: every mapping costs a file descriptor."""
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        key = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
        mapping = _MAPPINGS.get(key)
        if mapping is None:
            mapping = _MAPPINGS[key] = mapped_file(file.fileno())
        return mapping, key


def initializer_value(
    tensor: TensorProto, folder: Path | None, what: str, is_needed: bool = True
) -> np.ndarray | LazyArray:
    """An initializer as an array, or as a FileArray where its bytes are outside the model file.

    Where that file is missing, it is a MissingArray unless it `is_needed`.
    """
    if tensor.data_location != TensorProto.EXTERNAL:
        return array_of(tensor, what)
    entries = {entry.key: entry.value for entry in tensor.external_data}
    if entries.get("location") in OWN_FILES:
        return _inside_model(tensor, entries, what)
    if not all(isinstance(text, str) for text in entries.values()):
        raise LoadError(f"{what} names its file in bytes that are not UTF-8", fix="the file is damaged")
    dtype, shape = from_onnx(tensor.data_type, what), shape_of(tensor.dims, what)
    if dtype == STRING:
        raise LoadError(f"{what} holds strings outside the model file, which ONNX does not allow")
    try:
        path = _inside(entries.get("location", ""), folder, what)
    except MissingFile as missing:
        if is_needed:
            raise
        return MissingArray(dtype, shape, missing)
    need = (math.prod(shape) * bits(dtype) + 7) // 8
    offset, length = _number(entries, "offset", 0, what), _number(entries, "length", need, what)
    size = path.stat().st_size
    if length != need:
        raise LoadError(f"{what} has {length} bytes outside, {name_of(dtype)}{list(shape)} takes {need}")
    if offset + length > size:
        raise LoadError(f"{what} ends at byte {offset + length} of {path.name!r}, which has {size}")
    if bits(dtype) < 8 and length:
        return Packed(np.frombuffer(memoryview(_mapped(path)[0])[offset : offset + length], np.uint8), dtype, shape)
    return FileArray(path, offset, length, dtype, shape)


def _inside_model(tensor: TensorProto, entries: dict[str, str], what: str) -> Any:
    """A tensor whose bytes are read from the model file that it is in."""
    dtype, shape = from_onnx(tensor.data_type, what), shape_of(tensor.dims, what)
    if dtype == STRING:
        raise LoadError(f"{what} holds strings as raw bytes, which ONNX does not allow")
    first, length = int(entries["offset"]), int(entries["length"])
    data = memoryview(OWN_FILES[entries["location"]])[first : first + length]
    if bits(dtype) < 8 and length == packed_size(dtype, shape):
        return Packed(np.frombuffer(data, np.uint8), dtype, shape)
    return from_bytes(data, dtype, shape, what)


def tensor_value(tensor: TensorProto, folder: Path | None, what: str) -> np.ndarray:
    """A tensor as an array, mapped where its bytes are outside the model file."""
    return as_array(initializer_value(tensor, folder, what))


def _number(entries: dict[str, str], key: str, default: int, what: str) -> int:
    text = entries.get(key, "")
    if not text:
        return default
    if not text.isdecimal() or len(text) > 18:
        raise LoadError(f"{what} has the {key} {text[:32]!r}, expected a number of bytes")
    return int(text)


class MissingFile(LoadError):
    """The file that a tensor lies in is not there, or nobody said in which folder to look."""


def _inside(location: str, folder: Path | None, what: str) -> Path:
    """The file a location names, which must be a regular file inside the model's folder, links followed."""
    if folder is None:
        raise MissingFile(
            f"{what} lies outside the model", fix="load the model by its path, so that its folder is known"
        )
    if not location:
        raise LoadError(f"{what} does not say in which file it lies")
    try:
        root = folder.resolve()
        path = (root / location).resolve()
        is_there = path.is_file()
    except (OSError, ValueError, RuntimeError) as error:
        raise LoadError(f"{what} lies in {location[:80]!r}, which is no path: {_reason(error)}") from None
    if Path(location).is_absolute() or root not in path.parents:
        raise LoadError(f"{what} lies in {location!r}, outside the model's folder", fix="put the file beside the model")
    if not is_there:
        raise MissingFile(f"{what} lies in {location!r}, which is missing", fix="put the file beside the model")
    return path


def _reason(error: Exception) -> str:
    """Why a path was refused; a loop of links is a RuntimeError before Python 3.13."""
    if isinstance(error, RuntimeError):
        return "links form a loop"
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
