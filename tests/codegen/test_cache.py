"""Object code on disk: read again, ignored when damaged, never shared with other users."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from whorl.codegen import cache
from whorl.kernels.aligned import CACHE_LINE


@pytest.fixture
def directory(tmp_path, monkeypatch):
    monkeypatch.setenv("WHORL_CACHE", str(tmp_path / "code"))
    return tmp_path / "code"


def test_entry_is_read_again(directory):
    assert cache.read("a") is None
    cache.write("a", b"code")
    assert cache.read("a") == b"code"
    assert [path.name for path in directory.iterdir()] == ["a.o"]


def test_contents_of_an_entry_start_at_a_cache_line(directory):
    for code in (b"code", b"code" * (1 << 21)):
        cache.write("a", code)
        data = cache.read("a")
        assert data == code and data.readonly
        assert np.frombuffer(data, np.uint8).ctypes.data % CACHE_LINE == 0


def test_damaged_entry_is_ignored(directory):
    cache.write("a", b"code")
    path = directory / "a.o"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert cache.read("a") is None
    path.write_bytes(b"")
    assert cache.read("a") is None


def test_entry_of_another_key_is_ignored(directory):
    cache.write("a", b"code of a")
    (directory / "a.o").rename(directory / "b.o")
    assert cache.read("b") is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_regular_file_is_ignored(directory, tmp_path):
    cache.write("a", b"code")
    (directory / "folder.o").mkdir()
    (directory / "nowhere.o").symlink_to(tmp_path / "nothing")
    os.mkfifo(directory / "pipe.o")
    assert [cache.read(key) for key in ("folder", "nowhere", "pipe")] == [None] * 3
    cache.write("folder", b"code")
    assert cache.read("folder") is None and not list(directory.glob("tmp*"))


def test_entry_larger_than_all_may_be_is_not_read(directory, monkeypatch):
    cache.write("a", b"code" * 100)
    monkeypatch.setattr(cache, "LARGEST", 400)
    assert cache.read("a") is None


def test_entry_that_the_disk_does_not_take_leaves_nothing(directory, monkeypatch):
    def fail(path, parts):
        path.write_bytes(parts[0])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache, "_write_parts", fail)
    cache.write("a", b"code")
    assert list(directory.iterdir()) == []


def test_empty_variable_keeps_nothing(monkeypatch):
    monkeypatch.setenv("WHORL_CACHE", "")
    cache.write("a", b"code")
    assert cache.folder() is None
    assert cache.read("a") is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no file modes")
def test_folder_that_others_can_write_is_not_used(directory):
    directory.mkdir()
    directory.chmod(0o777)
    assert cache.folder() is None


def test_key_depends_on_every_part():
    assert cache.key_of("a", "b") != cache.key_of("ab", "") != cache.key_of("a", "c")


def test_entries_not_read_for_longest_go_first(directory, monkeypatch):
    for k in range(4):
        cache.write(f"old{k}", bytes(100))
        os.utime(directory / f"old{k}.o", (k + 1, k + 1))
    monkeypatch.setattr(cache, "LARGEST", 400)
    assert cache.read("old0") is not None
    cache.write("new0", bytes(100))
    assert sorted(path.stem for path in directory.iterdir()) == ["new0", "old0", "old3"]


@pytest.mark.parametrize("size", [50, 1000])
def test_folder_is_listed_once_for_each_thirty_second_of_what_it_may_take(directory, monkeypatch, size):
    monkeypatch.setattr(cache, "LARGEST", 32 * 50_000)
    trims = []
    monkeypatch.setattr(cache, "trim", trims.append)
    for n in range(500_000 // size):
        cache.write(f"{n}", bytes(size))
    assert 3 <= len(trims) <= 20


def test_entries_take_little_more_than_they_may(directory, monkeypatch):
    monkeypatch.setattr(cache, "LARGEST", 100_000)
    for n in range(300):
        cache.write(f"{n}", bytes(1000))
    assert sum(path.stat().st_size for path in directory.iterdir()) <= 120_000


def test_files_that_a_process_left_behind_are_removed(directory):
    cache.write("a", b"code")
    (directory / "tmp1").write_bytes(b"half")
    (directory / "tmp2").write_bytes(b"half")
    os.utime(directory / "tmp1", (1, 1))
    cache.trim(1 << 20)
    assert sorted(path.name for path in directory.iterdir()) == ["a.o", "tmp2"]


BUSY = """
import random, sys
from whorl.codegen import cache
cache.LARGEST = 3000
random.seed(int(sys.argv[1]))
for _ in range(300):
    key = f"{random.randrange(8)}0"
    code = cache.read(key)
    assert code is None or code == key.encode() * 200, key
    cache.write(key, key.encode() * 200)
"""


def test_processes_share_a_folder(directory):
    path = os.pathsep.join(p for p in sys.path if p)
    environment = {**os.environ, "PYTHONPATH": path}

    def work(seed: int) -> subprocess.CompletedProcess:
        command = [sys.executable, "-c", BUSY, str(seed)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(work, range(4)))
    assert [d.returncode for d in done] == [0] * 4, [d.stderr for d in done]
    assert all(cache.read(path.stem) == path.stem.encode() * 200 for path in directory.iterdir())


FILLED = """
import resource, signal
from whorl.codegen import cache
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
cache.write("a", bytes(5000))
print(cache.read("a"), [path.name for path in cache.folder().iterdir()])
"""


def test_failed_write_leaves_nothing(directory):
    pytest.importorskip("resource")
    done = subprocess.run([sys.executable, "-c", FILLED], capture_output=True, text=True, check=True)
    assert done.stdout == "None []\n"


def test_write_that_is_interrupted_leaves_nothing(directory, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        cache.write("a", b"code")
    assert list(directory.iterdir()) == []
