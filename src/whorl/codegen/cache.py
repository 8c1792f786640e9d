"""Object code and prepared programs on disk, shared by processes, in a folder that only its user can write.

An entry is named by a hash of everything that it depends on and begins with a hash of that name and its bytes, so that
a damaged one, or another's under this name, is ignored. Entries are written under another name first:
concurrent processes see whole ones only. Where all take too much, those go first that were not read for longest.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from whorl.kernels.aligned import read_aligned

LARGEST = 1 << 29
"""Bytes that all entries may take."""
_EXCESS = 32
"""All entries are looked at about once for each such part of these bytes that is written: it takes long where they are
many, and they may take that much more."""
_DIGEST = hashlib.sha256().digest_size
_SUFFIX = ".o"
_ABANDONED = 3600.0
"""Seconds after which a file that was never renamed is one that a process left behind."""


def folder() -> Path | None:
    """Where code is kept: WHORL_CACHE, else `whorl` in the user's cache folder; None where that is not safely ours.

    An empty WHORL_CACHE keeps nothing.
    """
    named = os.environ.get("WHORL_CACHE")
    if named == "":
        return None
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        path = Path(named) if named else base / "whorl"
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
    except (OSError, RuntimeError):
        return None
    foreign = hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022)
    return None if foreign else path


def key_of(*parts: str) -> str:
    """The name of what depends on these texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def read(key: str) -> memoryview | None:
    """The contents of an entry; None where there is none, or a damaged one."""
    directory = folder()
    if directory is None:
        return None
    try:
        path = directory / f"{key}{_SUFFIX}"
        data = _read_regular(path)
        os.utime(path)
    except OSError:
        return None
    code = data[_DIGEST:]
    return code if digest_of(key, code) == bytes(data[:_DIGEST]) else None


def has(key: str) -> bool:
    """Whether there is an entry, which may be damaged."""
    directory = folder()
    return directory is not None and (directory / f"{key}{_SUFFIX}").exists()


def digest_of(key: str, *parts: bytes | memoryview) -> bytes:
    """What an entry begins with."""
    digest = hashlib.sha256(key.encode() + b"\0")
    for part in parts:
        digest.update(part)
    return digest.digest()


def _read_regular(path: Path) -> memoryview:
    """The bytes of a file that is no larger than an entry may be; to open a pipe must not wait for its other end.

    What follows the hash starts at a cache line.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            raise OSError(f"{path} is no entry")
        return read_aligned(file, status.st_size, _DIGEST)


def write(key: str, *parts: bytes | memoryview) -> None:
    """Keep an entry, in parts that follow each other; a folder that is full or read-only keeps nothing."""
    directory = folder()
    if directory is None:
        return
    name, digest = directory / f"{key}.{os.urandom(8).hex()}", digest_of(key, *parts)
    try:
        _write_parts(name, [digest, *parts])
        os.replace(name, directory / f"{key}{_SUFFIX}")
    except OSError:
        return
    finally:
        with suppress(OSError):
            name.unlink()
    size = sum(map(len, parts))
    if int.from_bytes(digest[:8], "big") * LARGEST < size * _EXCESS << 64:
        trim(LARGEST)


def _write_parts(path: Path, parts: Sequence[bytes | memoryview]) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags, 0o600), "wb") as file:
        for part in parts:
            file.write(part)


def entries() -> list[tuple[Path, os.stat_result]]:
    """The entries and what the disk says of them, the one first that was not read for longest."""
    directory = folder()
    listed: list[tuple[Path, os.stat_result]] = []
    for entry in os.scandir(directory) if directory is not None else ():
        with suppress(OSError):
            status = entry.stat()
            if entry.name.endswith(_SUFFIX):
                listed.append((Path(entry.path), status))
            elif status.st_mtime < time.time() - _ABANDONED:
                os.unlink(entry.path)
    return sorted(listed, key=lambda entry: entry[1].st_mtime)


def trim(most: int) -> int:
    """Remove entries until the rest takes no more than so many bytes; returns how many went."""
    listed = entries()
    size, removed = sum(status.st_size for _, status in listed), 0
    for path, status in listed:
        if size <= most:
            break
        with suppress(OSError):
            path.unlink()
        size, removed = size - status.st_size, removed + 1
    return removed
