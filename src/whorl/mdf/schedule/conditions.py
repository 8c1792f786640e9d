"""Conditions of an MDF file read as predicates over the counters of a schedule.

Counters are calls of a node in a scale of time, uses that one node left for another, ticks, and absolute time in units
that all times of the file are multiples of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from msgspec import Struct

from whorl.errors import UnsupportedError
from whorl.mdf.model import Condition
from whorl.mdf.schedule.arguments import Arguments, Clock, ConditionContext
from whorl.mdf.schedule.durations import common_measure, duration
from whorl.mdf.schedule.predicates import (
    COMPARATORS,
    AllOf,
    AnyOf,
    Calls,
    Compare,
    Constant,
    Limited,
    Met,
    Multiple,
    Negated,
    Now,
    Predicate,
    Ran,
    Reading,
    Scale,
    Ticks,
    Usable,
)
from whorl.mdf.schedule.structure import is_structural

CSE, PASS, ESU, ESQ, LIFE = Scale
COMPOSITES = ("All", "And", "Any", "Or")
CALLABLES = ("Condition", "While", "WhileNot", "CustomGraphStructureCondition", "Custom")
FINISHED = "finished"


def ticks(of: Scale, scale: Scale) -> Ticks:
    """A scale that is not coarser than what is counted means the whole life."""
    return Ticks(of, scale if scale > of else LIFE)


def calls(comparator: str) -> Callable[[Arguments], Predicate]:
    def read(arguments: Arguments) -> Predicate:
        return Compare((Calls(arguments.node(), arguments.scale()),), comparator, arguments.number())

    return read


def time(of: Scale, comparator: str, default: Scale) -> Callable[[Arguments], Predicate]:
    def read(arguments: Arguments) -> Predicate:
        return Compare((ticks(of, arguments.scale(default)),), comparator, arguments.number())

    return read


def sequence(comparator: str) -> Callable[[Arguments], Predicate]:
    return lambda arguments: Compare((Ticks(ESQ, LIFE),), comparator, arguments.number())


def every_n_calls(arguments: Arguments) -> Predicate:
    owner = arguments.context.owner
    if owner is None:
        raise arguments.fail("counts calls since its own node ran, and a termination has no node")
    return Compare((Usable(arguments.node(), owner),), ">=", arguments.number())


def after_n_calls_combined(arguments: Arguments) -> Predicate:
    scale = arguments.scale()
    return Compare(tuple(Calls(node, scale) for node in arguments.nodes()), ">=", arguments.number())


def all_have_run(arguments: Arguments) -> Predicate:
    scale = arguments.scale()
    return AllOf(
        tuple(Compare((Calls(node, scale),), ">=", 1) for node in arguments.nodes() or arguments.context.nodes)
    )


def every_n_passes(arguments: Arguments) -> Predicate:
    number = arguments.number()
    if number < 1 or number != int(number):
        raise arguments.fail(f"'n' must be a whole number above 0, not {number}")
    return Multiple(ticks(PASS, arguments.scale()), int(number))


def start_of_update(arguments: Arguments) -> Predicate:
    number = arguments.number()
    first_pass = Compare((Ticks(PASS, ESU),), "==", 0)
    return AllOf((first_pass, Compare((ticks(ESU, arguments.scale(ESQ)),), "==", number)))


def start_of_sequence(arguments: Arguments) -> Predicate:
    first_update = Compare((Ticks(ESU, ESQ),), "==", 0)
    return AllOf((first_update, Compare((Ticks(ESQ, LIFE),), "==", arguments.number())))


def limited_times(arguments: Arguments) -> Predicate:
    item = predicate_of(arguments.condition(), arguments.context)
    met = Met(len(arguments.context.limited))
    arguments.context.limited.append(met)
    return Limited(item, arguments.number(default=1), met)


def combine(kind: type[AllOf] | type[AnyOf]) -> Callable[[Arguments], Predicate]:
    return lambda arguments: kind(tuple(predicate_of(item, arguments.context) for item in arguments.conditions()))


def threshold(arguments: Arguments) -> Predicate:
    node, comparator, indices = arguments.node(), arguments.take("comparator"), arguments.take("indices", ())
    if not isinstance(comparator, str) or comparator not in COMPARATORS:
        raise arguments.fail(f"{comparator!r} is not a comparator", fix=f"one of {', '.join(COMPARATORS)}")
    name = arguments.take("parameter")
    if not isinstance(name, str):
        raise arguments.fail("needs a 'parameter' of its node")
    path = tuple(indices) if isinstance(indices, list | tuple) else (indices,)
    atol, rtol = arguments.number("atol", 0), arguments.number("rtol", 0)
    return Reading(node, name, comparator, arguments.number("threshold"), path, atol, rtol)


def when_finished(kind: type[AllOf] | type[AnyOf]) -> Callable[[Arguments], Predicate]:
    def read(arguments: Arguments) -> Predicate:
        nodes = arguments.nodes() or list(arguments.context.nodes)
        for node in nodes:
            if node not in arguments.context.finishing:
                raise UnsupportedError(
                    f"condition {arguments.type}: node {node!r} does not say when it has finished",
                    fix=f"give it an output port {FINISHED!r} that is not 0 from then on, or use a Threshold",
                )
        return kind(tuple(Reading(node, FINISHED, "!=", 0) for node in nodes))

    return read


class Interval(Struct, frozen=True):
    """The times of an absolute condition, in seconds."""

    repeat: Fraction | None
    start: Fraction | None
    end: Fraction | None
    start_counts: bool
    end_counts: bool

    @property
    def times(self) -> list[Fraction]:
        return [time for time in (self.repeat, self.start, self.end) if time is not None]

    @property
    def points(self) -> list[Fraction]:
        """Times that must be seen exactly."""
        start = [self.start] if self.start is not None and self.start_counts else []
        return start + ([self.end] if self.end is not None and self.end_counts else [])


def interval_of(arguments: Arguments) -> Interval:
    if arguments.type == "TimeTermination":
        when = arguments.seconds("t", arguments.take("unit", "ms"))
        if when is None:
            raise arguments.fail("needs a time 't'")
        return Interval(None, when, None, arguments.flag("inclusive"), True)
    unit = arguments.take("unit", "ms")
    repeat, start, end = (arguments.seconds(name, unit) for name in ("repeat", "start", "end"))
    if repeat is None and start is None and end is None:
        raise arguments.fail("needs 'repeat', 'start' or 'end'")
    if repeat is not None and repeat <= 0:
        raise arguments.fail("'repeat' must be longer than nothing")
    if start is not None and end is not None and start > end:
        raise arguments.fail("'start' is later than 'end'")
    return Interval(repeat, start, end, arguments.flag("start_inclusive"), arguments.flag("end_inclusive"))


def absolute(arguments: Arguments) -> Predicate:
    times, context = interval_of(arguments), arguments.context
    now, units = (Now(),), context.clock.units
    parts: list[Predicate] = []
    if times.repeat is not None:
        alone = context.sets == 1 and times.start is not None
        offset = units(times.start) if alone and times.start is not None else context.position * context.clock.step
        parts.append(Multiple(Now(), units(times.repeat), offset))
    if times.start is not None:
        parts.append(Compare(now, ">=" if times.start_counts else ">", units(times.start)))
    if times.end is not None:
        parts.append(Compare(now, "<=" if times.end_counts else "<", units(times.end)))
    return AllOf(tuple(parts))


ABSOLUTE = ("TimeInterval", "TimeTermination")
READERS: dict[str, Callable[[Arguments], Predicate]] = {
    "Always": lambda arguments: Constant(True),
    "Never": lambda arguments: Constant(False),
    "All": combine(AllOf),
    "And": combine(AllOf),
    "Any": combine(AnyOf),
    "Or": combine(AnyOf),
    "Not": lambda arguments: Negated(predicate_of(arguments.condition(), arguments.context)),
    "NWhen": limited_times,
    "TimeInterval": absolute,
    "TimeTermination": absolute,
    "BeforeConsiderationSetExecution": time(CSE, "<", ESU),
    "AtConsiderationSetExecution": time(CSE, "==", ESU),
    "AfterConsiderationSetExecution": time(CSE, ">", ESU),
    "AfterNConsiderationSetExecutions": time(CSE, ">=", ESU),
    "BeforePass": time(PASS, "<", ESU),
    "AtPass": time(PASS, "==", ESU),
    "AfterPass": time(PASS, ">", ESU),
    "AfterNPasses": time(PASS, ">=", ESU),
    "EveryNPasses": every_n_passes,
    "BeforeEnvironmentStateUpdate": time(ESU, "<", ESQ),
    "AtEnvironmentStateUpdate": time(ESU, "==", ESQ),
    "AfterEnvironmentStateUpdate": time(ESU, ">", ESQ),
    "AfterNEnvironmentStateUpdates": time(ESU, ">=", ESQ),
    "AtEnvironmentSequence": sequence("=="),
    "AfterEnvironmentSequence": sequence(">"),
    "AfterNEnvironmentSequences": sequence(">="),
    "BeforeNCalls": calls("<"),
    "AtNCalls": calls("=="),
    "AfterCall": calls(">"),
    "AfterNCalls": calls(">="),
    "AfterNCallsCombined": after_n_calls_combined,
    "EveryNCalls": every_n_calls,
    "JustRan": lambda arguments: Compare((Ran(arguments.node()),), "==", 1),
    "AllHaveRun": all_have_run,
    "WhenFinished": when_finished(AllOf),
    "WhenFinishedAny": when_finished(AnyOf),
    "WhenFinishedAll": when_finished(AllOf),
    "AtEnvironmentStateUpdateStart": lambda arguments: Compare((Ticks(PASS, ESU),), "==", 0),
    "AtEnvironmentStateUpdateNStart": start_of_update,
    "AtEnvironmentSequenceStart": lambda arguments: Compare((Ticks(ESU, ESQ),), "==", 0),
    "AtEnvironmentSequenceNStart": start_of_sequence,
    "Threshold": threshold,
}


def predicate_of(condition: Condition, context: ConditionContext) -> Predicate:
    """What a condition says of the counters of a schedule."""
    if condition.type in CALLABLES:
        raise UnsupportedError(
            f"condition {condition.type} calls a Python function, which no file can hold",
            fix="say it by a Threshold on a parameter or output, or by counts of calls",
        )
    if is_structural(condition):
        raise UnsupportedError(
            f"condition {condition.type} changes the order of nodes and cannot be part of another condition",
            fix="let it be the condition of a node, alone or in an All",
        )
    reader = READERS.get(condition.type)
    if reader is None:
        raise UnsupportedError(
            f"there is no condition type {condition.type!r}", fix=f"one of {', '.join(sorted(READERS))}"
        )
    arguments = Arguments(condition, context)
    predicate = reader(arguments)
    arguments.end()
    return predicate


def intervals(
    condition: Condition, context: ConditionContext, is_clocked: bool = True
) -> Iterator[tuple[bool, Interval]]:
    """The absolute times in a condition; as the reference has it, those below Not and NWhen start no clock."""
    arguments = Arguments(condition, context)
    if condition.type in ABSOLUTE:
        yield is_clocked, interval_of(arguments)
    elif condition.type in COMPOSITES:
        for item in arguments.conditions():
            yield from intervals(item, context, is_clocked)
    elif condition.type in ("Not", "NWhen"):
        yield from intervals(arguments.condition(), context, False)


def clock_for(conditions: list[list[tuple[bool, Interval]]], sets: int) -> Clock:
    """The clock that meets every time that the conditions name; a consideration set takes an equal part of a pass."""
    every = [each for condition in conditions for _, each in condition]
    timed = [[each for is_clocked, each in condition if is_clocked] for condition in conditions]
    timed = [condition for condition in timed if condition]
    repeats = [each.repeat for condition in timed for each in condition if each.repeat is not None]
    step = common_measure(repeats) / sets if repeats else duration("1 ms")
    unit = common_measure([step, *(time for each in every for time in each.times)])
    points = [[point for each in condition for point in each.points] for condition in timed]
    start = max(Fraction(0), min((min(each, default=Fraction(0)) for each in points), default=Fraction(0)))
    return Clock(unit, int(step / unit), int(start / unit), bool(timed))
