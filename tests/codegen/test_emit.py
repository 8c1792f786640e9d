"""The function of a program, and the mark of a program that is dumped."""

from __future__ import annotations

from pathlib import Path

import pytest

from whorl.codegen.emit import FUNCTION, emit
from whorl.debug import Debug
from whorl.kernel.program import Program
from whorl.llvm.module import Machine


def test_program_of_nothing_returns_at_once() -> None:
    text = str(emit(Program([], [], [], []), Machine(32, True)))
    assert text == f"define i64 @{FUNCTION}(ptr noundef %cells) nounwind {{\nentry:\n  ret i64 0\n}}\n"


def test_dumped_program_is_named_in_its_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("whorl.debug.debug", lambda: Debug(tmp_path))
    text = str(emit(Program([], [], [], []), Machine(32, True)))
    (file,) = tmp_path.glob("*.program")
    assert text.startswith(f"; dumped as {file.stem}\n")
