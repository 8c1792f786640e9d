"""Bisecting names the iteration and the node of every known failure of an engine that differs by value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from whorl.api.models import load_module
from whorl.api.tracing.bisecting import Side, bisect
from whorl.api.tracing.recording import run_once
from whorl.cli.bisection import Engine, first_in_file
from whorl.codegen.target import host
from whorl.conformance.backends import backend_version
from whorl.conformance.case import Case
from whorl.conformance.cases import load_cases

PAGE = (Path(__file__).parents[2] / "docs" / "conformance.md").read_text(encoding="utf-8")
LINES = Path(__file__).with_name("known_differences.txt").read_text(encoding="utf-8").splitlines()
ROWS = [tuple(line.split(" ", 4)) for line in LINES if not line.startswith("#")]
CASES: dict[str, Case] = {case.name: case for case in load_cases()}
ENGINES = "onnxruntime", "openvino"
PATIENCE = 60.0


def section(engine: str) -> tuple[str, str]:
    """The version of an engine that the page is about, and what it says of it."""
    heading = re.search(rf"^### {engine} (\S+)\n(.*?)^##", PAGE, re.MULTILINE | re.DOTALL)
    assert heading is not None
    return heading[1], heading[2]


@pytest.fixture(scope="module")
def engines() -> Iterator[dict[str, Engine]]:
    running = {name: Engine(name, PATIENCE) for name in ENGINES}
    yield running
    for engine in running.values():
        engine.close()


@pytest.mark.parametrize("engine", ENGINES)
def test_table_has_every_case_that_differs_by_value(engine: str) -> None:
    names = re.search(r"^\*\*wrong\*\* \(\d+\): (.*)$", section(engine)[1], re.MULTILINE)
    assert names is not None
    wrong = {name.strip(" *") for name in names[1].split(",")}
    assert {row[1] for row in ROWS if row[0] == engine} == {n for n in wrong if CASES[n].expected is not None}


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "name", "loops", "value", "node"), ROWS, ids=lambda text: text)
def test_first_difference_is_located(
    engines: dict[str, Engine], engine: str, name: str, loops: str, value: str, node: str
) -> None:
    if backend_version(engine) != section(engine)[0]:
        pytest.skip(f"docs/conformance.md is about {engine} {section(engine)[0]}")
    case = CASES[name]
    module = load_module(case.proto)
    inputs: dict[str, Any] = {
        key: x if x is None or isinstance(x, list) else np.asarray(x) for key, x in case.inputs.items()
    }
    ours, theirs = Side(module, partial(run_once, mode="interpreter")), engines[engine]
    first = bisect(ours, Side(module, theirs.run), inputs, {})
    if first is None:
        first = first_in_file(case.data, ours, theirs, inputs, {})
    if first is None and engine == "openvino" and "float16" in name and "+avx512fp16" in host().features:
        pytest.skip("OpenVINO computes in float16 where the processor does, and rounds as ONNX says")
    assert first is not None
    located = ",".join(f"{path}:{number}" for path, number in first.loops) or "-"
    assert (located, first.node) == (loops, node)
    assert first.value in value.split("|")
