"""Memory of machine code: executable or read-only once it is filled, and given back."""

import ctypes
from pathlib import Path

import pytest

from whorl.codegen.memory import Pages, address_of, is_supported, whole_pages

pytestmark = pytest.mark.skipif(
    not is_supported(), reason="the linker of this package is for other systems: LLVM links on this one"
)
PAGE = whole_pages(1)


def rights(address: int) -> str | None:
    """What the process may do at an address; None where nothing is mapped."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, access = line.split()[:2]
        first, last = (int(end, 16) for end in span.split("-"))
        if first <= address < last:
            return access[:3]
    return None


def test_code_is_executable_and_what_follows_read_only() -> None:
    pages = Pages(2 * PAGE, PAGE)
    assert rights(pages.address) == rights(pages.address + PAGE) == "rw-"
    pages.fill(bytearray(b"\xb8\x2a\0\0\0\xc3"))
    assert (rights(pages.address), rights(pages.address + PAGE)) == ("r-x", "r--")
    assert ctypes.CFUNCTYPE(ctypes.c_int)(pages.address)() == 42
    pages.free()
    assert rights(pages.address) is None


def test_sizes_are_whole_pages() -> None:
    assert [whole_pages(size) // PAGE for size in (0, 1, PAGE, PAGE + 1)] == [0, 1, 1, 2]


def test_memory_that_the_system_does_not_have_is_an_error() -> None:
    with pytest.raises(OSError, match="there is no memory for machine code"):
        Pages(1 << 60, PAGE)


def test_functions_of_the_process_have_addresses() -> None:
    assert address_of("memcpy") and address_of("fmod")
    assert address_of("no such function") is None
