"""Compiled libraries loaded again: checked inputs, outputs, and failures with their location."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compilers import needs_linker
from onnx_text import model

import whorl
from whorl.errors import LoadError, RunError
from whorl.runtime import library
from whorl.runtime.library import LoadedLibrary

SUM = model("main (float[n] x, float[n] y) => (float[n] z) { s = Add(x, y) z = Mul(s, x) }")
X = np.arange(3, dtype=np.float32)


@needs_linker
def test_library_runs_on_any_length_and_refuses_lengths_that_differ(tmp_path: Path) -> None:
    whorl.compile(SUM, tmp_path / "sum.so")
    library = LoadedLibrary(tmp_path / "sum.so")
    assert [port.name for port in (*library.inputs, *library.outputs)] == ["x", "y", "z"]
    for length in (3, 2):
        (z,) = library.execute(None, {"x": X[:length], "y": X[:length]})
        assert z.tolist() == (2 * X * X)[:length].tolist()
    with pytest.raises(RunError, match="'n' is 3 in input 'x' and 2 in 'y'"):
        library.execute(None, {"x": X, "y": X[:2]})


@needs_linker
def test_names_that_the_library_lacks_and_missing_inputs_are_refused(tmp_path: Path) -> None:
    whorl.compile(SUM, tmp_path / "sum.so", dims={"n": 3})
    library = LoadedLibrary(tmp_path / "sum.so")
    with pytest.raises(RunError, match="the library has no output 'w'"):
        library.execute(["w"], {"x": X, "y": X})
    with pytest.raises(RunError, match="missing inputs: 'y'"):
        library.execute(None, {"x": X})


def test_file_that_is_no_library_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(LoadError, match="the library cannot be loaded"):
        LoadedLibrary(tmp_path / "text.so")


def test_memory_of_a_library_is_freed_by_the_c_runtime_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    assert library._c_library() is None
    monkeypatch.setattr(library.sys, "platform", "win32")
    assert library._c_library() == "ucrtbase"
