"""docs/tour.py runs, and prints what it promises."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

TOUR = Path(__file__).parents[2] / "docs" / "tour.py"


@pytest.mark.slow
def test_tour_reads_runs_writes_and_compiles_a_model_with_a_loop(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(TOUR)], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "= Loop" in done.stdout
    assert "captured    [%x: float32[n], %half: float32[], %tolerance: float32[]]" in done.stdout
    assert "after 8 rounds: [ 1.4142135  3.        10.       ]" in done.stdout
    assert "the loop wants more than 3 iterations" in done.stdout
    assert done.stdout.count("the same roots") == 3
    assert "  stop unless and(go1, lt(i0, 50))" in done.stdout
    assert "= fdiv float" in done.stdout
    ways = re.findall(r"^  (\S.*?) +\d+\.\d microseconds$", done.stdout, re.MULTILINE)
    assert ways == ["by hand", "machine code", "session, interpreter", "session, native"]
    assert not list(tmp_path.iterdir())
