"""The demo agrees with scikit-learn."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[1] / "examples" / "demo.py"


@pytest.mark.slow
def test_demo_agrees_with_scikit_learn(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(DEMO)], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(": as scikit-learn says") == 6
    assert "The loop went round 14 times" in done.stdout
    assert done.stdout.count(": as whorl before the conversion says") == (4 if find_spec("openvino") else 2)
