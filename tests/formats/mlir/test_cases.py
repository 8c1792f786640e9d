"""The cases in `cases/`: each file is run by its RUN lines, as LLVM's lit does, and its results checked by filecheck.

Folding must also compute what running does, but for the few cases where onnx-mlir defines another result.
"""

from __future__ import annotations

import io
import re
import shlex
from pathlib import Path

import pytest
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import parse_argv_options
from filecheck.parser import Parser

from whorl.cli import main

FILES = sorted(Path(__file__).parent.glob("cases/*.mlir"))
RUN = re.compile(r"^// RUN: (.*)$", re.MULTILINE)
"""Functions whose folded result is onnx-mlir's and not the one that runs give."""


def runs(path: Path) -> list[tuple[str, str]]:
    """The two commands of each RUN line: what makes the text, and what checks it."""
    settings = RUN.findall(path.read_text())
    return [tuple(part.strip() for part in line.replace("%s", str(path)).split("|")) for line in settings]


@pytest.mark.parametrize(
    ("command", "check"),
    [run for path in FILES for run in runs(path)],
    ids=[f"{path.stem}-{k}" for path in FILES for k, _ in enumerate(runs(path))],
)
def test_case_file_prints_what_it_says(
    command: str, check: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program, *arguments = shlex.split(command)
    assert program == "whorl" and main(arguments) == 0
    text = capsys.readouterr().out
    options = parse_argv_options(shlex.split(check))
    matcher = Matcher(options, FInput("printed", text), Parser.from_opts(options))
    monkeypatch.setattr(matcher, "stderr", complaint := io.StringIO())
    assert matcher.run() == 0, complaint.getvalue()


def test_there_are_enough_cases() -> None:
    assert sum(path.read_text().count("\nfunc.func @") for path in FILES) >= 250
