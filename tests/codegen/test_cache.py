"""Object code on disk: read again, ignored when damaged, never shared with other users."""

import os

import pytest

from whorl.codegen import cache


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("WHORL_CACHE", str(tmp_path / "code"))
    return tmp_path / "code"


def test_entry_is_read_again(place):
    assert cache.read("a") is None
    cache.write("a", b"code")
    assert cache.read("a") == b"code"
    assert [path.name for path in place.iterdir()] == ["a.o"]


def test_damaged_entry_is_ignored(place):
    cache.write("a", b"code")
    path = place / "a.o"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert cache.read("a") is None
    path.write_bytes(b"")
    assert cache.read("a") is None


def test_empty_variable_keeps_nothing(monkeypatch):
    monkeypatch.setenv("WHORL_CACHE", "")
    cache.write("a", b"code")
    assert cache.folder() is None
    assert cache.read("a") is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no file modes")
def test_folder_that_others_can_write_is_not_used(place):
    place.mkdir()
    place.chmod(0o777)
    assert cache.folder() is None


def test_key_depends_on_every_part():
    assert cache.key_of("a", "b") != cache.key_of("ab", "") != cache.key_of("a", "c")
