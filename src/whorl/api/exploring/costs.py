"""How the nodes of a model ran, and how long they took: a run that compiles, and one that is timed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whorl.api.preparing import prepare
from whorl.api.tracing.recording import copy_module
from whorl.ir.graph import Module
from whorl.runtime.backends import Mode
from whorl.runtime.limits import Limits
from whorl.runtime.session import Session
from whorl.runtime.trace import COMPILE, MAIN, PHASES, Trace

if TYPE_CHECKING:
    from whorl.runtime.compiled.explain import Verdict


class Cost(Struct, frozen=True, omit_defaults=True):
    """A node, or nodes that ran as one: how, for what reason, and the seconds that it took in one run.

    Of a loop also its iterations, and the seconds that these took. `calls`: the nodes inside that native code leaves
    to NumPy. `depth` says how many interpreted nodes lie around it.
    """

    title: str
    how: str
    reason: str = ""
    calls: Sequence[str] = ()
    nodes: int = 1
    depth: int = 0
    seconds: float | None = None
    iterations: int | None = None
    looped: float | None = None


def measure_costs(
    module: Module, inputs: Mapping[str, Any], limits: Limits | None = None, mode: str | Mode | None = None
) -> list[Cost]:
    """The costs of a run for which everything is compiled; those of what lies inside a node follow it.

    Times come from another run, in which loops are on their own, not parts of larger programs.
    """
    whole = Session(prepare(copy_module(module)), limits, mode or "native")
    whole.execute(None, inputs)
    parts = Session(prepare(copy_module(module)), limits, mode or "native")
    parts.record(Trace())
    parts.execute(None, inputs)
    timed = Trace()
    parts.record(timed)
    parts.execute(None, inputs)
    times = _Times(timed)
    costs = list(_costs(whole.explain(), times, 0))
    known = {cost.title for cost in costs}
    loops = (title for title in times.loops if title not in known)
    return costs + [times.cost(title, "native" if times.native[title] else "interpreted", depth=1) for title in loops]


class _Times:
    """The seconds of a run by the titles of nodes, and of loops the iterations and the seconds of these."""

    def __init__(self, trace: Trace) -> None:
        self.seconds: dict[str, float] = {}
        self.loops: dict[str, tuple[int, float]] = {}
        self.native: dict[str, bool] = {}
        for span in trace.spans:
            length = span.stop - span.start
            if span.lane == MAIN:
                self.seconds[span.name] = self.seconds.get(span.name, 0.0) + length
            elif span.lane not in (COMPILE, PHASES):
                count, total = self.loops.get(span.lane, (0, 0.0))
                self.loops[span.lane] = count + int(span.facts.get("iterations", 0)), total + length
                self.native[span.lane] = bool(span.facts.get("native"))

    def cost(self, title: str, how: str, depth: int, verdict: Verdict | None = None) -> Cost:
        """How something ran with its times."""
        iterations, looped = self.loops.get(title, (None, None))
        reason, calls, nodes = ("", [], 1) if verdict is None else (verdict.reason, verdict.calls, verdict.nodes)
        return Cost(title, how, reason, calls, nodes, depth, self.seconds.get(title), iterations, looped)


def _costs(verdicts: Sequence[Verdict], times: _Times, depth: int) -> Iterator[Cost]:
    for each in verdicts:
        yield times.cost(each.title, each.how, depth, each)
        yield from _costs(each.inside, times, depth + 1)
