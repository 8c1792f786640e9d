"""A schedule that hangs on values: its counters are carried, and nodes run in branches.

The counters of `scheduler` are cells like all others, so partial evaluation leaves of them only what the run decides.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from whorl.errors import UnsupportedError
from whorl.ir.dtypes import FLOAT64, INT64
from whorl.ir.graph import Value
from whorl.mdf.compile.branches import branch, skip
from whorl.mdf.compile.carried import repeat
from whorl.mdf.compile.scope import NotElementwiseError, Scope, Traced, known_shape
from whorl.mdf.compile.tracer import Tracer
from whorl.mdf.model import Datum
from whorl.mdf.schedule.counters import Update
from whorl.mdf.schedule.predicates import (
    COMPARATORS,
    AllOf,
    AnyOf,
    Compare,
    Constant,
    Limited,
    Multiple,
    Negated,
    Now,
    Predicate,
    Reading,
    Slot,
)
from whorl.mdf.schedule.scheduler import Plan, Set
from whorl.mdf.variables import COUNTER, FUNCTION, INPUT, OUTPUT, PARAMETER, Cell
from whorl.ops.elementwise.arithmetic import Abs, Add, Mod, Sub
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.comparison import Equal, Greater, GreaterOrEqual, Less, LessOrEqual
from whorl.ops.elementwise.logic import And, Not, Or
from whorl.ops.movement.indexing import Gather
from whorl.ops.movement.shapes import Reshape

MOST_PASSES = 256
"""Passes that are written out where it is known when they end."""
HUB = {"<": Less(), "<=": LessOrEqual(), "==": Equal(), ">=": GreaterOrEqual(), ">": Greater()}
Truth = bool | Traced


class TracedCall:
    """One evaluation of a graph."""

    def __init__(self, plan: Plan, tracer: Tracer) -> None:
        if tracer.scope.batched:
            raise NotElementwiseError("the schedule hangs on values of each parameter set")
        if Now() in plan.counters.index:
            raise UnsupportedError("its schedule hangs on values and on absolute time")
        self.plan, self.tracer = plan, tracer

    def run(self) -> None:
        """Trace passes until the evaluation ends."""
        counters, tracer = self.plan.counters, self.tracer
        self.apply(tracer, counters.call_starts)
        for _ in range(MOST_PASSES):
            ended = self.ended(tracer)
            if isinstance(ended, Traced):
                repeat(tracer, lambda inside: negated(inside.scope, self.ended(inside)), self.run_pass)
                break
            if ended:
                break
            self.run_pass(tracer)
        else:
            raise UnsupportedError(f"an evaluation takes more than {MOST_PASSES} passes")
        self.apply(tracer, counters.call_ends)

    def run_pass(self, tracer: Tracer) -> None:
        counters = self.plan.counters
        self.apply(tracer, counters.pass_starts)
        something: Truth = False
        for considered in self.plan.sets:
            goes_on = negated(tracer.scope, self.ended(tracer))
            flags = self.select_nodes(tracer, considered, goes_on)
            for node, flag in flags.items():
                when(tracer, flag, lambda inside, node=node: inside.run(node))
            ran: Truth = False
            for flag in flags.values():
                ran = combine(tracer.scope, False, ran, flag)
            when(tracer, ran, lambda inside: self.apply(inside, counters.set_ends))
            for node, flag in flags.items():
                when(tracer, flag, lambda inside, node=node: self.apply(inside, counters.has_run[node]))
            something = combine(tracer.scope, False, something, ran)
        idle = negated(tracer.scope, something)
        when(tracer, idle, lambda inside: self.apply(inside, counters.set_ends))
        self.apply(tracer, counters.pass_ends)

    def select_nodes(self, tracer: Tracer, considered: Set, goes_on: Truth) -> dict[str, Truth]:
        """For each node of a set whether it runs; they are asked again, since one may let another run."""
        runs: dict[str, Truth] = dict.fromkeys(considered, False)
        for _ in considered:
            for node in considered:
                free = combine(tracer.scope, True, goes_on, negated(tracer.scope, runs[node]))
                allowed = self.is_met(tracer, self.plan.conditions[node], free)
                now = combine(tracer.scope, True, free, allowed)
                when(tracer, now, lambda inside, node=node: self.apply(inside, self.plan.counters.runs[node]))
                runs[node] = combine(tracer.scope, False, runs[node], now)
        return runs

    def ended(self, tracer: Tracer) -> Truth:
        first, second = (self.is_met(tracer, predicate, True) for predicate in self.plan.ends)
        return combine(tracer.scope, False, first, second)

    # ---- counters ------------------------------------------------------------------------------------------------

    def apply(self, tracer: Tracer, update: Update) -> None:
        for at in update.zeroed:
            tracer.state[counter(at)] = 0
        for at, step in update.added:
            tracer.state[counter(at)] = added(tracer.scope, self.count(tracer, at), step)

    def count(self, tracer: Tracer, at: int) -> int | Traced:
        value = tracer.state[counter(at)]
        return 0 if value is None else value

    def slot(self, tracer: Tracer, slot: Slot) -> int | Traced:
        return self.count(tracer, self.plan.counters.index[slot])

    # ---- predicates ----------------------------------------------------------------------------------------------

    def is_met(self, tracer: Tracer, predicate: Predicate, evaluated: Truth) -> Truth:
        """Whether a predicate holds; it counts that it did only where it is `evaluated`."""
        scope = tracer.scope
        match predicate:
            case Constant(truth):
                return truth
            case Compare(slots, comparator, number):
                total: int | Traced = 0
                for slot in slots:
                    total = added(scope, total, self.slot(tracer, slot))
                return compared(scope, total, comparator, number)
            case Multiple(slot, number, offset):
                return divides(scope, added(scope, self.slot(tracer, slot), -offset), number)
            case AllOf(items) | AnyOf(items):
                return self.chain(tracer, items, isinstance(predicate, AllOf), evaluated)
            case Negated(item):
                return negated(scope, self.is_met(tracer, item, evaluated))
            case Limited(item, number, met):
                result = self.is_met(tracer, item, evaluated)
                within = compared(scope, self.slot(tracer, met), "<", number)
                result = combine(scope, True, result, within)
                at = self.plan.counters.index[met]
                once = Update(added=((at, 1),))
                when(tracer, combine(scope, True, result, evaluated), lambda inside: self.apply(inside, once))
                return result
            case Reading():
                return self.reads(tracer, predicate)

    def chain(self, tracer: Tracer, items: tuple[Predicate, ...], is_all: bool, evaluated: Truth) -> Truth:
        """All or any of some predicates; those after the one that decides are not asked."""
        result: Truth = is_all
        for item in items:
            open_yet = result if is_all else negated(tracer.scope, result)
            each = self.is_met(tracer, item, combine(tracer.scope, True, evaluated, open_yet))
            result = combine(tracer.scope, is_all, result, each)
        return result

    def reads(self, tracer: Tracer, reading: Reading) -> Truth:
        """A value of a node compared with a threshold."""
        value = value_of(tracer, reading)
        if not isinstance(value, Traced):
            return reading.is_met(value)
        scope = tracer.scope
        element = scope.floats(value)
        for index in reading.indices:
            element = scope.build.add(Gather(), element, scope.constant(np.array(index, INT64)))
        number = scope.traced(element)
        if np.prod(known_shape(number.type)) != 1:
            raise UnsupportedError(f"a threshold needs one number, and {reading.name!r} is {number.type}")
        number = scope.traced(scope.build.add(Reshape(), element, scope.constant(np.empty(0, INT64))))
        if reading.comparator not in ("==", "!="):
            return compared(scope, number, reading.comparator, reading.threshold)
        gap = scope.build.add(Sub(), scope.value(number), scope.constant(np.array(float(reading.threshold))))
        close = scope.traced(scope.build.add(Abs(), gap))
        equal = compared(scope, close, "<=", reading.atol + reading.rtol * abs(reading.threshold))
        return equal if reading.comparator == "==" else negated(scope, equal)


def counter(at: int) -> Cell:
    """Where a counter of the schedule is kept."""
    return Cell("schedule", COUNTER, str(at))


def value_of(tracer: Tracer, reading: Reading) -> Datum:
    """The value that a threshold looks at; before the first run of its node what it will begin with."""
    node = tracer.graph.nodes[reading.node]
    name = reading.name
    kinds = {INPUT: node.input_ports, PARAMETER: node.parameters, FUNCTION: node.functions, OUTPUT: node.output_ports}
    kind = next((kind for kind, parts in kinds.items() if name in parts), OUTPUT)
    value = tracer.state[Cell(node.id, kind, name)]
    if value is not None:
        return value
    if kind == PARAMETER:
        return node.parameters[name].default_initial_value or 0.0
    port = node.input_ports.get(name) or node.output_ports.get(name)
    return np.zeros((port.shape if port is not None else None) or ())


def when(tracer: Tracer, condition: Truth, trace: Callable[[Tracer], None]) -> None:
    """Trace what happens only where a condition holds."""
    if isinstance(condition, Traced):
        branch(tracer, condition, trace, skip)
    elif condition:
        trace(tracer)


# ---- arithmetic on what is known or not ------------------------------------------------------------------------------


def negated(scope: Scope, x: Truth) -> Truth:
    return scope.traced(scope.build.add(Not(), scope.value(x))) if isinstance(x, Traced) else not x


def combine(scope: Scope, is_all: bool, x: Truth, y: Truth) -> Truth:
    """Both, or either of two."""
    for known, other in ((x, y), (y, x)):
        if not isinstance(known, Traced):
            return other if known == is_all else known
    return scope.traced(scope.build.add(And() if is_all else Or(), scope.value(x), scope.value(y)))


def added(scope: Scope, x: int | Traced, y: int | Traced) -> int | Traced:
    if not isinstance(x, Traced) and not isinstance(y, Traced):
        return x + y
    known = [value for value in (x, y) if not isinstance(value, Traced)]
    if known == [0]:
        return x if isinstance(x, Traced) else y
    return scope.traced(scope.build.add(Add(), scope.value(x, whole=True), scope.value(y, whole=True)))


def compared(scope: Scope, x: int | Traced, comparator: str, number: float) -> Truth:
    if not isinstance(x, Traced):
        return bool(COMPARATORS[comparator](x, number))
    left = _floats(scope, x)
    return scope.traced(scope.build.add(HUB[comparator], left, scope.constant(np.array(float(number)))))


def divides(scope: Scope, x: int | Traced, number: int) -> Truth:
    if not isinstance(x, Traced):
        return x % number == 0
    rest = scope.build.add(Mod(), scope.value(x, whole=True), scope.constant(np.array(number, INT64)))
    return scope.traced(scope.build.add(Equal(), rest, scope.constant(np.array(0, INT64))))


def _floats(scope: Scope, x: Traced) -> Value:
    value = scope.value(x, whole=True)
    return value if x.type.dtype == FLOAT64 else scope.build.add(Cast(to=FLOAT64), value)
