"""What writers of files share: the bytes of constants piece by piece, and files that are whole or not there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import BinaryIO

import numpy as np

from whorl.errors import SaveError
from whorl.ir.constants import LazyArray, blocks
from whorl.ir.dtypes import bits
from whorl.ir.elements.base import elements_of
from whorl.ir.elements.packed import packed_bytes

_PACKED_BLOCK = 1 << 18
_DESCRIPTORS = Path("/proc/self/fd")

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
    """Write files, in order, and give them their names at the end, so that a failure leaves what was there.

    Until then they have none where the system can do that, else temporary ones. Errors: OSError.
    """
    temporary = {path: path.with_name(f".{path.name}.{os.getpid()}") for path in files}
    with ExitStack() as stack:
        for each in temporary.values():
            stack.callback(each.unlink, missing_ok=True)
        opened = {path: stack.enter_context(_unnamed(each)) for path, each in temporary.items()}
        for path, write in files.items():
            write(opened[path])
            opened[path].flush()
        for path, file in opened.items():
            if not temporary[path].exists():
                # A folder makes Python call what follows links; an absolute path goes by without it.
                os.link(_DESCRIPTORS / str(file.fileno()), temporary[path], src_dir_fd=file.fileno())
            temporary[path].replace(path)


def save_whole(files: Mapping[Path, bytes | bytearray]) -> None:
    """Write the contents of files as `write_whole` does. Errors: SaveError names the file."""
    try:
        write_whole({path: partial(_write_bytes, contents) for path, contents in files.items()})
    except OSError as error:
        paths = [path for path in files if path.parent == Path(os.fsdecode(error.filename or "")).parent]
        raise SaveError(f"cannot write {str([*paths, *files][0])!r}: {error.strerror or error}") from None


def make_folder(path: Path) -> None:
    """Make a folder and those around it, where they are not there. Errors: SaveError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SaveError(f"cannot make the folder {str(path)!r}: {error.strerror or error}") from None


def _write_bytes(contents: bytes | bytearray, file: BinaryIO) -> None:
    file.write(contents)


def _unnamed(path: Path) -> BinaryIO:
    """A file in the folder of a path that goes with the process; one of that name where there are no such files."""
    if not hasattr(os, "O_TMPFILE") or not _DESCRIPTORS.exists():
        return path.open("w+b")
    try:
        return open(os.open(path.parent, os.O_TMPFILE | os.O_RDWR, 0o666), "w+b")
    except OSError:
        return path.open("w+b")


def require_room(folder: Path, size: int) -> None:
    """Refuse to write more bytes than are free. Errors: SaveError."""
    free = shutil.disk_usage(folder).free
    if size > free:
        raise SaveError(f"the constants take {size} bytes, and {free} are free in {str(folder)!r}")
