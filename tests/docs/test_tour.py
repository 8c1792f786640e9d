"""docs/tour.py runs, and prints what it promises."""

import subprocess
import sys
from pathlib import Path

import pytest

TOUR = Path(__file__).parents[2] / "docs" / "tour.py"


@pytest.mark.slow
def test_tour_reads_shows_runs_and_writes_a_model_with_a_loop(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(TOUR)], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "= Loop" in done.stdout
    assert "captured    [%x: float32[n], %half: float32[], %tolerance: float32[]]" in done.stdout
    assert "after 8 rounds: [ 1.4142135  3.        10.       ]" in done.stdout
    assert "the loop wants more than 3 iterations" in done.stdout
    assert done.stdout.count("the same roots") == 3
    assert not list(tmp_path.iterdir())
