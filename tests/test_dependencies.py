"""A missing dependency skips a test, or fails it where `WHORL_REQUIRE_ALL=1`; tested versions suit every Python."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from dependencies import VARIABLE
from packaging.specifiers import SpecifierSet

TESTS = Path(__file__).parent
USES = {
    "module": "import pytest\npytest.importorskip('absent', reason='it is not installed')\ndef test(): pass",
    "function": "import pytest\ndef test(): pytest.importorskip('absent')",
}


def outcome(folder: Path, source: str, required: str) -> str:
    """The last line of pytest's output about a test file beside this suite's rule."""
    (folder / "conftest.py").write_text("import dependencies\ndependencies.forbid_skips()\n")
    (folder / "test_it.py").write_text(source)
    environment = os.environ | {VARIABLE: required, "PYTHONPATH": str(TESTS)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, check=False)
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize("use", USES)
def test_missing_package_skips(use: str, tmp_path: Path) -> None:
    assert "1 skipped" in outcome(tmp_path, USES[use], "")


@pytest.mark.parametrize(("use", "expected"), [("module", "1 error"), ("function", "1 failed")])
def test_missing_package_fails_where_all_are_required(use: str, expected: str, tmp_path: Path) -> None:
    assert expected in outcome(tmp_path, USES[use], "1")


def test_installed_package_is_imported_where_all_are_required(tmp_path: Path) -> None:
    source = "import pytest\ndef test(): assert pytest.importorskip('json', reason='x').loads('1') == 1"
    assert "1 passed" in outcome(tmp_path, source, "1")


def test_versions_that_were_tested_install_on_the_oldest_python() -> None:
    root = Path(__file__).parents[1]
    lowest = tomllib.loads((root / "pyproject.toml").read_text())["project"]["requires-python"].removeprefix(">=")
    pins = [line.split("==")[0] for line in (root / "constraints.txt").read_text().splitlines() if "==" in line]
    ranges = {d.name.lower(): d.metadata.get("Requires-Python") or "" for d in metadata.distributions()}
    known = [name for name in pins if name.lower() in ranges]
    assert len(known) > 50
    assert [name for name in known if f"{lowest}.0" not in SpecifierSet(ranges[name.lower()])] == []
