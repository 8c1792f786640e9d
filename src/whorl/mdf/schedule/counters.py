"""The counters of a schedule: which integers its conditions look at, and what each event does to them.

An event sets some counters to zero and adds to some; that is the whole machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from whorl.mdf.schedule.arguments import Clock
from whorl.mdf.schedule.predicates import (
    Calls,
    Compare,
    Limited,
    Multiple,
    Now,
    Predicate,
    Ran,
    Scale,
    Slot,
    Ticks,
    Usable,
    cap_of,
    leaves,
    slots_of,
)


class Update(Struct, frozen=True):
    """What an event does to the counters: sets some to 0, then adds to some."""

    zeroed: tuple[int, ...] = ()
    added: tuple[tuple[int, int], ...] = ()

    def apply(self, state: list[int]) -> None:
        for at in self.zeroed:
            state[at] = 0
        for at, step in self.added:
            state[at] += step


class View(Struct):
    """How much of a counter its conditions can tell apart: values up to `cap`, and remainders by `modulus`."""

    cap: int = 0
    modulus: int = 1

    def visible(self, value: int) -> tuple[int, int]:
        return min(value, self.cap), value % self.modulus


class Counters(Struct, frozen=True):
    """The integers that a schedule carries, by slot, and the updates of each event."""

    index: dict[Slot, int]
    views: list[View]
    runs: dict[str, Update]
    """When a node is taken into a consideration set."""
    set_ends: Update
    has_run: dict[str, Update]
    """For each node of the set that ended, after `set_ends`."""
    pass_starts: Update
    pass_ends: Update
    call_starts: Update
    call_ends: Update
    clock: Clock = field(default_factory=Clock)
    now: int | None = None
    """Where absolute time lies, if a condition looks at it."""

    @property
    def lasting(self) -> list[int]:
        """Places of the counters that one call leaves to the next."""
        gone = {*self.call_starts.zeroed, *self.call_ends.zeroed}
        return [at for at in self.index.values() if at not in gone]

    def visible(self, state: Sequence[int], indices: Iterable[int]) -> tuple[tuple[int, int], ...]:
        """All that conditions can tell from `indices` of a state."""
        return tuple(self.views[at].visible(state[at]) for at in indices)


def counters_for(predicates: Iterable[Predicate], nodes: Sequence[str], clock: Clock) -> Counters:
    """The counters that some predicates look at, and no others."""
    every = [leaf for predicate in predicates for leaf in leaves(predicate)]
    index: dict[Slot, int] = {}
    for leaf in every:
        for slot in slots_of(leaf):
            index.setdefault(slot, len(index))
    now = index.get(Now())
    time = () if now is None or not clock.runs else ((now, clock.step),)
    return Counters(
        index,
        views_of(every, index, clock),
        runs=on_runs(index, nodes),
        set_ends=Update(
            tuple(at for slot, at in index.items() if isinstance(slot, Ran)),
            on_tick(index, Scale.CONSIDERATION_SET_EXECUTION).added + time,
        ),
        has_run={node: Update(added=((index[Ran(node)], 1),)) if Ran(node) in index else Update() for node in nodes},
        pass_starts=forgotten_calls(index, Scale.PASS),
        pass_ends=on_tick(index, Scale.PASS),
        call_starts=Update(
            tuple(at for slot, at in index.items() if isinstance(slot, Usable))
            + forgotten_calls(index, Scale.ENVIRONMENT_STATE_UPDATE).zeroed
        ),
        call_ends=on_tick(index, Scale.ENVIRONMENT_STATE_UPDATE),
        clock=clock,
        now=now,
    )


def views_of(every: Iterable[Predicate], index: dict[Slot, int], clock: Clock) -> list[View]:
    """For each counter the comparisons that it meets."""
    views = [View() for _ in index]
    for leaf in every:
        match leaf:
            case Compare(slots, _, number):
                for slot in slots:
                    views[index[slot]].cap = max(views[index[slot]].cap, cap_of(number))
            case Multiple(slot, number):
                view = views[index[slot]]
                view.modulus = math.lcm(view.modulus, number)
            case Limited(number=number, met=met):
                views[index[met]].cap = max(views[index[met]].cap, cap_of(number))
            case _:
                pass
    if Now() in index:
        views[index[Now()]].cap = max(views[index[Now()]].cap, clock.start + 1)
    return views


def on_runs(index: dict[Slot, int], nodes: Sequence[str]) -> dict[str, Update]:
    """A run uses up what others gave to the node, and gives one use of the node to every other and to itself."""
    zeroed: dict[str, list[int]] = {node: [] for node in nodes}
    added: dict[str, list[tuple[int, int]]] = {node: [] for node in nodes}
    for slot, at in index.items():
        match slot:
            case Calls(node):
                added[node].append((at, 1))
            case Usable(giver, user):
                zeroed[user].append(at)
                added[giver].append((at, 1))
            case _:
                pass
    return {node: Update(tuple(zeroed[node]), tuple(added[node])) for node in nodes}


def on_tick(index: dict[Slot, int], ended: Scale) -> Update:
    """One more unit of `ended` in all coarser scales; counts within finer and equal scales begin anew."""
    ticks = [(slot, at) for slot, at in index.items() if isinstance(slot, Ticks)]
    added = tuple((at, 1) for slot, at in ticks if slot.of == ended)
    return Update(tuple(at for slot, at in ticks if slot.of < slot.scale <= ended), added)


def forgotten_calls(index: dict[Slot, int], started: Scale) -> Update:
    """Counts of calls within the scale that starts and within finer ones begin anew."""
    return Update(tuple(at for slot, at in index.items() if isinstance(slot, Calls) and slot.scale <= started))
