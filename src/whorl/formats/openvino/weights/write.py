"""Constants out: bytes one after the other, equal ones once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import BinaryIO

import numpy as np

from whorl.errors import SaveError
from whorl.formats.openvino.document import Layer
from whorl.formats.writing import element_bytes
from whorl.ir.constants import LazyArray, as_array
from whorl.ir.dtypes import STRING


def write_constants(file: BinaryIO, constants: Iterable[tuple[Layer, np.ndarray | LazyArray]]) -> None:
    """Append every constant that differs from those before it, and note its position in its layer.

    A constant is hashed while it is written, and cut off again if it is a repetition: nothing is read twice.
    """
    written: dict[bytes, tuple[int, int]] = {}
    for layer, value in constants:
        start, content = file.tell(), blake2b(digest_size=20)
        for piece in _string_bytes(as_array(value)) if value.dtype == STRING else element_bytes(value):
            content.update(piece)
            file.write(piece)
        offset, size = written.setdefault(content.digest(), (start, file.tell() - start))
        if offset != start:
            file.seek(start)
            file.truncate()
        layer.data |= {"offset": str(offset), "size": str(size)}


def _string_bytes(value: np.ndarray) -> Iterator[bytes]:
    """How many strings there are, where each begins, where the last ends, and their bytes."""
    texts = [str(text).encode("utf-8", "surrogateescape") for text in value.reshape(-1)]
    ends = np.cumsum([0, *map(len, texts)])
    if ends[-1] >= 1 << 31:
        raise SaveError("a string constant holds 2 GiB or more, which OpenVINO cannot say")
    yield np.array([len(texts), *ends], np.int32).tobytes()
    yield b"".join(texts)
