"""When each node of a graph runs: consideration sets, conditions over integer counters, and the end of a call.

Conditions tell counters apart only up to the largest number that they are compared with, and by remainders. Where no
condition reads a value the calls therefore repeat; `Schedule.period` gives the lead and the cycle, and the compiled
model is straight code. A call that comes back to the same state never ends, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from msgspec import Struct

from whorl.errors import IterationLimitError, LoadError, RunError, WhorlError
from whorl.mdf.model import Condition, Datum, Graph
from whorl.mdf.schedule.arguments import ConditionContext, as_condition, check_depth, scale_named
from whorl.mdf.schedule.conditions import FINISHED, Interval, clock_for, intervals, predicate_of
from whorl.mdf.schedule.counters import Counters, counters_for
from whorl.mdf.schedule.predicates import (
    AllOf,
    Calls,
    Compare,
    Constant,
    Predicate,
    Reading,
    Scale,
    Usable,
    compiled,
    leaves,
    slots_of,
)
from whorl.mdf.schedule.structure import Dependencies, apply_structure, consideration_sets, is_structural

ESU, ESQ = Scale.ENVIRONMENT_STATE_UPDATE, Scale.ENVIRONMENT_SEQUENCE
MAX_PASSES = 1_000_000
FIRST_LOOK = 64

T = TypeVar("T")
Set = tuple[str, ...]
Call = tuple[Set, ...]
Visible = tuple[tuple[int, int], ...]


class Period(Struct, frozen=True):
    """Calls as they come: first those of `lead`, then those of `cycle` again and again."""

    lead: tuple[Call, ...]
    cycle: tuple[Call, ...]

    def __getitem__(self, call: int) -> Call:
        return self.lead[call] if call < len(self.lead) else self.cycle[(call - len(self.lead)) % len(self.cycle)]


class Plan(Struct, frozen=True):
    """What is known of a schedule before it runs."""

    sets: tuple[Set, ...]
    conditions: dict[str, Predicate]
    ends: tuple[Predicate, Predicate]
    """Of a call, and of the whole sequence of calls: either ends the call."""
    counters: Counters
    warnings: tuple[str, ...]

    @property
    def readings(self) -> list[Reading]:
        """The comparisons of values, in the order of the nodes."""
        every = [leaf for predicate in (*self.conditions.values(), *self.ends) for leaf in leaves(predicate)]
        return [leaf for leaf in every if isinstance(leaf, Reading)]


def dependencies_of(graph: Graph) -> Dependencies:
    """For each node its senders; an edge into a port with a default value does not wait."""
    senders: Dependencies = {node: set() for node in graph.nodes}
    for edge in graph.edges.values():
        if graph.nodes[edge.receiver].input_ports[edge.receiver_port].default_value is None:
            senders[edge.receiver].add(edge.sender)
    return senders


def split_structural(condition: Condition) -> tuple[Condition | None, list[Condition]]:
    """A node's condition without its structural parts, which may stand alone or side by side in an All, and these."""
    if is_structural(condition):
        return None, [condition]
    if condition.type not in ("All", "And"):
        return condition, []
    name, items = next(iter(condition.kwargs.items()), ("dependencies", ()))
    members = [as_condition(item, condition.type) for item in items] if isinstance(items, list | tuple) else []
    structural = [item for item in members if is_structural(item)]
    if not structural:
        return condition, []
    rest = [item for item in members if not is_structural(item)]
    return (Condition(condition.type, {name: rest}) if rest else None), structural


def plan_of(graph: Graph) -> Plan:
    """Reads the conditions of a graph, each once."""
    where = f"graph {graph.id!r}"
    arguments = dict(graph.conditions.node_specific) if graph.conditions else {}
    unknown = [node for node in arguments if node not in graph.nodes]
    if unknown:
        raise LoadError(f"there are conditions of {', '.join(map(repr, unknown))}, which is no node", where)
    notes: list[str] = []
    senders, basic = dependencies_of(graph), {}
    for node, condition in arguments.items():
        try:
            own, structural = split_structural(as_condition(condition, f"node {node!r}"))
            senders = apply_structure(senders, node, structural, notes)
        except WhorlError as error:
            raise error.at(f"condition of node {node!r} in {where}") from None
        if own is not None:
            basic[node] = own
    try:
        sets = consideration_sets(senders)
    except WhorlError as error:
        raise error.at(where) from None
    return read_conditions(graph, senders, sets, basic, notes)


