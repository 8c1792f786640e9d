"""Files that are whole or not there, and the bytes of constants."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from whorl.errors import SaveError
from whorl.formats.writing import element_bytes, require_room, write_whole
from whorl.ir.dtypes import BY_NAME
from whorl.ir.elements.packed import Packed


def test_narrow_elements_are_packed_low_bits_first():
    value = np.array([1, 2, 3], np.uint8).astype(BY_NAME["uint4"])
    assert b"".join(map(bytes, element_bytes(value))) == b"\x21\x03"
    packed = Packed(np.frombuffer(b"\x21\x03", np.uint8), BY_NAME["uint4"], (3,))
    assert b"".join(map(bytes, element_bytes(packed))) == b"\x21\x03"


def test_elements_are_little_endian_whatever_their_layout():
    value = np.arange(6, dtype=np.int16).reshape(2, 3).T
    assert b"".join(map(bytes, element_bytes(value))) == np.array([0, 3, 1, 4, 2, 5], "<i2").tobytes()


def test_files_are_replaced_together(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    write_whole({first: lambda file: file.write(b"1"), second: lambda file: file.write(b"2")})
    assert (first.read_bytes(), second.read_bytes()) == (b"1", b"2")

    def fail(file):
        file.write(b"half")
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        write_whole({first: lambda file: file.write(b"3"), second: fail})
    assert (first.read_bytes(), second.read_bytes()) == (b"1", b"2")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


@pytest.mark.parametrize("unnamed", [True, False])
def test_write_that_is_interrupted_leaves_what_was_there(tmp_path, monkeypatch, unnamed):
    if not unnamed:
        monkeypatch.delattr("os.O_TMPFILE", raising=False)
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def interrupt(file):
        file.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole({path: interrupt})
    assert (path.read_bytes(), [each.name for each in tmp_path.iterdir()]) == (b"old", ["a"])
    write_whole({path: lambda file: file.write(b"new")})
    assert (path.read_bytes(), [each.name for each in tmp_path.iterdir()]) == (b"new", ["a"])


KILLED = """
import os, signal, sys
from pathlib import Path
from whorl.errors import SaveError
from whorl.formats.writing import write_whole

def die(file):
    file.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)

write_whole({Path(sys.argv[1]): die})
"""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="this system has no files without names")
def test_process_that_is_killed_leaves_no_half_of_a_file(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "a")], check=False)
    assert done.returncode == -signal.SIGKILL and not list(tmp_path.iterdir())


def test_constants_that_do_not_fit_the_disk_are_refused(tmp_path):
    with pytest.raises(SaveError) as caught:
        require_room(tmp_path, 1 << 62)
    free = str(caught.value).split(" and ")[1].split()[0]
    assert str(caught.value) == f"the constants take {1 << 62} bytes, and {free} are free in {str(tmp_path)!r}"
