"""Files on this machine and wherever fsspec opens them: found, opened, written under another name first."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath
from typing import Any

from msgspec import Struct

from whorl.errors import RunError, SaveError
from whorl.scoring.packages import package

TEMPORARY = "_temporary"
SAMPLED = 1 << 16
"""Bytes at either end of a file that tell it from another one of its size and time."""
STAMPS = "mtime", "LastModified", "last_modified", "ETag", "etag", "updated", "created"
"""What file systems call the time or version of a file; the first that one has counts."""


class Storage(Struct, frozen=True):
    """A file system and a path in it. Messages name the path as the caller wrote it."""

    url: str

    @property
    def system(self) -> Any:
        """The file system, as fsspec has it."""
        return self._split()[0]

    @property
    def path(self) -> str:
        """The path in its file system."""
        return self._split()[1]

    def _split(self) -> tuple[Any, str]:
        try:
            return package("fsspec.core").url_to_fs(self.url)
        except (ImportError, ValueError) as error:
            raise RunError(f"cannot open {self.url!r}: {error}") from None

    @property
    def is_local(self) -> bool:
        """Whether the operating system opens the path."""
        protocol = self.system.protocol
        return "file" in ((protocol,) if isinstance(protocol, str) else protocol)

    @property
    def suffix(self) -> str:
        """The ending of the name, in lower case."""
        return PurePosixPath(self.path).suffix.lower()

    def __truediv__(self, name: str) -> Storage:
        return Storage(f"{self.url.rstrip('/')}/{name}")

    def exists(self) -> bool:
        return self.system.exists(self.path)

    def names(self) -> list[str]:
        """The names of what a folder has, sorted; none of one that is not there."""
        try:
            entries = self.system.ls(self.path, detail=False, refresh=True)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(PurePosixPath(entry).name for entry in entries)

    def for_arrow(self) -> Any:
        """What readers of Arrow open: the path of a local file, or else a file that is open."""
        return self.path if self.is_local else self.system.open(self.path, "rb")

    def read(self) -> bytes:
        """All bytes. Errors: RunError."""
        try:
            return self.system.cat_file(self.path)
        except OSError as error:
            raise RunError(f"cannot read {self.url!r}: {error.strerror or error}") from None

    @property
    def fingerprint(self) -> str:
        """Size, time and ends of a file. Errors: RunError for one that is not there."""
        try:
            facts = self.system.info(self.path)
            stamp = next((str(facts[name]) for name in STAMPS if facts.get(name) is not None), "")
            size = int(facts["size"] or 0)
            ends = self.system.cat_file(self.path, 0, min(SAMPLED, size))
            ends += self.system.cat_file(self.path, max(0, size - SAMPLED), size)
        except OSError as error:
            raise RunError(f"cannot read {self.url!r}: {error.strerror or error}") from None
        return f"{size} {stamp} {hashlib.sha256(ends).hexdigest()}"

    @contextmanager
    def write(self) -> Iterator[Any]:
        """A file to write to, which has this name once all is written; where that fails, nothing does.

        Errors: SaveError.
        """
        system, path = self._split()
        folder, name = os.path.split(path)
        fresh = f"{folder}/{TEMPORARY}/{name}.{uuid.uuid4().hex}"
        try:
            system.makedirs(f"{folder}/{TEMPORARY}", exist_ok=True)
            with system.open(fresh, "wb") as file:
                yield file
            system.mv(fresh, path)
        except BaseException as error:
            with suppress(OSError):
                system.rm(fresh)
            if isinstance(error, OSError):
                fix = "mend that and start again: parts that are written are not computed again"
                raise SaveError(f"cannot write {self.url!r}: {error.strerror or error}", fix=fix) from None
            raise

    def write_bytes(self, data: bytes) -> None:
        """Write a small file. Errors: SaveError."""
        with self.write() as file:
            file.write(data)

    def remove_temporary(self) -> None:
        """Remove what writers that were killed left in a folder."""
        with suppress(OSError):
            self.system.rm(f"{self.path}/{TEMPORARY}", recursive=True)
