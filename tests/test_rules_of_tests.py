"""What no test may do: compare times of the clock on the wall, or skip where whorl itself could not be installed."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
FILES = sorted(TESTS.rglob("*.py"))
WALL = {"perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "time", "time_ns"}
PROJECT = tomllib.loads((TESTS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
HARD = {re.split(r"[<>=]", each)[0] for each in PROJECT["dependencies"]}


def clock_asserts(source: str) -> Iterator[int]:
    """The lines of assertions that read the clock on the wall; the time of the process is the same under any load."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assert) and any(_reads_clock(part) for part in ast.walk(node.test)):
            yield node.lineno


def _reads_clock(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="time"), attr=name) | ast.Name(id=name), args=[]):
            return name in WALL
    return False


def hard_skips(source: str) -> Iterator[int]:
    """The lines that skip where a package is missing without which whorl does not install."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(attr="importorskip"), args=[ast.Constant(value=str(name)), *_]):
                if name.partition(".")[0] in HARD:
                    yield node.lineno


@pytest.mark.parametrize("rule", [clock_asserts, hard_skips])
def test_no_test_breaks_the_rule(rule) -> None:
    assert len(FILES) > 100
    assert "numpy" in HARD
    broken = [f"{path}:{line}" for path in FILES for line in rule(path.read_text(encoding="utf-8"))]
    assert not broken


def test_assert_that_reads_the_clock_is_reported() -> None:
    assert list(clock_asserts("x = time.monotonic()\nassert time.monotonic() - x < 5")) == [2]
    assert not list(clock_asserts("assert time.process_time() - x < 5"))


def test_skip_for_a_hard_dependency_is_reported() -> None:
    assert list(hard_skips("pytest.importorskip('llvmlite.binding')\npytest.importorskip('openvino')")) == [1]
