"""Constants: bytes of the `.bin`, which is mapped into memory when one of them is first read."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from whorl.formats.openvino.codes import problem
from whorl.formats.openvino.weights.stored_types import StoredType
from whorl.ir.dtypes import STRING
from whorl.ir.elements.mapping import map_file
from whorl.ir.elements.packed import Packed

MAX_STRINGS = 1 << 24


class Weights(Struct, frozen=True):
    """The bytes that Const layers point into: a file, bytes, or nothing where the net comes without.

    `stamp`: when the file was last written, and its size, as the model was read; None where it is missing.
    """

    source: Path | bytes | None
    stamp: tuple[int, int] | None = None

    @property
    def size(self) -> int:
        """The number of bytes. Errors: LoadError OV107 where the file is missing."""
        if not isinstance(self.source, Path):
            return len(self.source or b"")
        if self.stamp is None:
            raise problem("OV107", f"the weights {self.source.name!r} are missing", fix="put the .bin beside the .xml")
        return self.stamp[1]

    def bytes_at(self, offset: int, size: int) -> memoryview:
        """A range of bytes, which the caller has checked to lie inside. Errors: LoadError OV107."""
        if not isinstance(self.source, Path):
            return memoryview(self.source or b"")[offset : offset + size]
        try:
            with self.source.open("rb") as file:
                status = os.fstat(file.fileno())
                if (status.st_mtime_ns, status.st_size) != self.stamp:
                    message = f"the weights {self.source.name!r} have changed since the model was read"
                    raise problem("OV107", message, fix="read the model again")
                return memoryview(map_file(file))[offset : offset + size]
        except (OSError, ValueError) as error:
            raise problem("OV107", f"the weights {self.source.name!r} cannot be read: {error}") from None


def weights_in(path: Path) -> Weights:
    """The weights in a file. Errors: LoadError OV107."""
    try:
        status = path.stat() if path.is_file() else None
    except (OSError, ValueError) as error:
        raise problem("OV107", f"the weights {path.name!r} cannot be read: {error}") from None
    return Weights(path, None if status is None else (status.st_mtime_ns, status.st_size))


class StoredArray(Struct, frozen=True):
    """A constant whose bytes lie in the weights; read on demand, and decoded where the stored form is not NumPy's.

    `stored` is the element type in the file; `dtype` the one that it is computed with.
    """

    weights: Weights
    offset: int
    stored: StoredType
    shape: tuple[int, ...]

    @property
    def dtype(self) -> np.dtype:
        return self.stored.dtype

    @property
    def nbytes_stored(self) -> int:
        """The bytes that the elements take in the file."""
        return self.stored.size(math.prod(self.shape))

    def data(self) -> memoryview:
        """The bytes as the file has them."""
        return self.weights.bytes_at(self.offset, self.nbytes_stored)

    def numpy(self) -> np.ndarray:
        count = math.prod(self.shape)
        if not count:
            return np.zeros(self.shape, self.dtype)
        return self.stored.decode(self.data(), count).reshape(self.shape)


def constant(weights: Weights, offset: int, size: int, stored: StoredType, shape: tuple[int, ...]) -> Any:
    """The elements of a Const layer: an array, or one that is read on demand. Errors: LoadError OV401, OV402."""
    need = size if stored.dtype == STRING else stored.size(math.prod(shape))
    if size < need:
        text = f"{stored.name}[{', '.join(map(str, shape))}]"
        raise problem("OV402", f"the constant has {size} bytes, {text} takes {need}")
    total = weights.size if size else offset
    if offset + size > total:
        raise problem(
            "OV401",
            f"the constant ends at byte {offset + size} of weights that have {total}",
            fix="is it the right .bin?",
        )
    if stored.dtype == STRING:
        return _strings(bytes(weights.bytes_at(offset, size)), shape)
    if stored.is_packed and need:
        return Packed(np.frombuffer(weights.bytes_at(offset, need), np.uint8), stored.dtype, shape)
    return StoredArray(weights, offset, stored, shape)


def _strings(data: bytes, shape: tuple[int, ...]) -> np.ndarray:
    """Strings: their number, where each begins and the last one ends, as int32; then the bytes of all."""
    count = math.prod(shape)
    count_stored = int.from_bytes(data[:4], "little", signed=True) if len(data) >= 4 else 0
    if count_stored != count or count > MAX_STRINGS:
        raise problem("OV406", f"the constant holds {count_stored} strings, its shape {list(shape)} takes {count}")
    if len(data) < 8 + 4 * count:
        if not count:
            return np.empty(shape, STRING)
        raise problem("OV406", f"the constant has {len(data)} bytes, too few for the places of {count} strings")
    ends = np.frombuffer(data, "<i4", count + 1, 4).astype(np.int64)
    body = data[8 + 4 * count :]
    if ends[0] < 0 or ends[-1] > len(body) or (np.diff(ends) < 0).any():
        raise problem("OV406", f"the constant has places of strings outside its {len(body)} bytes of text")
    array = np.empty(count, STRING)
    array[:] = [
        body[low:high].decode("utf-8", "surrogateescape")
        for low, high in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    ]
    return array.reshape(shape)
