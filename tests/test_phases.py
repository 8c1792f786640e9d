"""Phases: what counts where, on which threads, and that nothing is recorded unless somebody asks."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pytest

import whorl
from whorl import phases
from whorl.phases import Phase, Phases, in_phase, phase, record_phases

TEXT = """<ir_version: 10, opset_import: ["" : 21]>
doubled (float[n] x) => (float[n] y) { y = Add (x, x) }"""


class Clock:
    """Clocks that only go when they are told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        for name in ("perf_counter", "thread_time", "process_time"):
            monkeypatch.setattr(time, name, lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_phase_inside_another_interrupts_it(clock: Clock) -> None:
    with record_phases() as recorded:
        with phase(Phase.RUN):
            clock.now += 1
            with phase(Phase.LOWER):
                clock.now += 2
            clock.now += 4
        clock.now += 8
    seconds = {name: (total.cpu, total.wall, total.count) for name, total, _ in recorded.rows()}
    assert seconds == {"lower": (2, 2, 1), "run": (5, 5, 1), "rest": (8, 8, 0), "all": (15, 15, 0)}
    assert [(span.name, span.start, span.stop) for span in recorded.spans] == [("lower", 1, 3), ("run", 0, 7)]


def test_phase_of_another_thread_interrupts_nothing() -> None:
    with record_phases() as recorded, phase(Phase.RUN), phase(Phase.WAITING):
        thread = threading.Thread(target=in_phase(Phase.LLVM)(lambda: time.sleep(0.001)))
        thread.start()
        thread.join()
    assert [(span.name, span.is_main) for span in recorded.spans] == [("LLVM", False), ("run", True)]
    assert Phase.WAITING not in [name for name, _, _ in recorded.rows()]


def test_phase_ends_where_its_inside_fails(clock: Clock) -> None:
    with record_phases() as recorded:
        with pytest.raises(ValueError, match="no"), phase(Phase.PARSE):
            clock.now += 1
            raise ValueError("no")
        with phase(Phase.RUN):
            clock.now += 1
    assert recorded.totals[Phase.PARSE].wall == recorded.totals[Phase.RUN].wall == 1


def test_phase_outside_a_recording_leaves_no_trace() -> None:
    recorded = Phases()
    with phase(Phase.RUN):
        assert in_phase(Phase.LOWER)(lambda x: x + 1)(1) == 2
    assert not recorded.totals and not phases._recording


def test_table_has_a_line_for_each_phase_the_rest_and_all(clock: Clock) -> None:
    with record_phases() as recorded, phase(Phase.LINK):
        clock.now += 0.25
    assert recorded.table() == [
        "phase       CPU ms   wall ms   times",
        "link         250.0     250.0       1   object code becomes functions in memory",
        "rest           0.0       0.0           what is no phase, and other threads of native code",
        "all          250.0     250.0           besides 0 ms of CPU before: Python and first imports",
    ]
    assert recorded.document()["link"] == {"cpu": 0.25, "wall": 0.25, "times": 1}


def test_first_run_passes_every_phase_from_parse_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHORL_CACHE", str(tmp_path / "cache"))
    (tmp_path / "model.onnxtxt").write_text(TEXT)
    with record_phases() as recorded:
        options = whorl.SessionOptions()
        options.backend = "native"
        session = whorl.InferenceSession(tmp_path / "model.onnxtxt", options)
        session.run(None, {"x": np.ones(20_000, np.float32)})
    every = {
        Phase.PARSE,
        Phase.INFER,
        Phase.PLAN,
        Phase.LOWER,
        Phase.EMIT,
        Phase.CACHE,
        Phase.LLVM,
        Phase.LINK,
        Phase.RUN,
    }
    assert every <= recorded.totals.keys()
