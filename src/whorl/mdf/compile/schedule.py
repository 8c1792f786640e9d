"""A schedule inside a program: calls known beforehand are straight code, others branches on counters and values.

Calls that repeat with a period are one of several pieces, chosen by the number of the evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from whorl.errors import UnsupportedError
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Value
from whorl.mdf.compile.branches import branch
from whorl.mdf.compile.conditions import TracedCall
from whorl.mdf.compile.scope import Scope, Traced
from whorl.mdf.compile.tracer import Tracer
from whorl.mdf.model import Graph
from whorl.mdf.schedule.scheduler import Call, Period, Schedule
from whorl.ops.elementwise.arithmetic import Add, Mod, Sub
from whorl.ops.elementwise.comparison import Equal, Less, Where
from whorl.ops.movement.indexing import Gather

MOST_LEAD = 4
"""Calls before the cycle that are written out one by one."""
MOST_TABLE = 1 << 16


class TracedSchedule:
    """Which nodes each evaluation runs."""

    def __init__(self, graph: Graph) -> None:
        self.schedule = Schedule(graph)
        period = None if self.schedule.has_threshold else self.schedule.period(MOST_TABLE)
        if period is None and not self.schedule.has_threshold:
            raise UnsupportedError("its schedule has no period", fix="run it by the interpreter")
        self.period = period or Period((), ((),))
        """Empty calls where the schedule hangs on values."""

    @property
    def is_counted(self) -> bool:
        """Whether evaluations differ, so that the loop must know their number."""
        return len(set(self.period.cycle)) > 1 or len(self.period.lead) > MOST_LEAD

    def is_periodic(self, calls: int) -> bool:
        """Whether the loop may begin after so many evaluations."""
        return self.is_counted or calls >= len(self.period.lead)

    def number(self, body: Scope, iteration: Traced, done: Traced, before: int) -> Traced:
        """The number of the evaluation in an iteration of the loop."""
        total = body.build.add(Add(), body.value(iteration), body.value(done))
        return body.traced(body.build.add(Add(), total, whole(body, before)))

    def run(self, tracer: Tracer, call: int | Traced) -> None:
        """Trace an evaluation."""
        if self.schedule.has_threshold:
            TracedCall(self.schedule.plan, tracer).run()
            return
        if not isinstance(call, Traced) or not self.is_counted:
            run_call(tracer, self.period[len(self.period.lead) if isinstance(call, Traced) else call])
            return
        calls = [*self.period.lead, *self.period.cycle]
        kinds = list(dict.fromkeys(calls))
        build, scope = tracer.scope.build, tracer.scope
        phase = self._phase(scope, scope.value(call))
        table = scope.constant(np.array([kinds.index(each) for each in calls], np.int64))
        kind = scope.traced(build.add(Gather(), table, phase))
        choose(tracer, kind, [lambda inside, each=each: run_call(inside, each) for each in kinds])

    def _phase(self, scope: Scope, call: Value) -> Value:
        """Where an evaluation stands in the lead and the cycle that follows it."""
        lead, cycle = (whole(scope, len(part)) for part in (self.period.lead, self.period.cycle))
        build = scope.build
        again = build.add(Add(), build.add(Mod(), build.add(Sub(), call, lead), cycle), lead)
        return build.add(Where(), build.add(Less(), call, lead), call, again)


def run_call(tracer: Tracer, call: Call) -> None:
    """The nodes of the consideration sets of an evaluation, in order."""
    tracer.repeats = {}
    for each in call:
        for node in each:
            tracer.run(node)


def choose(tracer: Tracer, kind: Traced, cases: Sequence[Callable[[Tracer], None]], first: int = 0) -> None:
    """Trace the case that an integer names."""
    if len(cases) == 1:
        cases[0](tracer)
        return
    scope = tracer.scope
    is_first = scope.traced(scope.build.add(Equal(), scope.value(kind), whole(scope, first)))
    branch(tracer, is_first, cases[0], lambda inside: choose(inside, kind, cases[1:], first + 1))


def whole(scope: Scope, number: int) -> Value:
    return scope.constant(np.array(number, INT64))