def read_conditions(
    graph: Graph, senders: Dependencies, sets: tuple[Set, ...], basic: dict[str, Condition], notes: list[str]
) -> Plan:
    nodes = list(graph.nodes)
    finishing = [node for node, what in graph.nodes.items() if FINISHED in what.output_ports]
    context = ConditionContext(graph.nodes, finishing, sets=len(sets))
    ends = {scale: condition for scale, condition in terminations(graph).items() if scale in (ESU, ESQ)}
    of_node = {node: f"condition of node {node!r} in graph {graph.id!r}" for node in nodes}
    of_end = f"termination of graph {graph.id!r}"
    every = [(basic[node], of_node[node]) for node in basic] + [(end, of_end) for end in ends.values()]
    times = [locate_errors(times_of, each, context, where) for each, where in every]
    context.clock = clock_for(times, len(sets))
    order = {node: at for at, node in enumerate(nodes)}
    positions = {node: at for at, each in enumerate(sets) for node in each}
    predicates: dict[str, Predicate] = {}
    for node in (node for each in sets for node in each):
        context.owner, context.position = node, positions[node]
        if node in basic:
            predicates[node] = locate_errors(predicate_of, basic[node], context, of_node[node])
        else:
            waited_for = sorted(senders[node], key=order.__getitem__)
            predicates[node] = AllOf(tuple(Compare((Usable(sender, node),), ">=", 1) for sender in waited_for))
    context.owner, context.position = None, 0
    all_ran = AllOf(tuple(Compare((Calls(node, ESU),), ">=", 1) for node in nodes))
    update_ends = locate_errors(predicate_of, ends[ESU], context, of_end) if ESU in ends else all_ran
    sequence_ends = locate_errors(predicate_of, ends[ESQ], context, of_end) if ESQ in ends else Constant(False)
    counters = counters_for([*predicates.values(), update_ends, sequence_ends], nodes, context.clock)
    notes += order_notes(sets, predicates) + inner_edge_notes(graph, positions)
    return Plan(sets, predicates, (update_ends, sequence_ends), counters, tuple(notes))


def times_of(condition: Condition, context: ConditionContext) -> list[tuple[bool, Interval]]:
    """The absolute times in a condition, which is not nested too deep."""
    check_depth(condition)
    return list(intervals(condition, context))


def terminations(graph: Graph) -> dict[Scale, Condition]:
    if graph.conditions is None:
        return {}
    result = graph.conditions.termination
    return {scale_named(scale): as_condition(each, "termination") for scale, each in result.items()}


def locate_errors(
    read: Callable[[Condition, ConditionContext], T], condition: Condition, context: ConditionContext, where: str
) -> T:
    """What `read` makes of a condition; its errors get the place in the file."""
    try:
        return read(condition, context)
    except WhorlError as error:
        raise error.at(where) from None


def order_notes(sets: tuple[Set, ...], predicates: dict[str, Predicate]) -> list[str]:
    """Nodes whose condition looks at calls of others that are considered at the same time."""
    notes = []
    for each in sets:
        indices = {node: at for at, node in enumerate(each)}
        for node in each:
            looked_at = {
                slot.node if isinstance(slot, Calls) else slot.giver
                for slot in slots_of(predicates[node])
                if isinstance(slot, Calls | Usable)
            }
            for other in sorted(looked_at & indices.keys() - {node}, key=indices.__getitem__):
                notes.append(
                    f"the condition of node {node!r} counts calls of {other!r}, which is considered at the same "
                    "time; the order of the nodes in the file decides"
                )
    return notes


def inner_edge_notes(graph: Graph, positions: dict[str, int]) -> list[str]:
    """Edges between nodes that are considered at the same time."""
    return [
        f"edge {edge.id!r} joins nodes that are considered at the same time; their order in the file decides "
        "whether its value is the last one or the one before"
        for edge in graph.edges.values()
        if edge.sender != edge.receiver and positions[edge.sender] == positions[edge.receiver]
    ]


def no_values(reading: Reading) -> Datum:
    raise RunError(f"the schedule reads {reading.name!r} of node {reading.node!r}, and only a run knows that value")


