"""The loop benchmark: workloads have the names they are chosen by, and C computes what the interpreter does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).parents[2] / "bench"
SMALL = ("W1 spec n=1000", "W1 collatz n=1000", "W2 neurons n=64 collected as Scan", "W6 cumsum 1000x64")


@pytest.fixture
def control_flow(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(BENCH))
    return __import__("control_flow")


def test_words_choose_workloads(control_flow) -> None:
    chosen = control_flow.workloads(["viterbi", "W6 cumsum"])
    assert [name.split()[1] for name in chosen] == ["cumsum", "cumsum", "viterbi", "viterbi"]
    assert {name.split()[0] for name in control_flow.workloads([])} >= {f"W{n}" for n in range(1, 9)}


def test_workloads_are_called_as_they_are_listed(control_flow) -> None:
    for name, make in control_flow.workloads(["W1", "W3", "W4", "W5", "W6", "W7", "W8"]).items():
        assert make().name == name


@pytest.mark.parametrize("name", SMALL)
def test_c_gives_what_the_interpreter_gives(control_flow, name: str) -> None:
    if not control_flow.is_present("c"):
        pytest.skip("there is no C compiler")
    load = control_flow.workloads([name])[name]()
    expected = control_flow.arrays(control_flow.ENGINES["interpreter"](load)())
    control_flow.check(control_flow.arrays(control_flow.ENGINES["c"](load)()), expected, load, "c")


def test_other_results_are_refused(control_flow) -> None:
    load = control_flow.workloads(["W1 newton n=1000"])["W1 newton n=1000"]()
    with pytest.raises(AssertionError):
        control_flow.check([np.array(2.0, np.float32)], [np.array(1.5, np.float32)], load, "peer")
    with pytest.raises(ValueError, match="peer gives other results"):
        control_flow.check([np.array(2)], [np.array(1)], load, "peer")


def test_measurement_says_what_engines_refused(control_flow) -> None:
    load = control_flow.workloads(["W7 levenshtein"])["W7 levenshtein"]()
    result = control_flow.measured(load, 1, ["unknown"])
    assert result["refused"] == {"unknown": "not written"}
    assert result["measurement"].medians["whorl"] > 0
    assert any("first run" in line for line in control_flow.shown(result))
