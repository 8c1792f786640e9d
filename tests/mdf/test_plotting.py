"""Recorded values as a picture."""

import pytest
from mdf.models import OSCILLATOR, model

from whorl.errors import SaveError
from whorl.mdf.plotting import plot

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


def test_records_are_drawn_into_a_file(tmp_path):
    plot(model(OSCILLATOR).simulate(3, 0.1, batch=2), tmp_path / "fn.svg", ["FN.V"], "one panel")
    assert "one panel" in (tmp_path / "fn.svg").read_text() or (tmp_path / "fn.svg").stat().st_size > 1000


def test_run_without_records_is_refused(tmp_path):
    with pytest.raises(SaveError, match="nothing was recorded"):
        plot(model(OSCILLATOR).simulate(1, 0.1, record=[]), tmp_path / "none.png")
