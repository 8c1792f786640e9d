"""The library of the tests, compiled once, and models of its ops."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from compilers import C

from whorl.ir.definitions import DEFINITIONS

SOURCE = Path(__file__).parent / "kernels.c"


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The path of the compiled library."""
    if not C:
        pytest.skip("there is no C compiler, nor ziglang")
    path = tmp_path_factory.mktemp("kernels") / ("kernels.dll" if sys.platform == "win32" else "kernels.so")
    subprocess.run([*C, "-shared", "-fPIC", "-O1", "-o", str(path), str(SOURCE)], check=True)
    return path


@pytest.fixture(autouse=True)
def registered():
    """Nothing is registered before and after a test."""
    DEFINITIONS.clear()
    yield DEFINITIONS
    DEFINITIONS.clear()
