"""What a condition of a file is read from: its arguments, and where it stands in a graph."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from fractions import Fraction

from msgspec import Struct, field

from whorl.errors import LoadError
from whorl.mdf.model import Condition
from whorl.mdf.schedule.durations import duration
from whorl.mdf.schedule.predicates import Met, Scale

MAX_DEPTH = 64
"""How deep conditions may lie in each other."""


class Clock(Struct, frozen=True):
    """Absolute time as integers: `step` units go by with each consideration set, and no time before `start` is seen."""

    unit: Fraction = Fraction(1, 1000)
    step: int = 1
    start: int = 0
    runs: bool = False
    """Whether time goes by at all; then a consideration set counts also where no node of it runs."""

    def units(self, seconds: Fraction) -> int:
        return int(seconds / self.unit)


class ConditionContext(Struct):
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

    def __init__(self, condition: Condition, context: ConditionContext) -> None:
        self.type, self.context = condition.type, context
        self.left = dict(condition.kwargs)

    def fail(self, message: str, fix: str = "") -> LoadError:
        return LoadError(f"condition {self.type}: {message}", fix=fix)

    def take(self, name: str, default: object = None) -> object:
        return self.left.pop(name, default)

    def number(self, name: str = "n", default: float | None = None) -> float:
        value = self.take(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.fail(f"{name!r} must be a number, not {value!r}")
        if isinstance(value, int) and abs(value) >= 2**63:
            raise self.fail(f"{name!r} is too large")
        if isinstance(value, float) and not math.isfinite(value):
            raise self.fail(f"{name!r} must be a finite number, not {value}")
        return value

    def flag(self, name: str, default: bool = True) -> bool:
        value = self.take(name, default)
        if not isinstance(value, bool):
            raise self.fail(f"{name!r} must be true or false, not {value!r}")
        return value

    def scale(self, default: Scale = Scale.ENVIRONMENT_STATE_UPDATE) -> Scale:
        name = self.take("time_scale")
        return default if name is None else scale_named(name)

    def nodes(self) -> list[str]:
        """The nodes named by `dependency`, `dependencies` or `args`; one or several, empty where none is named."""
        ids: list[object] = []
        for name in ("dependency", "dependencies", "args", "node", "nodes"):
            value = self.take(name)
            ids += value if isinstance(value, list | tuple) else [] if value is None else [value]
        for each in ids:
            if not isinstance(each, str) or each not in self.context.nodes:
                raise self.fail(f"there is no node {each!r}", fix=f"the nodes are {', '.join(self.context.nodes)}")
        return [str(each) for each in ids]

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

    def seconds(self, name: str, unit: object) -> Fraction | None:
        value = self.take(name)
        return None if value is None else duration(value, unit)

    def end(self) -> None:
        if self.left:
            raise self.fail(f"has no argument {', '.join(map(repr, self.left))}")


def as_condition(value: object, where: str) -> Condition:
    """A condition, also where a file's text for it has not been looked at yet."""
    if isinstance(value, Condition):
        return value
    if isinstance(value, dict) and isinstance(value.get("type"), str):
        return Condition(value["type"], dict(value.get("kwargs") or {}))
    raise LoadError(f"{where}: {value!r} is not a condition", fix="write {type: ..., kwargs: {...}}")


def check_depth(condition: Condition) -> None:
    """Refuses conditions that lie too deep in each other."""
    waiting: list[tuple[object, int]] = [(condition, 1)]
    while waiting:
        data, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise LoadError(f"conditions lie more than {MAX_DEPTH} deep in each other")
        if isinstance(data, list | tuple):
            waiting += [(each, depth) for each in data]
        elif isinstance(data, Condition):
            waiting += [(each, depth + 1) for each in data.kwargs.values()]
        elif isinstance(data, dict):
            kwargs = data.get("kwargs")
            waiting += [(each, depth + 1) for each in kwargs.values()] if isinstance(kwargs, dict) else []


def scale_named(name: object) -> Scale:
    """`TimeScale.PASS`, `PASS` and `pass` are the same scale."""
    text = str(name).rsplit(".", 1)[-1].upper()
    if text not in Scale.__members__:
        raise LoadError(f"{name!r} is not a time scale", fix=f"one of {', '.join(Scale.__members__)}")
    return Scale[text]
