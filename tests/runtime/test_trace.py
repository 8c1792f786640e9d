"""Traces: spans on lanes, as Chrome and Perfetto read them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from whorl.runtime import trace
from whorl.runtime.trace import COMPILE, MAIN, Trace, now


def test_lanes_are_the_main_graph_loops_as_they_began_and_compilation() -> None:
    recorded, start = Trace(), now()
    recorded.add("Loop 'b'", "slice", start + 1)
    recorded.add("Loop 'a'", "slice", start)
    recorded.add_compilation("Loop 'a'", start, None)
    assert recorded.lanes() == [MAIN, "Loop 'a'", "Loop 'b'", COMPILE]


def test_refusal_is_shown_with_the_compilation() -> None:
    recorded = Trace()
    recorded.add_compilation("Unique 'u'", now(), "no native form")
    assert recorded.spans[0].facts == {"refused": "no native form"}


def test_written_trace_has_an_event_for_each_span(tmp_path: Path) -> None:
    recorded = Trace()
    recorded.add(MAIN, "Neg 'n'", now(), native=True)
    recorded.write(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    (event,) = [each for each in events if each["ph"] == "X"]
    assert (event["name"], event["args"]) == ("Neg 'n'", {"native": True})
    assert event["dur"] >= 0


def test_spans_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "LARGEST", 1)
    recorded = Trace()
    for _ in range(3):
        recorded.add(MAIN, "step", now())
    assert (len(recorded.spans), recorded.document()["otherData"]) == (1, {"dropped_spans": 2})
