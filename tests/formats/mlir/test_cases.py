"""The cases in `cases/`: each file is run by its RUN lines, as LLVM's lit does, and its results checked by filecheck.

Folding must also compute what running does, but for the few cases where onnx-mlir defines another result.
"""

from __future__ import annotations

import io
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import parse_argv_options
from filecheck.parser import Parser

import whorl
from whorl.cli import main
from whorl.formats.mlir.optimizing import TextOptions, optimize_text
from whorl.formats.mlir.parser import parse_program, split_text
from whorl.formats.mlir.reader import read_function
from whorl.formats.options import LoadOptions
from whorl.ir.graph import Module, Value
from whorl.ir.types import TensorType

FILES = sorted(Path(__file__).parent.glob("cases/*.mlir"))
RUN = re.compile(r"^// RUN: (.*)$", re.MULTILINE)
FOLDED = ("casts", "constants", "elementwise", "matrices", "movement", "programs", "reductions", "sums_and_products")
DEFINED_ELSEWHERE = {"floats_out_of_range_saturate", "quotient_by_zero_is_the_dividend", "clip_1", "clip_2", "clip_3"}
"""Functions whose folded result is onnx-mlir's and not the one that runs give."""


def runs(path: Path) -> list[tuple[str, str]]:
    """The two commands of each RUN line: what makes the text, and what checks it."""
    found = RUN.findall(path.read_text())
    return [tuple(part.strip() for part in line.replace("%s", str(path)).split("|")) for line in found]


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


def modules(text: str) -> dict[str, Module]:
    program = parse_program(text, "case.mlir")
    return {f.name: read_function(program, f, LoadOptions()).module for f in program.functions}


def rank_of(value: Value) -> int | None:
    assert isinstance(value.type, TensorType)
    return value.type.rank


def feeds(module: Module) -> dict[str, np.ndarray]:
    """Small numbers for every input; an unknown length is 2."""
    given = {}
    for index, value in enumerate(module.main.arguments):
        assert isinstance(value.type, TensorType)
        shape = tuple(d if isinstance(d, int) else 2 for d in value.type.shape)
        given[value.name] = (np.arange(np.prod(shape, dtype=int)).reshape(shape) + index + 1).astype(value.type.dtype)
    return given


@pytest.mark.parametrize("name", FOLDED)
def test_folding_computes_what_running_does(name: str) -> None:
    text = (Path(__file__).parent / "cases" / f"{name}.mlir").read_text()
    options = TextOptions(("shape-inference", "constprop-onnx"))
    for _, piece in split_text(text):
        after = modules(optimize_text(piece, "case.mlir", options, LoadOptions()).text)
        for function, module in modules(piece).items():
            if function in DEFINED_ELSEWHERE or any(rank_of(value) is None for value in module.main.arguments):
                continue
            given = feeds(module)
            expected = list(whorl.run(module, given).values())
            found = list(
                whorl.run(
                    after[function], dict(zip(given_names(after[function]), given.values(), strict=True))
                ).values()
            )
            for a, b in zip(expected, found, strict=True):
                assert a.dtype == b.dtype and a.shape == b.shape, function
                assert same(a, b), function


def given_names(module: Module) -> list[str]:
    return [value.name for value in module.main.arguments]


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Bit for bit; sums and products of floats are regrouped, which may change the last one."""
    if a.dtype == object or a.dtype.kind in "iub":
        return np.array_equal(a, b)
    return np.allclose(a.astype(np.float64), b.astype(np.float64), rtol=1e-6, equal_nan=True)
