"""Mapped memory grows with its contents, and only while no array shows it."""

from __future__ import annotations

import sys

import pytest

from whorl.runtime.compiled.mapping import LEAST, bytes_of, map_memory, resize

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux moves mapped memory")


def test_memory_that_grows_and_shrinks_keeps_its_contents() -> None:
    mapping = map_memory(LEAST)
    assert mapping is not None
    bytes_of(mapping)[-3:] = 7
    assert resize(mapping, 5 * LEAST + 3)
    array = bytes_of(mapping)
    assert (len(array), array[LEAST - 3 : LEAST].tolist()) == (5 * LEAST + 3, [7] * 3)
    array[-1] = 9
    del array
    assert resize(mapping, 100)
    assert len(bytes_of(mapping)) == 100


def test_memory_that_an_array_shows_keeps_its_size() -> None:
    mapping = map_memory(LEAST)
    assert mapping is not None
    array = bytes_of(mapping)
    assert not resize(mapping, 2 * LEAST)
    assert len(array) == LEAST


def test_small_memory_is_not_mapped() -> None:
    assert map_memory(LEAST - 1) is None


def test_memory_beyond_that_of_the_machine_is_an_error() -> None:
    mapping = map_memory(LEAST)
    assert mapping is not None
    with pytest.raises(OSError, match=r"Invalid argument|allocate memory"):
        resize(mapping, 1 << 60)
    assert len(bytes_of(mapping)) == LEAST