class Schedule:
    """A graph's schedule while it runs. `state` holds its counters; `read` tells it values that thresholds need."""

    def __init__(
        self,
        graph: Graph,
        read: Callable[[Reading], Datum] = no_values,
        max_passes: int = MAX_PASSES,
        plan: Plan | None = None,
    ) -> None:
        self.graph, self.max_passes = graph, max_passes
        self.plan = plan or plan_of(graph)
        self.counters = self.plan.counters
        self.state = [0] * len(self.counters.index)
        index = self.counters.index
        self.allows = {node: compiled(each, index, self.state, read) for node, each in self.plan.conditions.items()}
        self.call_ended, self.sequence_ended = (compiled(each, index, self.state, read) for each in self.plan.ends)
        self.ended = self.call_ended if self.plan.ends[1] == Constant(False) else self.either_ended

    @property
    def sets(self) -> tuple[Set, ...]:
        return self.plan.sets

    @property
    def has_threshold(self) -> bool:
        """Whether values decide what runs; if not, every call is known before the first."""
        return bool(self.plan.readings)

    def restore(self, state: list[int]) -> None:
        """Goes back to a state that was copied from `state`."""
        self.state[:] = state

    def either_ended(self) -> bool:
        return self.call_ended() or self.sequence_ended()

    def call(self) -> Iterator[Set]:
        """The consideration sets that one evaluation executes; each is to be run before the next is asked for."""
        counters, state = self.counters, self.state
        counters.call_starts.apply(state)
        self.advance_clock()
        passes, previous = 0, None
        while not self.ended():
            if passes >= FIRST_LOOK:
                previous = self.check_endless(passes, previous)
            counters.pass_starts.apply(state)
            yield from self.run_pass()
            counters.pass_ends.apply(state)
            passes += 1
        counters.call_ends.apply(state)
        # The end of the sequence is asked for once more after each call, which an NWhen in it counts.
        self.sequence_ended()

    def run_pass(self) -> Iterator[Set]:
        """The consideration sets of one pass; an empty one where nothing ran."""
        something, timed = False, self.counters.clock.runs
        for each in self.plan.sets:
            if self.ended():
                break
            executed = self.select_nodes(each)
            something |= bool(executed)
            if executed or timed:
                yield executed
                self.end_set(executed)
        if not something and not timed:
            yield ()
            self.end_set(())

    def select_nodes(self, considered: Set) -> Set:
        """The nodes that may run, asked again until nothing changes: one may let another of the same set run."""
        result: dict[str, None] = {}
        changed = True
        while changed and len(result) < len(considered):
            changed = False
            for node in considered:
                if node not in result and self.allows[node]():
                    result[node] = None
                    self.counters.runs[node].apply(self.state)
                    changed = True
        return tuple(result)

    def end_set(self, executed: Set) -> None:
        self.counters.set_ends.apply(self.state)
        for node in executed:
            self.counters.has_run[node].apply(self.state)

    def advance_clock(self) -> None:
        """Time starts no earlier than the first time that an absolute condition names."""
        if self.counters.now is not None:
            self.state[self.counters.now] = max(self.state[self.counters.now], self.counters.clock.start)

    def check_endless(self, passes: int, previous: Visible | None) -> Visible | None:
        """Ends a call in which what conditions can see comes back to `kept`, which is renewed at powers of two."""
        where = f"graph {self.graph.id!r}"
        if passes >= self.max_passes:
            raise IterationLimitError(f"a call took more than {self.max_passes} passes", where)
        if self.has_threshold:
            return None
        visible = self.counters.visible(self.state, range(len(self.state)))
        if visible == previous:
            raise RunError(
                f"the call never ends: after {passes} passes the schedule is where it was before",
                where,
                "every node must be able to run, or a termination condition must hold at some time",
            )
        return visible if passes.bit_count() == 1 else previous

    def period(self, limit: int = 4096) -> Period | None:
        """The calls from the start as a lead and a cycle; None where values decide or `limit` calls show no cycle."""
        if self.has_threshold:
            return None
        copy = Schedule(self.graph, max_passes=self.max_passes, plan=self.plan)
        indices = self.counters.lasting
        met: dict[Visible, int] = {}
        calls: list[Call] = []
        while len(calls) < limit:
            visible = copy.counters.visible(copy.state, indices)
            if visible in met:
                return Period(tuple(calls[: met[visible]]), tuple(calls[met[visible] :]))
            met[visible] = len(calls)
            calls.append(tuple(copy.call()))
        return None
