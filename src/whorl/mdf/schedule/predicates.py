"""Conditions of a schedule as data: comparisons of integer slots, what joins them, and readings of values."""

from __future__ import annotations

import enum
import math
import operator
from collections.abc import Callable, Iterator

import numpy as np
from msgspec import Struct

from whorl.errors import RunError
from whorl.mdf.model import Datum


class Scale(enum.IntEnum):
    """Time scales, finest first. One evaluation of a graph is one environment state update."""

    CONSIDERATION_SET_EXECUTION = 0
    PASS = 1
    ENVIRONMENT_STATE_UPDATE = 2
    ENVIRONMENT_SEQUENCE = 3
    LIFE = 4


class Calls(Struct, frozen=True):
    """How often `node` has run in the current `scale`."""

    node: str
    scale: Scale


class Usable(Struct, frozen=True):
    """How often `giver` has run since `user` last ran, in the current evaluation."""

    giver: str
    user: str


class Ticks(Struct, frozen=True):
    """How many units `of` have ended in the current `scale`."""

    of: Scale
    scale: Scale


class Ran(Struct, frozen=True):
    """1 where `node` was in the consideration set that was executed last, else 0."""

    node: str


class Met(Struct, frozen=True):
    """How often the limited condition number `index` has held."""

    index: int


class Now(Struct, frozen=True):
    """Absolute time, in units of the schedule's clock."""


Slot = Calls | Usable | Ticks | Ran | Met | Now


class Constant(Struct, frozen=True):
    """Holds always or never."""

    is_met: bool


class Compare(Struct, frozen=True):
    """The sum of some slots, compared with a number by <, <=, ==, > or >=."""

    slots: tuple[Slot, ...]
    comparator: str
    number: float


class Multiple(Struct, frozen=True):
    """A slot minus `offset` is a multiple of `number`."""

    slot: Slot
    number: int
    offset: int = 0


class AllOf(Struct, frozen=True):
    """Every item holds; those after the first that does not are not asked."""

    items: tuple[Predicate, ...]


class AnyOf(Struct, frozen=True):
    """Some item holds; those after the first that does are not asked."""

    items: tuple[Predicate, ...]


class Negated(Struct, frozen=True):
    """The item does not hold."""

    item: Predicate


class Limited(Struct, frozen=True):
    """The item holds, the first `number` times that it does; `met` counts these."""

    item: Predicate
    number: float
    met: Met


class Reading(Struct, frozen=True):
    """A value of a node compared with a threshold: the only predicate that depends on data."""

    node: str
    name: str
    comparator: str
    threshold: float
    indices: tuple[Datum, ...] = ()
    atol: float = 0.0
    rtol: float = 0.0

    def is_met(self, value: Datum) -> bool:
        for index in self.indices:
            value = value[index]
        number = one_number(value, self)
        if self.comparator in ("==", "!="):
            equal = bool(np.isclose(number, self.threshold, atol=self.atol, rtol=self.rtol))
            return equal is (self.comparator == "==")
        return COMPARATORS[self.comparator](number, self.threshold)


Predicate = Constant | Compare | Multiple | AllOf | AnyOf | Negated | Limited | Reading

COMPARATORS: dict[str, Callable[[Datum, Datum], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def one_number(value: Datum, reading: Reading) -> float:
    array = np.asarray(value)
    try:
        if array.size == 1 and array.dtype.kind in "biufSU":
            return float(array.item())
    except ValueError:
        pass
    raise RunError(
        f"a threshold needs one number, and {reading.name!r} of node {reading.node!r} holds {value!r}",
        fix="name one element by `indices`",
    )


def leaves(predicate: Predicate) -> Iterator[Constant | Compare | Multiple | Limited | Reading]:
    """Every predicate that looks at something, from left to right; a limited one comes after its item."""
    match predicate:
        case AllOf(items) | AnyOf(items):
            for item in items:
                yield from leaves(item)
        case Negated(item):
            yield from leaves(item)
        case Limited(item):
            yield from leaves(item)
            yield predicate
        case _:
            yield predicate


def slots_of(predicate: Predicate) -> Iterator[Slot]:
    """Every slot that a predicate looks at."""
    for leaf in leaves(predicate):
        match leaf:
            case Compare(slots):
                yield from slots
            case Multiple(slot) | Limited(met=slot):
                yield slot
            case _:
                pass


def compiled(
    predicate: Predicate, index: dict[Slot, int], state: list[int], read: Callable[[Reading], Datum]
) -> Callable[[], bool]:
    """A function that tells whether `predicate` holds in `state`, whose slots lie at `index`."""
    match predicate:
        case Constant(is_met):
            return lambda: is_met
        case Compare((slot,), comparator, number):
            at, compare = index[slot], COMPARATORS[comparator]
            return lambda: compare(state[at], number)
        case Compare(slots, comparator, number):
            indices, compare = [index[slot] for slot in slots], COMPARATORS[comparator]
            return lambda: compare(sum(state[at] for at in indices), number)
        case Multiple(slot, number, offset):
            at = index[slot]
            return lambda: (state[at] - offset) % number == 0
        case AllOf((item,)) | AnyOf((item,)):
            return compiled(item, index, state, read)
        case AllOf(items):
            parts = [compiled(item, index, state, read) for item in items]
            return lambda: all(part() for part in parts)
        case AnyOf(items):
            parts = [compiled(item, index, state, read) for item in items]
            return lambda: any(part() for part in parts)
        case Negated(item):
            part = compiled(item, index, state, read)
            return lambda: not part()
        case Limited(item, number, met):
            return limited(compiled(item, index, state, read), number, index[met], state)
        case Reading():
            return lambda: predicate.is_met(read(predicate))


def limited(part: Callable[[], bool], number: float, at: int, state: list[int]) -> Callable[[], bool]:
    def is_met() -> bool:
        if state[at] >= number or not part():
            return False
        state[at] += 1
        return True

    return is_met


def cap_of(number: float) -> int:
    """The least count from which on no comparison with `number` can change."""
    return max(0, math.floor(number) + 1) if math.isfinite(number) else 0
