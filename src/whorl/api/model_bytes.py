"""Models by their bytes: which ones a session may recognise in a later process."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from msgspec import Struct

from whorl.formats.onnx.wire import outside_large_tensors
from whorl.ir.elements.mapping import Identity, identity_of
from whorl.kernels.aligned import read_aligned

LARGEST = 1 << 26
"""Bytes of a model up to which it is read to be recognised; beyond, that takes too long to be worth it."""
_BINARY = b"\x08"
"""How every ONNX file begins that a tool has written: with the version of its format."""
_KEY = b"\n\x08location"
_LOCATION = re.compile(re.escape(_KEY) + rb"\x12([\x01-\x7f]|[\x80-\xff][\x01-\x0f])", re.DOTALL)
"""How the name of a file beside the model is written: its key, then its length in one byte or two."""


class ModelBytes(Struct, frozen=True):
    """The bytes of a model, and the files that it is read from where these are not all of it."""

    data: bytes | memoryview
    files: dict[str, Identity]

    @property
    def is_whole(self) -> bool:
        """Whether the bytes are all of it."""
        return not self.files

    def has_changed(self) -> bool:
        """Whether a file is another one now."""
        return any(_identity(path) != identity for path, identity in self.files.items())


def recognise(source: object) -> ModelBytes | None:
    """A model in ONNX's binary form; None for any other, and where its weights may lie nobody knows where."""
    match source:
        case bytes():
            return ModelBytes(source, {}) if len(source) <= LARGEST and _locations(source) == set() else None
        case str() | Path() if Path(source).suffix.lower() == ".onnx":
            try:
                return _in_file(Path(source))
            except (OSError, ValueError):  # which loading it will tell
                return None
        case _:
            return None


def _in_file(path: Path) -> ModelBytes | None:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
        return None
    with path.open("rb", buffering=0) as file:
        data = read_aligned(file, status.st_size)
    locations = _locations(data)
    if locations is None:
        return None
    files = [path, *(path.parent / location for location in locations)] if locations else []
    return ModelBytes(data, {os.path.realpath(each): identity_of(each.stat()) for each in files})


def _locations(data: bytes | memoryview) -> set[str] | None:
    """The files that tensors of a model name; None where that cannot be told without parsing it, or for no model."""
    if data[: len(_BINARY)] != _BINARY:
        return None
    data = outside_large_tensors(data)
    if _KEY not in data:
        return set()
    keys = list(_LOCATION.finditer(data))
    if len(keys) != data.count(_KEY):
        return None
    names: set[str] = set()
    for each in keys:
        first, *more = each[1]
        size = first & 127 | more[0] << 7 if more else first
        names.add(str(data[each.end() : each.end() + size], "utf-8", "replace"))
    return names


def _identity(path: str) -> Identity | None:
    try:
        return identity_of(os.stat(path))
    except OSError:
        return None
