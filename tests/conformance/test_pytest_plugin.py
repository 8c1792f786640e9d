"""The plugin: the cases are tests of the engine that an option names."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from whorl.conformance.files import FOLDER

TESTS = Path(__file__).parents[1]


def run_pytest(folder: Path, backend: str, *options: str) -> subprocess.CompletedProcess[str]:
    """pytest as another project runs it, in an empty folder."""
    command = [sys.executable, "-m", "pytest", "-p", "whorl.conformance.pytest_plugin", "-p", "no:cacheprovider"]
    command += ["--conformance-backend", f"conformance.broken_engines:{backend}", "-rA", *options]
    path = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    environment = os.environ | {"PYTHONPATH": path}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout.splitlines()[-1].strip("= ")


def test_wrong_case_fails_with_what_it_shows(tmp_path):
    done = run_pytest(tmp_path, "lies", "--pyargs", "whorl.conformance", "-k", "swap_2_trips")
    assert done.returncode == 1
    assert "wrong: 1 outputs, expected 2\n" in done.stdout
    assert last_line(done).startswith("1 failed, ")


@pytest.mark.slow
def test_unsupported_case_is_skipped(tmp_path):
    done = run_pytest(tmp_path, "lacks", f"{FOLDER / 'modes.json'}::while_limit_1")
    assert done.returncode == 0
    assert last_line(done).startswith("1 skipped")


@pytest.mark.slow
def test_error_case_passes_where_the_engine_refuses(tmp_path):
    done = run_pytest(tmp_path, "refuses", str(FOLDER / "invalid_models.json"), "--conformance-open")
    assert done.returncode == 0
    assert " passed" in last_line(done)
    assert "failed" not in last_line(done)


def test_open_cases_run_on_demand_only(tmp_path):
    chosen = f"{FOLDER / 'numbers.json'}", "--collect-only", "-q"
    closed, opened = (run_pytest(tmp_path, "lies", *chosen, *more).stdout for more in ((), ("--conformance-open",)))
    assert "::int32_wraps" in opened
    assert "::int32_wraps" not in closed
    assert "::int64_beyond_32_bits" in closed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "case", "outcome"),
    [
        ("lies", "modes.json::while_limit_1", "1 xfailed"),
        ("refuses", "invalid_models.json::error_trip_count_is_int32", "1 failed"),
    ],
)
def test_known_failure_must_fail(backend, case, outcome, tmp_path):
    (tmp_path / "list").write_text("# a comment\n\nwhile_limit_1: no loops: yet\nerror_trip_count_is_int32: never\n")
    options = "--conformance-open", "--conformance-known-failures", "list"
    assert last_line(run_pytest(tmp_path, backend, f"{FOLDER}/{case}", *options)).startswith(outcome)


@pytest.mark.slow
def test_without_a_backend_nothing_is_collected(tmp_path):
    command = [sys.executable, "-m", "pytest", "-p", "whorl.conformance.pytest_plugin", "--pyargs", "whorl.conformance"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 5
