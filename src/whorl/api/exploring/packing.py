"""Arrays in one block of bytes that compresses well, each called by a reference in the document beside it."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from typing import Any

import numpy as np

KINDS = {"float32": "f4", "float64": "f8", "int32": "i4", "uint32": "u4", "uint16": "u2", "uint8": "u1"}
"""The element types that a page reads."""


class Packer:
    """Collects arrays; `add` gives the reference that stands for one in the document."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.size = 0

    def add(self, array: np.ndarray) -> list[Any]:
        """`[kind, begin, count]`.

        The first bytes of all elements lie side by side, then the second ones, and so on: neighbours have the same
        exponents.
        """
        flat = np.ascontiguousarray(array).reshape(-1)
        planes = flat.astype(flat.dtype.newbyteorder("<")).view(np.uint8).reshape(-1, flat.dtype.itemsize).T
        data = planes.tobytes()
        reference = [KINDS[flat.dtype.name], self.size, flat.size]
        self.pieces.append(data)
        self.size += len(data)
        return reference

    def seal(self, document: Any) -> str:
        """The document and all arrays, compressed, as text in base64."""
        head = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
        packed = zlib.compress(b"".join([struct.pack("<I", len(head)), head, *self.pieces]), 7)
        return base64.b64encode(packed).decode()
