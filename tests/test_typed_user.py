"""The public API is fully typed: a script of a user passes a strict type checker, and a wrong one does not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import whorl

CHECKOUT = Path(__file__).parents[1]
SCRIPT = CHECKOUT / "tests" / "typed_user.py"
WRONG = """
import whorl
whorl.load("m.onnx", compat="tensorrt")
whorl.run("m.onnx", {"x": 1}).shape
whorl.InferenceSesion("m.onnx")
"""


def check(script: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """What pyright says of a script, strictly."""
    settings = {"include": [str(script)], "extraPaths": [str(CHECKOUT / "src")], "typeCheckingMode": "strict"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings | {"pythonVersion": "3.11"}))
    command = [sys.executable, "-m", "pyright", "-p", str(folder), "--pythonpath", sys.executable]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.slow
def test_user_with_a_strict_checker_annotates_all_of_the_api(tmp_path):
    pytest.importorskip("pyright")
    done = check(SCRIPT, tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_wrong_use_is_an_error_of_the_checker(tmp_path):
    pytest.importorskip("pyright")
    script = tmp_path / "wrong.py"
    script.write_text(WRONG)
    done = check(script, tmp_path)
    assert [line for line in (3, 4, 5) if f"wrong.py:{line}:" not in done.stdout] == []


def test_script_uses_every_public_name_but_the_errors():
    text = SCRIPT.read_text(encoding="utf-8")
    unused = {name for name in whorl.__all__ if f"whorl.{name}" not in text and not name.endswith("Error")}
    assert unused == set()


def test_script_runs():
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("[")
