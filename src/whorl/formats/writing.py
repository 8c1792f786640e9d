"""What writers of files share: the bytes of constants piece by piece, and files that are whole or not there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np

from whorl.ir.constants import LazyArray, blocks
from whorl.ir.dtypes import bits
from whorl.ir.elements.base import elements_of
from whorl.ir.elements.packed import packed_bytes

_PACKED_BLOCK = 1 << 18

Write = Callable[[BinaryIO], object]


def element_bytes(value: np.ndarray | LazyArray) -> Iterator[memoryview]:
    """The little-endian bytes of a constant that holds no strings, few of them in memory at a time."""
    if bits(value.dtype) < 8:
        source = elements_of(value)
        for start in range(0, source.size, _PACKED_BLOCK):
            yield packed_bytes(source.flat(start, min(start + _PACKED_BLOCK, source.size))).data
        return
    for block in blocks(value):
        yield np.ascontiguousarray(block).reshape(-1).view(np.uint8).data


def write_whole(files: Mapping[Path, Write]) -> None:
    """Write files, in order, under temporary names first, so that a failure leaves what was there. Errors: OSError."""
    temporary = {path: path.with_name(f".{path.name}.{os.getpid()}") for path in files}
    try:
        for path, write in files.items():
            with temporary[path].open("w+b") as file:
                write(file)
        for path in files:
            temporary[path].replace(path)
    finally:
        for path in temporary.values():
            path.unlink(missing_ok=True)
