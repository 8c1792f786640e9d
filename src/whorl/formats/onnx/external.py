"""Initializers: bytes in the file, or in a file beside it that is mapped into memory when first read."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from whorl.errors import LoadError
from whorl.formats.onnx.dtypes import from_onnx
from whorl.formats.onnx.protos import TensorProto
from whorl.formats.onnx.tensors import array_of, from_bytes, shape_of
from whorl.formats.onnx.wire import OWN_FILES
from whorl.ir.constants import LazyArray, MissingArray, as_array
from whorl.ir.dtypes import STRING, bits, name_of
from whorl.ir.elements.file_views import FileArray
from whorl.ir.elements.mapping import MappedFile, map_file
from whorl.ir.elements.packed import Packed, packed_size
from whorl.kernels.aligned import aligned_empty


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
        with path.open("rb") as file:
            data = memoryview(map_file(file))[offset : offset + length]
        return Packed(np.frombuffer(data, np.uint8), dtype, shape)
    return FileArray(path, offset, dtype, shape)


def _inside_model(tensor: TensorProto, entries: dict[str, str], what: str) -> Any:
    """A tensor whose bytes are read from the model file that it is in."""
    dtype, shape = from_onnx(tensor.data_type, what), shape_of(tensor.dims, what)
    if dtype == STRING:
        raise LoadError(f"{what} holds strings as raw bytes, which ONNX does not allow")
    first, length = int(entries["offset"]), int(entries["length"])
    file = OWN_FILES[entries["location"]]
    data = memoryview(file)[first : first + length]
    if not isinstance(file, MappedFile):
        return from_bytes(_copy(data), dtype, shape, what)
    if bits(dtype) < 8 and length == packed_size(dtype, shape):
        return Packed(np.frombuffer(data, np.uint8), dtype, shape)
    return from_bytes(data, dtype, shape, what)


def _copy(data: memoryview) -> memoryview:
    """A copy at a cache line: in a file tensors begin anywhere, and all of it would live as long as one of them."""
    memory = aligned_empty((len(data),), np.dtype(np.uint8))
    memory[:] = np.frombuffer(data, np.uint8)
    return memory.data.toreadonly()


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
