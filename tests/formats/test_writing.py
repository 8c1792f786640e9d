"""Files that are whole or not there, and the bytes of constants."""

import numpy as np
import pytest

from whorl.formats.writing import element_bytes, write_whole
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
