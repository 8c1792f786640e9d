"""The benchmarks: what they share, and that each runs alone and says its question."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"
NAMES = sorted(path.stem for path in BENCH.glob("*.py") if "__main__" in path.read_text())


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.syspath_prepend(str(BENCH))
    return __import__("measuring")


def costs(*values: float) -> Callable[[], float]:
    """A candidate that measures these values, one a round."""
    actual: Iterator[float] = iter(values)
    return lambda: next(actual)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_benchmark_runs_alone_and_says_its_question(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(BENCH / f"{name}.py"), "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "?" in done.stdout and "--json" in done.stdout


def test_in_turns_gives_the_median_of_each(measuring) -> None:
    actual = measuring.in_turns({"whorl": costs(3, 1, 2), "peer": costs(5, 9, 6)}, 3)
    assert actual == {"whorl": 2, "peer": 6}


@pytest.mark.parametrize(("target", "code"), [(None, 0), (3, 0), (1, 1)])
def test_report_fails_where_a_target_is_missed(measuring, monkeypatch, capsys, target, code) -> None:
    monkeypatch.setattr(sys, "argv", ["name.py"])
    measurement = measuring.Measurement("a thing", "us", {"whorl": 2.0, "peer": 4.0}, target)
    assert measuring.report("How much?", lambda: [measurement]) == code
    printed = capsys.readouterr().out
    assert "whorl needs 0.5 times as much" in printed
    assert ("MISSED" in printed) == bool(code)


def test_report_as_json_has_medians_and_ratios(measuring, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["name.py", "--json"])
    measuring.report("How much?", lambda: [measuring.Measurement("a thing", "us", {"whorl": 2.0, "peer": 4.0}, 3)])
    document = json.loads(capsys.readouterr().out)
    assert document["question"] == "How much?"
    assert document["machine"]["cores"] >= 1
    (actual,) = document["measurements"]
    assert actual["medians"] == {"whorl": 2.0, "peer": 4.0}
    assert actual["ratios"] == {"peer": 0.5}
    assert not actual["misses"]
