"""Which linker is used, and what is said where there is none or it fails."""

import subprocess
import sys

import pytest

from whorl.codegen.library import linker
from whorl.errors import CompileError


def test_variable_names_the_command(monkeypatch):
    monkeypatch.setenv("CC", "my-cc --flag 'a b'")
    assert linker.linker() == ["my-cc", "--flag", "a b"]


def test_compiler_on_the_path_comes_before_zig(monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: "/bin/clang" if name == "clang" else None)
    assert linker.linker() == ["/bin/clang"]
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    assert linker.linker() == [sys.executable, "-m", "ziglang", "cc"]


def test_no_linker_is_an_error_with_ways_out(monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(CompileError, match="there is no linker") as caught:
        linker.linker()
    assert "whorl[aot]" in str(caught.value)


def test_failure_of_the_linker_is_reported_with_its_output(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", f"{sys.executable} -c \"import sys; sys.exit('no such symbol')\"")
    with pytest.raises(CompileError, match="the linker failed with status 1: no such symbol"):
        linker.link([tmp_path / "a.o"], tmp_path / "a.so")


def test_linker_that_takes_too_long_is_an_error(monkeypatch, tmp_path):
    def late(*args, **options):
        raise subprocess.TimeoutExpired("cc", 1)

    monkeypatch.setenv("CC", "cc")
    monkeypatch.setattr("subprocess.run", late)
    with pytest.raises(CompileError, match="the linker failed"):
        linker.link([tmp_path / "a.o"], tmp_path / "a.so")
