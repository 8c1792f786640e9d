"""Memory of machine code, which is written before it becomes executable, on Linux with x86-64."""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import sys


@functools.cache
def is_supported() -> bool:
    """Whether this is the system whose calls and object files are known here."""
    return sys.platform == "linux" and os.uname().machine == "x86_64" and sys.maxsize > 1 << 32


@functools.cache
def _system() -> ctypes.CDLL:
    """The functions of the process."""
    system = ctypes.CDLL(None, use_errno=True)
    number, pointer, size = ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t
    system.mmap.restype = pointer
    system.mmap.argtypes = [pointer, size, number, number, number, ctypes.c_ssize_t]
    system.mprotect.argtypes = [pointer, size, number]
    system.munmap.argtypes = [pointer, size]
    return system


def address_of(name: str) -> int | None:
    """The address of a function that the process has loaded, such as `memcpy`."""
    try:
        return ctypes.cast(_system()[name], ctypes.c_void_p).value
    except AttributeError:
        return None


def whole_pages(size: int) -> int:
    """A number of bytes, rounded up to pages."""
    return -(-size // mmap.PAGESIZE) * mmap.PAGESIZE


class Pages:
    """Memory of its own: whole pages, of which the first `code` bytes become executable, the others read-only."""

    def __init__(self, size: int, code: int) -> None:
        """Errors: OSError."""
        self.size, self._code = size, code
        writable, private = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        address: int = _system().mmap(None, size, writable, private, -1, 0) or 0
        if address == ctypes.c_void_p(-1).value:
            raise OSError(ctypes.get_errno(), "there is no memory for machine code")
        self.address = address

    def fill(self, contents: bytearray) -> None:
        """Write the contents, which nothing can change from then on. Errors: OSError."""
        ctypes.memmove(self.address, bytes(contents), len(contents))
        self._protect(0, self._code, mmap.PROT_READ | mmap.PROT_EXEC)
        self._protect(self._code, self.size - self._code, mmap.PROT_READ)

    def _protect(self, offset: int, size: int, protection: int) -> None:
        if size and _system().mprotect(self.address + offset, size, protection):
            raise OSError(ctypes.get_errno(), "memory cannot be made executable")

    def free(self) -> None:
        """Give the memory back."""
        _system().munmap(self.address, self.size)
