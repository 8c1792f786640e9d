"""Pages of a library go back to the system, and its code runs as before."""

import sys
from pathlib import Path

import numpy as np
import pytest

from whorl.codegen.resident import release_clean_pages, release_freed_memory

NUMPY = Path(np.__file__)


def library() -> str:
    """NumPy's compiled part, by the name of its file."""
    return next(path.name for path in NUMPY.parent.rglob("_multiarray_umath*.so"))


def resident(name: str) -> int:
    """KiB of a library's unwritable mappings that are in memory."""
    total, is_read = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first, _, rest = line.partition(" ")
        if not first.endswith(":"):
            is_read = rest.endswith(f"/{name}") and "w" not in rest[:4]
        elif first == "Rss:" and is_read:
            total += int(rest.split()[0])
    return total


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what of a file is in memory")
def test_pages_of_a_library_go_back_and_return():
    name = library()
    before = resident(name)
    assert release_clean_pages(name) > 0
    assert resident(name) < before
    np.testing.assert_array_equal(np.sort(np.array([3, 1, 2])), [1, 2, 3])
    assert resident(name) > 0


def test_a_library_that_is_not_loaded_releases_nothing():
    assert release_clean_pages("libnothing.so") == 0


def test_memory_in_use_outlasts_freed_memory():
    array = np.arange(1 << 16)
    release_freed_memory()
    assert array[-1] == (1 << 16) - 1


def test_elsewhere_nothing_happens(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert release_clean_pages(library()) == 0
    release_freed_memory()
