"""Conditions that nobody wrote, in graph_scheduler and here: the same nodes run, and periods tell them beforehand."""

import random
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from whorl.mdf.model import Condition, ConditionSet, Edge, Graph, InputPort, Node, OutputPort
from whorl.mdf.schedule.scheduler import Schedule
from whorl.mdf.schedule.structure import Dependencies, apply_structure

gs = pytest.importorskip("graph_scheduler")
pytestmark = pytest.mark.filterwarnings("ignore:.* is dependent on:UserWarning")
Pair = tuple[Condition, Any]
"""A condition of a document and the same of graph_scheduler."""
SLOW_DRAWS = [HealthCheck.filter_too_much, HealthCheck.too_slow]
SETTINGS = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=SLOW_DRAWS)

COUNTED = [
    "BeforePass", "AtPass", "AfterPass", "AfterNPasses", "EveryNPasses", "BeforeConsiderationSetExecution",
    "AtConsiderationSetExecution", "AfterConsiderationSetExecution", "AfterNConsiderationSetExecutions",
    "BeforeEnvironmentStateUpdate", "AtEnvironmentStateUpdate", "AfterEnvironmentStateUpdate",
    "AfterNEnvironmentStateUpdates", "AtEnvironmentSequence", "AfterEnvironmentSequence",
    "AfterNEnvironmentSequences", "AtEnvironmentStateUpdateNStart", "AtEnvironmentSequenceNStart",
]  # fmt: skip
CALLED = ["BeforeNCalls", "AtNCalls", "AfterCall", "AfterNCalls"]
PLAIN = ["Always", "Never", "AtEnvironmentStateUpdateStart", "AtEnvironmentSequenceStart"]
REFERENCE_FAILS = (IndexError, KeyError, UnboundLocalError, AttributeError, ValueError)


class Conditions:
    """Draws conditions; a termination belongs to no node."""

    def __init__(self, draw: random.Random, nodes: list[str], timed: bool) -> None:
        self.draw, self.nodes, self.timed = draw, nodes, timed

    def any(self, depth: int, owned: bool) -> Pair:
        makers: list[Callable[[], Pair]] = [self.plain, self.counted, self.counted, self.called, self.of_nodes]
        makers += [self.interval] * 3 if self.timed else []
        makers += [self.every] * 2 if owned else []
        if depth:
            makers += [lambda: self.combined(depth, owned), lambda: self.one(depth, owned)] * 2
        return self.draw.choice(makers)()

    def pair(self, kind: str, **kwargs: Any) -> Pair:
        return Condition(kind, kwargs), getattr(gs, kind)(**kwargs)

    def plain(self) -> Pair:
        return self.pair(self.draw.choice(PLAIN))

    def counted(self) -> Pair:
        return self.pair(self.draw.choice(COUNTED), n=self.draw.randint(1, 4))

    def called(self) -> Pair:
        kind, node, number = self.draw.choice(CALLED), self.draw.choice(self.nodes), self.draw.randint(0, 4)
        scale = self.draw.choice(list(gs.TimeScale))
        passed = Condition(kind, {"dependency": node, "n": number, "time_scale": f"TimeScale.{scale.name}"})
        return passed, getattr(gs, kind)(node, number, time_scale=scale)

    def every(self) -> Pair:
        return self.pair("EveryNCalls", dependency=self.draw.choice(self.nodes), n=self.draw.randint(1, 3))

    def of_nodes(self) -> Pair:
        some = self.draw.sample(self.nodes, self.draw.randint(1, len(self.nodes)))
        match self.draw.randrange(3):
            case 0:
                return self.pair("JustRan", dependency=some[0])
            case 1:
                return Condition("AllHaveRun", {"dependencies": some}), gs.AllHaveRun(*some)
        number = self.draw.randint(0, 5)
        passed = Condition("AfterNCallsCombined", {"dependencies": some, "n": number})
        return passed, gs.AfterNCallsCombined(*some, n=number)

    def interval(self) -> Pair:
        passed: dict[str, Any] = {"repeat": self.draw.choice(["1 ms", "2ms", "3ms", 4, "0.006 s"])}
        if self.draw.random() < 0.4:
            passed["start"] = self.draw.choice(["1ms", "3 ms"])
        if self.draw.random() < 0.4:
            passed["end"] = self.draw.choice(["5ms", "9 ms"])
        for flag in ("start_inclusive", "end_inclusive"):
            if self.draw.random() < 0.3:
                passed[flag] = False
        return self.pair("TimeInterval", **passed)

    def combined(self, depth: int, owned: bool) -> Pair:
        kind = self.draw.choice(["All", "Any"])
        parts = [self.any(depth - 1, owned) for _ in range(self.draw.randint(1, 3))]
        passed = Condition(kind, {"dependencies": [mine for mine, _ in parts]})
        return passed, getattr(gs, kind)(*(theirs for _, theirs in parts))

    def one(self, depth: int, owned: bool) -> Pair:
        mine, theirs = self.any(depth - 1, owned)
        if self.draw.random() < 0.5:
            return Condition("Not", {"condition": mine}), gs.Not(theirs)
        number = self.draw.randint(1, 4)
        return Condition("NWhen", {"condition": mine, "n": number}), gs.NWhen(theirs, number)


