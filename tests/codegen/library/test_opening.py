"""The path by which a program opens a library that was just written, where an older one is open, too."""

import ctypes
import os
import sys
from pathlib import Path

import pytest
from compilers import needs_linker

from whorl.codegen.library.linker import link
from whorl.codegen.library.opening import path_to_open
from whorl.codegen.target import host, linkable_code
from whorl.llvm.function import Function
from whorl.llvm.module import Module


def write(number: int, path: Path) -> None:
    """A library whose only function gives a number, as a new file."""
    module = Module(host())
    f = Function(module, "@number", "i64", {}, "")
    f.give(f.index(number))
    path.with_suffix(".o").write_bytes(linkable_code(str(module), host())[0])
    link([path.with_suffix(".o")], path.with_suffix(".new"))
    os.replace(path.with_suffix(".new"), path)


def test_path_has_a_folder():
    assert path_to_open(Path("a.so")) == f".{os.sep}a.so"
    assert path_to_open(Path("folder") / "a.so") == os.path.join("folder", "a.so")


@needs_linker
@pytest.mark.skipif(sys.platform != "linux", reason="other loaders look at the file")
def test_library_that_is_written_anew_is_opened_beside_the_old_ones(tmp_path):
    path, opened = tmp_path / "a.so", []
    for number in range(3):
        write(number, path)
        opened.append(ctypes.CDLL(path_to_open(path)))
    assert [library.number() for library in opened] == [0, 1, 2]
    write(7, path)
    assert ctypes.CDLL(str(path)).number() == 0 and ctypes.CDLL(path_to_open(path)).number() == 7
