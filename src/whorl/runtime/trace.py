"""What happened when in a run: spans on lanes, written as a trace that Chrome and Perfetto show."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from whorl.ir.forking import renew_in_children
from whorl.phases import Phases

MAIN, COMPILE, PHASES = "main graph", "compile", "phases"
LARGEST = 1 << 18
"""Spans that are recorded; later ones are counted only."""

now = time.perf_counter


class Span(Struct, frozen=True):
    """A piece of work on a lane; `facts` are shown with it."""

    lane: str
    name: str
    start: float
    stop: float
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Trace:
    """The spans of runs, in the order in which they ended. Threads may add to it at once."""

    def __init__(self) -> None:
        self.begun = now()
        self.spans: list[Span] = []
        self.dropped = 0
        self.renew()
        renew_in_children(self)

    def renew(self) -> None:
        """A free lock: that of a fork's parent may be taken."""
        self._lock = threading.Lock()

    def add(self, lane: str, name: str, start: float, **facts: object) -> None:
        """A span that ends now."""
        span = Span(lane, name, start, now(), facts)
        with self._lock:
            if len(self.spans) < LARGEST:
                self.spans.append(span)
            else:
                self.dropped += 1

    def add_compilation(self, what: str, start: float, refusal: str | None) -> None:
        """An attempt to compile that ends now, with the reason where there is no native form."""
        self.add(COMPILE, what, start, **({} if refusal is None else {"refused": refusal}))

    def add_phases(self, phases: Phases) -> None:
        """The phases of a recording: a lane for those of its thread, others where compilation is shown."""
        lanes = [Span(PHASES if each.is_main else COMPILE, each.name, each.start, each.stop) for each in phases.spans]
        with self._lock:
            self.begun = min(self.begun, phases.begun)
            self.spans += lanes

    def lanes(self) -> list[str]:
        """The names of lanes: phases, the main graph, the loops in the order in which they began, and compilation."""
        lanes = dict.fromkeys(span.lane for span in sorted(self.spans, key=lambda span: span.start))
        loops = [lane for lane in lanes if lane not in (MAIN, COMPILE, PHASES)]
        return [*([PHASES] if PHASES in lanes else []), MAIN, *loops, COMPILE]

    def document(self) -> dict[str, object]:
        """The trace in Chrome's format; times are in microseconds from the beginning."""
        numbers = {lane: number for number, lane in enumerate(self.lanes())}
        names = [
            {"ph": "M", "pid": 1, "tid": number, "name": "thread_name", "args": {"name": lane}}
            for lane, number in numbers.items()
        ]
        order = [
            {"ph": "M", "pid": 1, "tid": number, "name": "thread_sort_index", "args": {"sort_index": number}}
            for number in numbers.values()
        ]
        events = [
            {
                "ph": "X",
                "pid": 1,
                "tid": numbers[span.lane],
                "name": span.name,
                "ts": round((span.start - self.begun) * 1e6, 3),
                "dur": round((span.stop - span.start) * 1e6, 3),
                "args": span.facts,
            }
            for span in self.spans
        ]
        other = {"dropped_spans": self.dropped} if self.dropped else {}
        return {"traceEvents": [*names, *order, *events], "displayTimeUnit": "ns", "otherData": other}

    def events(self) -> list[dict[str, object]]:
        """The spans as onnxruntime's profiles have them: nodes of the main graph, and what else a session did."""
        events: list[dict[str, object]] = []
        for span in self.spans:
            is_node = span.lane == MAIN
            kind, _, rest = span.name.partition(" ")
            facts = dict(span.facts) | ({"op_name": kind, "provider": "CPUExecutionProvider"} if is_node else {})
            name = f"{rest.strip(chr(39)) or kind}_kernel_time" if is_node else span.name
            start, length = (round(seconds * 1e6) for seconds in (span.start - self.begun, span.stop - span.start))
            category = "Node" if is_node else "Session"
            event: dict[str, object] = {
                "cat": category,
                "pid": 1,
                "tid": 1,
                "dur": length,
                "ts": start,
                "ph": "X",
                "name": name,
            }
            events.append(event | {"args": facts})
        return events

    def write_events(self, path: str | Path) -> None:
        """Write the events to a file that chrome://tracing and ui.perfetto.dev open."""
        import json

        Path(path).write_text(json.dumps(self.events()), encoding="utf-8")

    def write(self, path: str | Path) -> None:
        """Write the trace to a file that chrome://tracing and ui.perfetto.dev open."""
        import json

        Path(path).write_text(json.dumps(self.document()), encoding="utf-8")
