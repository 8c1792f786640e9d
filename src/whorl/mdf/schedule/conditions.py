"""Conditions of an MDF file read as predicates over the counters of a schedule.

Counters are calls of a node in a scale of time, uses that one node left for another, ticks, and absolute time in units
that all times of the file are multiples of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from whorl.errors import UnsupportedError
from whorl.mdf.model import Condition
from whorl.mdf.schedule.arguments import Arguments, Clock, Place
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
    def read(given: Arguments) -> Predicate:
        return Compare((Calls(given.node(), given.scale()),), comparator, given.number())

    return read


def time(of: Scale, comparator: str, default: Scale) -> Callable[[Arguments], Predicate]:
    def read(given: Arguments) -> Predicate:
        return Compare((ticks(of, given.scale(default)),), comparator, given.number())

    return read


def sequence(comparator: str) -> Callable[[Arguments], Predicate]:
    return lambda given: Compare((Ticks(ESQ, LIFE),), comparator, given.number())


def every_n_calls(given: Arguments) -> Predicate:
    owner = given.place.owner
    if owner is None:
        raise given.fail("counts calls since its own node ran, and a termination has no node")
    return Compare((Usable(given.node(), owner),), ">=", given.number())


def after_n_calls_combined(given: Arguments) -> Predicate:
    scale = given.scale()
    return Compare(tuple(Calls(node, scale) for node in given.nodes()), ">=", given.number())


def all_have_run(given: Arguments) -> Predicate:
    scale = given.scale()
    return AllOf(tuple(Compare((Calls(node, scale),), ">=", 1) for node in given.nodes() or given.place.nodes))


def every_n_passes(given: Arguments) -> Predicate:
    number = given.number()
    if number < 1 or number != int(number):
        raise given.fail(f"'n' must be a whole number above 0, not {number}")
    return Multiple(ticks(PASS, given.scale()), int(number))


def start_of_update(given: Arguments) -> Predicate:
    number = given.number()
    first_pass = Compare((Ticks(PASS, ESU),), "==", 0)
    return AllOf((first_pass, Compare((ticks(ESU, given.scale(ESQ)),), "==", number)))


def start_of_sequence(given: Arguments) -> Predicate:
    first_update = Compare((Ticks(ESU, ESQ),), "==", 0)
    return AllOf((first_update, Compare((Ticks(ESQ, LIFE),), "==", given.number())))


def limited_times(given: Arguments) -> Predicate:
    item = predicate_of(given.condition(), given.place)
    met = Met(len(given.place.limited))
    given.place.limited.append(met)
    return Limited(item, given.number(default=1), met)


def joined(kind: type[AllOf] | type[AnyOf]) -> Callable[[Arguments], Predicate]:
    return lambda given: kind(tuple(predicate_of(item, given.place) for item in given.conditions()))


def threshold(given: Arguments) -> Predicate:
    node, comparator, indices = given.node(), given.take("comparator"), given.take("indices", ())
    if not isinstance(comparator, str) or comparator not in COMPARATORS:
        raise given.fail(f"{comparator!r} is not a comparator", fix=f"one of {', '.join(COMPARATORS)}")
    name = given.take("parameter")
    if not isinstance(name, str):
        raise given.fail("needs a 'parameter' of its node")
    path = tuple(indices) if isinstance(indices, list | tuple) else (indices,)
    atol, rtol = given.number("atol", 0), given.number("rtol", 0)
    return Reading(node, name, comparator, given.number("threshold"), path, atol, rtol)


def when_finished(kind: type[AllOf] | type[AnyOf]) -> Callable[[Arguments], Predicate]:
    def read(given: Arguments) -> Predicate:
        nodes = given.nodes() or list(given.place.nodes)
        for node in nodes:
            if node not in given.place.finishing:
                raise UnsupportedError(
                    f"condition {given.type}: node {node!r} does not say when it has finished",
                    fix=f"give it an output port {FINISHED!r} that is not 0 from then on, or use a Threshold",
                )
        return kind(tuple(Reading(node, FINISHED, "!=", 0) for node in nodes))

    return read


@dataclass(frozen=True)
class Interval:
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


def interval_of(given: Arguments) -> Interval:
    if given.type == "TimeTermination":
        when = given.seconds("t", given.take("unit", "ms"))
        if when is None:
            raise given.fail("needs a time 't'")
        return Interval(None, when, None, given.flag("inclusive"), True)
    unit = given.take("unit", "ms")
    repeat, start, end = (given.seconds(name, unit) for name in ("repeat", "start", "end"))
    if repeat is None and start is None and end is None:
        raise given.fail("needs 'repeat', 'start' or 'end'")
    if repeat is not None and repeat <= 0:
        raise given.fail("'repeat' must be longer than nothing")
    if start is not None and end is not None and start > end:
        raise given.fail("'start' is later than 'end'")
    return Interval(repeat, start, end, given.flag("start_inclusive"), given.flag("end_inclusive"))


def absolute(given: Arguments) -> Predicate:
    times, place = interval_of(given), given.place
    now, units = (Now(),), place.clock.units
    parts: list[Predicate] = []
    if times.repeat is not None:
        alone = place.sets == 1 and times.start is not None
        offset = units(times.start) if alone and times.start is not None else place.position * place.clock.step
        parts.append(Multiple(Now(), units(times.repeat), offset))
    if times.start is not None:
        parts.append(Compare(now, ">=" if times.start_counts else ">", units(times.start)))
    if times.end is not None:
        parts.append(Compare(now, "<=" if times.end_counts else "<", units(times.end)))
    return AllOf(tuple(parts))


ABSOLUTE = ("TimeInterval", "TimeTermination")
READERS: dict[str, Callable[[Arguments], Predicate]] = {
    "Always": lambda given: Constant(True),
    "Never": lambda given: Constant(False),
    "All": joined(AllOf),
    "And": joined(AllOf),
    "Any": joined(AnyOf),
    "Or": joined(AnyOf),
    "Not": lambda given: Negated(predicate_of(given.condition(), given.place)),
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
    "JustRan": lambda given: Compare((Ran(given.node()),), "==", 1),
    "AllHaveRun": all_have_run,
    "WhenFinished": when_finished(AllOf),
    "WhenFinishedAny": when_finished(AnyOf),
    "WhenFinishedAll": when_finished(AllOf),
    "AtEnvironmentStateUpdateStart": lambda given: Compare((Ticks(PASS, ESU),), "==", 0),
    "AtEnvironmentStateUpdateNStart": start_of_update,
    "AtEnvironmentSequenceStart": lambda given: Compare((Ticks(ESU, ESQ),), "==", 0),
    "AtEnvironmentSequenceNStart": start_of_sequence,
    "Threshold": threshold,
}


def predicate_of(condition: Condition, place: Place) -> Predicate:
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
    given = Arguments(condition, place)
    predicate = reader(given)
    given.end()
    return predicate


def intervals(condition: Condition, place: Place, seen: bool = True) -> Iterator[tuple[bool, Interval]]:
    """The absolute times in a condition; as the reference has it, those below Not and NWhen start no clock."""
    given = Arguments(condition, place)
    if condition.type in ABSOLUTE:
        yield seen, interval_of(given)
    elif condition.type in COMPOSITES:
        for item in given.conditions():
            yield from intervals(item, place, seen)
    elif condition.type in ("Not", "NWhen"):
        yield from intervals(given.condition(), place, False)


def clock_for(conditions: list[list[tuple[bool, Interval]]], sets: int) -> Clock:
    """The clock that meets every time that the conditions name; a consideration set takes an equal part of a pass."""
    every = [each for condition in conditions for _, each in condition]
    timed = [[each for seen, each in condition if seen] for condition in conditions]
    timed = [condition for condition in timed if condition]
    repeats = [each.repeat for condition in timed for each in condition if each.repeat is not None]
    step = common_measure(repeats) / sets if repeats else duration("1 ms")
    unit = common_measure([step, *(time for each in every for time in each.times)])
    points = [[point for each in condition for point in each.points] for condition in timed]
    start = max(Fraction(0), min((min(each, default=Fraction(0)) for each in points), default=Fraction(0)))
    return Clock(unit, int(step / unit), int(start / unit), bool(timed))
