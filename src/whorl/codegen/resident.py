"""Memory that is no longer needed goes back to the system, on Linux; elsewhere nothing happens.

Starting a library touches pages all over its file, and the system brings in those around each: half of what LLVM takes
is that. They are clean copies of the file, so what is needed again comes back by itself, from the system's file cache.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from pathlib import Path

_MAPPINGS = Path("/proc/self/smaps")
_UNNEEDED = 4
"""Linux's MADV_DONTNEED."""


def release_clean_pages(library: str) -> int:
    """Give back the pages of a loaded library, by the name of its file, that hold just what the file does.

    Returns the bytes of their mappings.
    """
    advise = _function("madvise", ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    if advise is None:
        return 0
    return sum(end - start for start, end in _clean_mappings(library) if advise(start, end - start, _UNNEEDED) == 0)


def release_freed_memory() -> None:
    """Give back what the C library keeps of freed memory: that of a model's file, say."""
    trim = _function("malloc_trim", ctypes.c_size_t)
    if trim is not None:
        trim(0)


def _function(name: str, *arguments: type) -> Callable[..., int] | None:
    """A function of the C library by that name; None where it has none."""
    function = getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
    if function is not None:
        function.argtypes = arguments
    return function


@functools.cache
def _clean_mappings(library: str) -> tuple[tuple[int, int], ...]:
    """The addresses of a library's mappings that nobody can write, and in which no page differs from the file.

    A library stays where it is, so the system is asked once: its answer takes longer than all else.
    """
    try:
        lines = _MAPPINGS.read_text().splitlines()
    except OSError:
        return ()
    result: list[tuple[int, int]] = []
    start = end = 0
    for line in lines:
        first, _, rest = line.partition(" ")
        if not first.endswith(":"):
            is_chosen = rest.endswith(f"/{library}") and "w" not in rest[:4]
            start, end = (int(n, 16) for n in first.split("-")) if is_chosen else (0, 0)
        elif first == "Anonymous:" and end and int(rest.split()[0]) == 0:
            result.append((start, end))
    return tuple(result)
