"""Protobuf at the level of bytes: models are read and written without the bytes of their large tensors in between."""

from __future__ import annotations

import contextlib
import itertools
import mmap
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from whorl.ir.elements.mapping import MappedFile, mapped_file

LARGE = 1 << 14
"""Bytes from which the contents of a tensor are left in the file."""
_TOKEN = os.urandom(8).hex()
"""Marks what this process put into a message; no file can know it."""
OWN_FILES: dict[str, MappedFile | memoryview] = {}
"""The model files that are being read, mapped or in memory, by the location that their tensors name."""
_COUNT = itertools.count()

_INSIDE: dict[str, dict[int, str]] = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: "tensor"},
    "function": {7: "node"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph"},
    "tensor": {},
}
"""The fields of each message that may hold tensors, and what messages they are."""
_RAW_DATA, _EXTERNAL_DATA, _DATA_LOCATION = 9, 13, 14
_VARINT, _BYTES = 0, 2
_EXTERNAL = bytes([_DATA_LOCATION << 3 | _VARINT, 1])

Field = tuple[int, int, int, int]
"""The number of a field, where it begins, where its payload begins, and where it ends."""


def _varint(data: bytes | memoryview | mmap.mmap, at: int) -> tuple[int, int]:
    """A number and the place after it."""
    result = shift = 0
    while True:
        byte = data[at]
        at += 1
        result |= (byte & 127) << shift
        if byte < 128:
            return result, at
        shift += 7
        if shift > 63:
            raise ValueError("a number is too long")


def _as_varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def _fields(data: bytes | memoryview | mmap.mmap, start: int, end: int) -> Iterator[Field]:
    while start < end:
        key, at = _varint(data, start)
        payload = at
        match key & 7:
            case 2:
                length, payload = _varint(data, at)
                at = payload + length
            case 0:
                _, at = _varint(data, at)
            case 1:
                at += 8
            case 5:
                at += 4
            case kind:
                raise ValueError(f"there are no fields of kind {kind}")
        if at > end:
            raise ValueError("a field is longer than what it is in")
        yield key >> 3, start, payload, at
        start = at


def _sized(number: int, payload: bytes) -> bytes:
    return _as_varint(number << 3 | _BYTES) + _as_varint(len(payload)) + payload


# ---- reading -----------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def skeleton(path: Path) -> Iterator[bytes]:
    """The bytes of a model whose large tensors name a place in its own file, which stays mapped as long as needed."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < LARGE:
            yield file.read()
            return
        mapping = mapped_file(file.fileno(), size)
    with _named(mapping) as data:
        mapping.drop()
        yield data


def skeleton_of(data: memoryview) -> contextlib.AbstractContextManager[bytes]:
    """The same for the bytes of a model in memory, which its large tensors are copied from as they are read."""
    return _named(data)


@contextlib.contextmanager
def _named(source: MappedFile | memoryview) -> Iterator[bytes]:
    location = f"{_TOKEN}:{next(_COUNT)}"
    OWN_FILES[location] = source
    try:
        yield _thinned(source, location)
    finally:
        del OWN_FILES[location]


def _thinned(source: MappedFile | memoryview, location: str) -> bytes:
    try:
        return _without_tensors(source, 0, len(source), "model", location)
    except (IndexError, ValueError, RecursionError):
        return bytes(source[:])


def _without_tensors(data: mmap.mmap | memoryview, start: int, end: int, message: str, location: str) -> bytes:
    """A message with every large tensor's bytes replaced by their place."""
    inside, pieces, copied = _INSIDE[message], [], start
    for number, begin, payload, stop in _fields(data, start, end):
        if stop - payload <= LARGE:
            continue
        if message == "tensor" and number == _RAW_DATA:
            entries = {"location": location, "offset": str(payload), "length": str(stop - payload)}
            piece = b"".join(_sized(_EXTERNAL_DATA, _entry(*entry)) for entry in entries.items()) + _EXTERNAL
        elif number in inside:
            piece = _sized(number, _without_tensors(data, payload, stop, inside[number], location))
        else:
            continue
        pieces += [data[copied:begin], piece]
        copied = stop
    return b"".join([*pieces, data[copied:end]])


def outside_large_tensors(data: bytes | memoryview) -> bytes:
    """The bytes of a model without the contents of its large tensors, a zero in their place; damaged ones whole."""
    contents: list[tuple[int, int]] = []
    try:
        _find_contents(data, 0, len(data), "model", contents)
    except (IndexError, ValueError, RecursionError):
        return bytes(data)
    ends, starts = [0, *(stop for _, stop in contents)], [*(start for start, _ in contents), len(data)]
    return b"\0".join([data[end:start] for end, start in zip(ends, starts, strict=True)])


def _find_contents(
    data: bytes | memoryview, start: int, end: int, message: str, contents: list[tuple[int, int]]
) -> None:
    """List where the bytes of large tensors in a message begin and end."""
    inside = _INSIDE[message]
    for number, _, payload, stop in _fields(data, start, end):
        if stop - payload <= LARGE:
            continue
        if message == "tensor" and number == _RAW_DATA:
            contents.append((payload, stop))
        elif number in inside:
            _find_contents(data, payload, stop, inside[number], contents)


def _entry(key: str, value: str) -> bytes:
    return _sized(1, key.encode()) + _sized(2, value.encode())


# ---- writing -----------------------------------------------------------------------------------------------------


def placeholder(index: int) -> bytes:
    """What stands in a tensor for bytes that are written later."""
    return f"{_TOKEN}:{index:08d}".encode()


Piece = bytes | int
"""Bytes as they are, or the index of a tensor whose bytes go there."""


def pieces_of(data: bytes, size_of: Callable[[int], int]) -> list[Piece]:
    """A serialised model cut at its placeholders, every length as it is with the tensors' bytes in their place."""
    return _pieces(data, 0, len(data), "model", size_of)


def _pieces(data: bytes, start: int, end: int, message: str, size_of: Callable[[int], int]) -> list[Piece]:
    inside, pieces, copied, prefix = _INSIDE[message], [], start, f"{_TOKEN}:".encode()
    if data.find(prefix, start, end) < 0:
        return [data[start:end]]
    for number, begin, payload, stop in _fields(data, start, end):
        if message == "tensor" and number == _RAW_DATA and data.startswith(prefix, payload):
            index = int(data[payload + len(prefix) : stop])
            inner: list[Piece] = [index]
        elif number in inside and data.find(prefix, payload, stop) >= 0:
            inner = _pieces(data, payload, stop, inside[number], size_of)
        else:
            continue
        length = sum(len(piece) if isinstance(piece, bytes) else size_of(piece) for piece in inner)
        pieces += [data[copied:begin], _as_varint(number << 3 | _BYTES) + _as_varint(length), *inner]
        copied = stop
    return [*pieces, data[copied:end]]
