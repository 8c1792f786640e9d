"""Memory of an interpreted program, which knows what was written, and by which iterations of parallel loops."""

from __future__ import annotations

import numpy as np
from msgspec import Struct, field

from whorl.errors import VerifyError

Path = tuple[tuple[int, int], ...]
"""The iterations of parallel loops that something is part of, outermost first: the loop's number and its own."""


class WatchedMemory(Struct):
    """An array, its elements in a row, and which of them have been written (None: all)."""

    array: np.ndarray
    flat: np.ndarray
    written: np.ndarray | None = None
    writers: dict[int, Path] = field(default_factory=dict[int, Path])
    readers: dict[int, Path] = field(default_factory=dict[int, Path])

    def touch(self, path: Path, position: int, writes: bool, name: str) -> None:
        """Refuse an element that another iteration of the same parallel loop has written, or read before this write.

        Errors: VerifyError, with the buffer's name.
        """
        if not path:
            return
        for paths in (self.writers, self.readers) if writes else (self.writers,):
            others = paths.get(position, path)
            if others is not path and _meet(path, others):
                raise VerifyError(f"iterations of a parallel loop meet in element {position} of {name!r}")
        (self.writers if writes else self.readers)[position] = path

    def reserve(self, count: int) -> None:
        """Memory for so many elements; what is new was never written."""
        missing = max(0, count - self.flat.size)
        if self.written is None:
            self.written = np.ones(self.flat.size, bool)
        self.flat = self.array = np.append(self.flat, np.zeros(missing, self.flat.dtype))
        self.written = np.append(self.written, np.zeros(missing, bool))

    def require_written(self, name: str) -> None:
        """Refuse a result of which elements were never stored. Errors: VerifyError, with the buffer's name."""
        if self.written is not None and not self.written.all():
            count = int((~self.written).sum())
            raise VerifyError(f"{count} of {self.flat.size} elements of the result {name!r} were never stored")


def _meet(path: Path, others: Path) -> bool:
    """Whether two iterations first differ in those of one loop."""
    for ours, theirs in zip(path, others, strict=False):
        if ours != theirs:
            return ours[0] == theirs[0]
    return False
