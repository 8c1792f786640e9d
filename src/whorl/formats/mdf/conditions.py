"""Conditions of an MDF file read as predicates over the counters of a schedule."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from whorl.errors import LoadError, UnsupportedError
from whorl.formats.mdf.document import Condition
from whorl.formats.mdf.durations import common_measure, duration
from whorl.formats.mdf.predicates import (
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

CSE, PASS, ESU, ESQ, LIFE = Scale
COMPOSITES = ("All", "And", "Any", "Or")
CALLABLES = ("Condition", "While", "WhileNot", "CustomGraphStructureCondition", "Custom")
FINISHED = "finished"


@dataclass(frozen=True)
class Clock:
    """Absolute time as integers: `step` units go by with each consideration set, and no time before `start` is seen."""

    unit: Fraction = Fraction(1, 1000)
    step: int = 1
    start: int = 0
    runs: bool = False
    """Whether time goes by at all; then a consideration set counts also where no node of it runs."""

    def units(self, seconds: Fraction) -> int:
        return int(seconds / self.unit)


@dataclass
class Place:
    """What the meaning of a condition depends on, beside its own text."""

    nodes: Collection[str]
    """Ids, in the order of the file."""
    finishing: Collection[str]
    """Nodes with an output port `finished`."""
    owner: str | None = None
    position: int = 0
    """Of the consideration set that holds the owner."""
    sets: int = 1
    clock: Clock = field(default_factory=Clock)
    limited: list[Met] = field(default_factory=list)
    """Counters of the conditions that hold a limited number of times, of the whole schedule."""


class Arguments:
    """Reads the arguments of one condition, and tells which of them nobody asked for."""

    def __init__(self, condition: Condition, place: Place) -> None:
        self.type, self.place = condition.type, place
        self.left = dict(condition.kwargs)

    def fail(self, message: str, fix: str = "") -> LoadError:
        return LoadError(f"condition {self.type}: {message}", fix=fix)

    def take(self, name: str, default: Any = None) -> Any:
        return self.left.pop(name, default)

    def number(self, name: str = "n", default: float | None = None) -> float:
        value = self.take(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.fail(f"{name!r} must be a number, not {value!r}")
        return value

    def flag(self, name: str, default: bool = True) -> bool:
        value = self.take(name, default)
        if not isinstance(value, bool):
            raise self.fail(f"{name!r} must be true or false, not {value!r}")
        return value

    def scale(self, default: Scale = ESU) -> Scale:
        name = self.take("time_scale")
        return default if name is None else scale_named(name)

    def nodes(self) -> list[str]:
        """The nodes named by `dependency`, `dependencies` or `args`; one or several, empty where none is named."""
        found: list[Any] = []
        for name in ("dependency", "dependencies", "args", "node", "nodes"):
            value = self.take(name)
            found += value if isinstance(value, list | tuple) else [] if value is None else [value]
        for each in found:
            if each not in self.place.nodes:
                raise self.fail(f"there is no node {each!r}", fix=f"the nodes are {', '.join(self.place.nodes)}")
        return found

    def node(self) -> str:
        match self.nodes():
            case [one]:
                return one
            case several:
                raise self.fail(f"needs one node as `dependency`, not {len(several)}")

    def conditions(self) -> Iterator[Condition]:
        """The conditions that this one joins, under whatever name they stand."""
        for name in list(self.left):
            value = self.take(name)
            for each in value if isinstance(value, list | tuple) else [value]:
                yield as_condition(each, f"condition {self.type}")

    def condition(self) -> Condition:
        return as_condition(self.take("condition"), f"condition {self.type}")

    def seconds(self, name: str, unit: Any) -> Fraction | None:
        value = self.take(name)
        return None if value is None else duration(value, unit)

    def end(self) -> None:
        if self.left:
            raise self.fail(f"has no argument {', '.join(map(repr, self.left))}")


def as_condition(value: Any, where: str) -> Condition:
    """A condition, also where a file's text for it has not been looked at yet."""
    if isinstance(value, Condition):
        return value
    if isinstance(value, dict) and isinstance(value.get("type"), str):
        return Condition(value["type"], dict(value.get("kwargs") or {}))
    raise LoadError(f"{where}: {value!r} is not a condition", fix="write {type: ..., kwargs: {...}}")


def scale_named(name: Any) -> Scale:
    """`TimeScale.PASS`, `PASS` and `pass` are the same scale."""
    text = str(name).rsplit(".", 1)[-1].upper()
    if text not in Scale.__members__:
        raise LoadError(f"{name!r} is not a time scale", fix=f"one of {', '.join(Scale.__members__)}")
    return Scale[text]


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
    if comparator not in COMPARATORS:
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
