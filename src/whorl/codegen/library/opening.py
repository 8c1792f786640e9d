"""The path by which a program opens a library that was just written."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path


def path_to_open(path: Path) -> str:
    """A path with a folder in it, since loaders search for a mere name elsewhere.

    Linux gives a program that has a library open under some path the same one again, whatever lies there now. The path
    is then spelled otherwise.
    """
    folder = str(path.parent)
    while sys.platform == "linux" and _is_open(f"{folder}/{path.name}"):
        folder += "/."
    return f"{folder}{os.sep}{path.name}"


def _is_open(path: str) -> bool:
    """Whether this process has a library open under a path."""
    loader = ctypes.CDLL(None)
    loader.dlopen.restype = ctypes.c_void_p
    handle = loader.dlopen(os.fsencode(path), os.RTLD_NOLOAD | os.RTLD_LAZY)
    if handle:
        loader.dlclose(ctypes.c_void_p(handle))
    return bool(handle)
