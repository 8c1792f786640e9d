"""Models by their bytes: which ones a session may recognise in a later process."""

from __future__ import annotations

import stat
from pathlib import Path

LARGEST = 1 << 26
"""Bytes of a model up to which it is read to be recognised; beyond, that takes too long to be worth it."""
_BINARY = b"\x08"
"""How every ONNX file begins that a tool has written: with the version of its format."""
_BESIDE = b"location"
"""A word that is in each file with weights that lie beside it."""


def recognisable_bytes(source: object) -> bytes | None:
    """The bytes of a model in ONNX's binary form; None for any other, and for large ones."""
    match source:
        case bytes():
            data = source
        case str() | Path():
            data = _bytes_of(Path(source))
        case _:
            return None
    return data if len(data) <= LARGEST and data.startswith(_BINARY) else None


def may_have_weights_beside(data: bytes) -> bool:
    """Whether some of a model may lie in other files, which nobody has recognised."""
    return _BESIDE in data


def _bytes_of(path: Path) -> bytes:
    """The bytes of a regular file with ONNX's suffix; nothing where it cannot be read, which loading it will tell."""
    if path.suffix.lower() != ".onnx":
        return b""
    try:
        status = path.stat()
        return path.read_bytes() if stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST else b""
    except OSError:
        return b""
