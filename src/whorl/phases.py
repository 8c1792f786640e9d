"""Where the time of a first run goes: phases, as parse, infer, lower and link, recorded while somebody asks.

    with record_phases() as phases:
        whorl.InferenceSession(path).run(None, feeds)
    print("\\n".join(phases.table()))

A phase that begins inside another one, on the same thread, interrupts it: no time counts twice.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from enum import StrEnum
from typing import ParamSpec, TypeVar

from msgspec import Struct


class Phase(StrEnum):
    """What a thread does; `WAITING` for what another one does, whose phases say what that is."""

    IMPORT = "import"
    PARSE = "parse"
    INFER = "infer"
    PASSES = "passes"
    PLAN = "plan"
    LOWER = "lower"
    EMIT = "emit"
    CACHE = "cache"
    LLVM = "LLVM"
    LINK = "link"
    RUN = "run"
    WAITING = "waiting"


MEANINGS = {
    Phase.IMPORT: "modules loaded when they are first used",
    Phase.PARSE: "the file becomes a module",
    Phase.INFER: "types and shapes, in the file and for the shapes of a run",
    Phase.PASSES: "the module, and loop nests, made faster",
    Phase.PLAN: "a session's steps and subgraphs",
    Phase.LOWER: "nodes become loop nests, for the shapes of a run",
    Phase.EMIT: "loop nests become LLVM IR",
    Phase.CACHE: "object code looked up on disk, and written there",
    Phase.LLVM: "LLVM optimises, and makes object code",
    Phase.LINK: "object code becomes functions in memory",
    Phase.RUN: "the run itself, native and interpreted",
}
SHORTEST, MOST_SPANS = 5e-5, 1 << 16
"""Seconds from which a phase is one of the spans, and the number of these; all count in the totals."""
P = ParamSpec("P")
T = TypeVar("T")


class PhaseSpan(Struct, frozen=True):
    """A time that a phase took, by `time.perf_counter`; whether it was on the thread that records."""

    name: Phase
    start: float
    stop: float
    is_main: bool


class Total(Struct):
    """What a phase took in all, without the phases inside: seconds on the clock and of CPU, and how often it began."""

    wall: float = 0.0
    cpu: float = 0.0
    count: int = 0


class Phases:
    """What was recorded. Threads may add to it at once."""

    def __init__(self) -> None:
        self.totals: dict[Phase, Total] = {}
        self.spans: list[PhaseSpan] = []
        self.cpu_before = time.process_time()
        self.begun = time.perf_counter()
        self.wall = self.cpu = 0.0
        self._main = threading.get_ident()
        self._lock = threading.Lock()
        self._threads = threading.local()

    def stop(self) -> None:
        """What the process took until now is what all phases and the rest took."""
        self.wall, self.cpu = time.perf_counter() - self.begun, time.process_time() - self.cpu_before

    @contextmanager
    def measure(self, name: Phase) -> Generator[None]:
        """Count what is inside as a phase."""
        open_phases: list[Total] = self._threads.__dict__.setdefault("open", [])
        inside = Total()
        open_phases.append(inside)
        start, cpu = time.perf_counter(), time.thread_time()
        try:
            yield
        finally:
            stop = time.perf_counter()
            wall, cpu = stop - start, time.thread_time() - cpu
            open_phases.pop()
            if open_phases:
                open_phases[-1].wall += wall
                open_phases[-1].cpu += cpu
            self._add(PhaseSpan(name, start, stop, threading.get_ident() == self._main), wall, cpu, inside)

    def _add(self, span: PhaseSpan, wall: float, cpu: float, inside: Total) -> None:
        with self._lock:
            total = self.totals.setdefault(span.name, Total())
            total.wall += wall - inside.wall
            total.cpu += cpu - inside.cpu
            total.count += 1
            if wall >= SHORTEST and span.name != Phase.WAITING and len(self.spans) < MOST_SPANS:
                self.spans.append(span)

    def rows(self) -> Iterator[tuple[str, Total, str]]:
        """Each phase that there was, what it took and what it is; then the rest, and all."""
        rest = Total(self.wall, self.cpu)
        for name, meaning in MEANINGS.items():
            if name in self.totals:
                total = self.totals[name]
                rest.wall -= total.wall
                rest.cpu -= total.cpu
                yield name, total, meaning
        rest.wall = max(0.0, rest.wall)
        rest.cpu = max(0.0, rest.cpu)
        yield "rest", rest, "what is no phase, and other threads of native code"
        before = f"besides {1000 * self.cpu_before:.0f} ms of CPU before: Python and first imports"
        yield "all", Total(self.wall, self.cpu), before

    def document(self) -> dict[str, dict[str, float]]:
        """The rows for JSON, in seconds."""
        return {name: {"cpu": each.cpu, "wall": each.wall, "times": each.count} for name, each, _ in self.rows()}

    def table(self) -> list[str]:
        """The rows as text, milliseconds each."""
        lines = [f"{'phase':<8}{'CPU ms':>10}{'wall ms':>10}{'times':>8}"]
        for name, total, meaning in self.rows():
            count = f"{total.count or '':>8}"
            lines.append(f"{name:<8}{1000 * total.cpu:>10.1f}{1000 * total.wall:>10.1f}{count}   {meaning}")
        return lines


_recording: list[Phases] = []
"""What records now: nothing, or one."""


@contextmanager
def record_phases() -> Generator[Phases]:
    """Record the phases of what is inside, on all threads; one recording at a time."""
    phases = Phases()
    _recording[:] = [phases]
    try:
        yield phases
    finally:
        _recording.clear()
        phases.stop()


def phase(name: Phase) -> AbstractContextManager[None]:
    """Count what is inside as a phase, where something records."""
    return _recording[0].measure(name) if _recording else _NOTHING


def in_phase(name: Phase) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A function whose calls are a phase each, where something records."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def measured(*arguments: P.args, **keywords: P.kwargs) -> T:
            if not _recording:
                return function(*arguments, **keywords)
            with phase(name):
                return function(*arguments, **keywords)

        return measured

    return decorate


_NOTHING = nullcontext()
