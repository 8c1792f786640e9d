"""Tests that link what whorl compiled: by a C compiler, or by that of the PyPI package ziglang."""

from __future__ import annotations

import importlib.util
import shutil
import sys

import pytest

from whorl.codegen.library.linker import COMPILERS

HAS_ZIG = importlib.util.find_spec("ziglang") is not None
needs_linker = pytest.mark.skipif(
    not HAS_ZIG and not any(map(shutil.which, COMPILERS)), reason="there is no C compiler to link with, nor ziglang"
)


def compiler_of(language: str, names: tuple[str, ...]) -> list[str]:
    """The command of a compiler on PATH by one of these names, else zig's; nothing where there is none."""
    system = next(filter(None, map(shutil.which, names)), None)
    zig = [sys.executable, "-m", "ziglang", language] if HAS_ZIG else []
    return [system] if system else zig


C = compiler_of("cc", COMPILERS)
CPP = compiler_of("c++", ("c++", "g++", "clang++"))