def random_dependencies(draw: random.Random, most: int) -> Dependencies:
    nodes = [f"n{at}" for at in range(draw.randint(1, most))]
    return {node: {other for other in nodes[:at] if draw.random() < 0.4} for at, node in enumerate(nodes)}


def graph_of(senders: Dependencies, conditions: ConditionSet) -> Graph:
    nodes = {id: Node(id, {"i": InputPort("i")}, output_ports={"o": OutputPort("o")}) for id in senders}
    edges = {f"{a}{b}": Edge(f"{a}{b}", a, "o", b, "i") for b, members in senders.items() for a in sorted(members)}
    return Graph("g", nodes, edges, conditions=conditions)


@SETTINGS
@given(seed=st.integers(0, 10**9))
def test_random_conditions_run_the_same_nodes(seed):
    draw = random.Random(seed)
    senders = random_dependencies(draw, 5)
    conditions = Conditions(draw, list(senders), timed=draw.random() < 0.3)
    chosen = {node: conditions.any(2, owned=True) for node in senders if draw.random() < 0.6}
    end, their_end = conditions.any(1, owned=False)
    passes = draw.randint(2, 8)
    end = Condition("Any", {"dependencies": [end, Condition("AfterNPasses", {"n": passes})]})
    their_end = gs.Any(their_end, gs.AfterNPasses(passes))
    mine = ConditionSet({node: pair[0] for node, pair in chosen.items()}, {"environment_state_update": end})
    try:
        theirs = gs.Scheduler(
            senders,
            conditions={node: pair[1] for node, pair in chosen.items()},
            termination_conds={gs.TimeScale.ENVIRONMENT_STATE_UPDATE: their_end},
        )
        expected = [[sorted(each) for each in theirs.run()] for _ in range(6)]
    except REFERENCE_FAILS:
        assume(False)
        return
    schedule = Schedule(graph_of(senders, mine))
    assume(not schedule.plan.warnings)
    calls = [tuple(schedule.call()) for _ in range(20)]
    assert [[sorted(each) for each in call] for call in calls[:6]] == expected
    period = schedule.period()
    assert period is not None and [period[at] for at in range(20)] == calls


STRUCTURAL = ["BeforeNode", "BeforeNodes", "WithNode", "AfterNode", "AfterNodes", "AddEdgeTo", "RemoveEdgeFrom"]
OPERATIONS = ["keep", "MERGE", "DISCARD", "INTERSECTION", "DIFFERENCE", "INVERSE_DIFFERENCE", "REPLACE"]


@SETTINGS
@given(seed=st.integers(0, 10**9))
def test_random_structural_condition_gives_the_same_dependencies(seed):
    draw = random.Random(seed)
    senders = random_dependencies(draw, 6)
    assume(len(senders) > 1)
    kind, owner = draw.choice(STRUCTURAL), draw.choice(list(senders))
    others = [node for node in senders if node != owner]
    nodes = draw.sample(others, draw.randint(1, min(3, len(others))) if kind.endswith("Nodes") else 1)
    options: dict[str, Any] = {}
    if "Edge" not in kind and draw.random() < 0.4:
        options[draw.choice(["owner_receivers", "subject_receivers"])] = draw.choice(OPERATIONS)
        options["ignore_conflicts"] = draw.random() < 0.5
    theirs = getattr(gs, kind)(*nodes, **options)
    theirs.owner = owner
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = theirs.modify_graph({node: set(members) for node, members in senders.items()})
        except gs.ConditionError:
            assume(False)
    assert apply_structure(senders, owner, [Condition(kind, {"nodes": nodes, **options})], []) == expected
