"""Indices far outside, and indices that change during a run: an error or the op's meaning, never an access outside."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from runtime.index_attacks import OPS
from runtime.racing_feeds import OPS as RACES

HERE = Path(__file__).parent
SHORT = ["Gather", "ScatterND", "Slice from", "OneHot", "TopK", "LSTM of lengths"]
LONG = [name for name in OPS if name not in SHORT]
EACH = 8
"""Ops that one process tries: what dies says of which op."""


def report(script: str, *names: str, **variables: str) -> list[str]:
    """What a script of attacks prints: its last line is what it was about when it died."""
    path = os.pathsep.join(p for p in sys.path if p)
    environment = os.environ | {"PYTHONPATH": path} | variables
    command = [sys.executable, str(HERE / script), *names]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and lines[-1] == "done", (done.returncode, lines[-1:], done.stderr[-500:])
    return lines


@pytest.mark.skipif(os.name != "posix", reason="memory is protected by mprotect")
@pytest.mark.parametrize(
    "names",
    [SHORT, *(pytest.param(LONG[k : k + EACH], marks=pytest.mark.slow) for k in range(0, len(LONG), EACH))],
    ids=lambda names: f"{names[0]} to {names[-1]}",
)
def test_indices_outside_are_errors_or_have_a_meaning(names):
    lines = report("index_attacks.py", *names, WHORL_DEBUG="guard")
    different = [f"{lines[n - 1]}: {line}" for n, line in enumerate(lines) if line.startswith("DIFFERENT")]
    assert not different


@pytest.mark.slow
def test_indices_that_change_during_a_run_touch_nothing_outside():
    assert [line for line in report("racing_feeds.py") if line != "done"] == list(RACES)
