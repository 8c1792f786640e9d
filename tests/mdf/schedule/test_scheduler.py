"""Schedules: which nodes each call runs, for conditions with the calls beside them."""

from itertools import pairwise

import pytest

from whorl.errors import IterationLimitError, LoadError, RunError, UnsupportedError
from whorl.mdf.model import Condition, ConditionSet, Edge, Graph, InputPort, Node, OutputPort
from whorl.mdf.schedule.conditions import READERS
from whorl.mdf.schedule.scheduler import Schedule


def chain(nodes: str, specific=None, end=None, edges=True) -> Graph:
    """Nodes named by letters, each sending to the next one."""
    graph = Graph("g", {id: Node(id, {"i": InputPort("i")}, output_ports={"o": OutputPort("o")}) for id in nodes})
    for sender, receiver in pairwise(nodes if edges else ""):
        graph.edges[sender + receiver] = Edge(sender + receiver, sender, "o", receiver, "i")
    graph.conditions = ConditionSet(specific or {}, {"environment_state_update": end} if end else {})
    return graph


def text(call) -> str:
    return " ".join("".join(each) or "-" for each in call)


def condition(type: str, **kwargs) -> Condition:
    return Condition(type, kwargs)


PASSES = condition("AfterNPasses", n=4)


@pytest.mark.parametrize(
    "type, kwargs, calls",
    [
        ("Always", {}, "AB AB AB AB"),
        ("Never", {}, "A A A A"),
        ("All", {"dependencies": [condition("AfterPass", n=0), condition("BeforePass", n=2)]}, "A AB A A"),
        ("And", {"dependencies": []}, "AB AB AB AB"),
        ("Any", {"args": [condition("AtPass", n=0), condition("AtPass", n=3)]}, "AB A A AB"),
        ("Or", {"dependencies": []}, "A A A A"),
        ("Not", {"condition": {"type": "AtPass", "kwargs": {"n": 1}}}, "AB A AB AB"),
        ("NWhen", {"condition": condition("Always"), "n": 3}, "AB AB AB A"),
        ("TimeInterval", {"repeat": "2 ms"}, "AB AB AB AB"),
        ("TimeTermination", {"t": "0 ms"}, "AB AB AB AB"),
        ("BeforeConsiderationSetExecution", {"n": 3}, "AB A A A"),
        ("AtConsiderationSetExecution", {"n": 1}, "AB A A A"),
        ("AfterConsiderationSetExecution", {"n": 2}, "A A AB AB"),
        ("AfterNConsiderationSetExecutions", {"n": 2}, "A AB AB AB"),
        ("BeforePass", {"n": 1}, "AB A A A"),
        ("AtPass", {"n": 2}, "A A AB A"),
        ("AfterPass", {"n": 1}, "A A AB AB"),
        ("AfterNPasses", {"n": 1}, "A AB AB AB"),
        ("EveryNPasses", {"n": 2}, "AB A AB A"),
        ("BeforeEnvironmentStateUpdate", {"n": 1}, "AB AB AB AB"),
        ("AtEnvironmentStateUpdate", {"n": 1}, "A A A A"),
        ("AfterEnvironmentStateUpdate", {"n": 1, "time_scale": "TimeScale.LIFE"}, "A A A A"),
        ("AfterNEnvironmentStateUpdates", {"n": 0}, "AB AB AB AB"),
        ("AtEnvironmentSequence", {"n": 0}, "AB AB AB AB"),
        ("AfterEnvironmentSequence", {"n": 0}, "A A A A"),
        ("AfterNEnvironmentSequences", {"n": 1}, "A A A A"),
        ("BeforeNCalls", {"dependency": "A", "n": 2}, "AB A A A"),
        ("AtNCalls", {"dependency": "A", "n": 3}, "A A AB A"),
        ("AfterCall", {"dependency": "A", "n": 3}, "A A A AB"),
        ("AfterNCalls", {"dependencies": "A", "n": 3}, "A A AB AB"),
        ("AfterNCallsCombined", {"dependencies": ["A", "B"], "n": 3}, "A A AB AB"),
        ("EveryNCalls", {"dependency": "A", "n": 2}, "A AB A AB"),
        ("JustRan", {"dependency": "A"}, "AB AB AB AB"),
        ("AllHaveRun", {"dependencies": ["A"]}, "AB AB AB AB"),
        ("AtEnvironmentStateUpdateStart", {}, "AB A A A"),
        ("AtEnvironmentStateUpdateNStart", {"n": 0}, "AB A A A"),
        ("AtEnvironmentSequenceStart", {}, "AB AB AB AB"),
        ("AtEnvironmentSequenceNStart", {"n": 0}, "AB AB AB AB"),
    ],
)
def test_condition_lets_b_run(type, kwargs, calls):
    schedule = Schedule(chain("AB", {"B": Condition(type, kwargs)}, PASSES))
    found = text(each for each in schedule.call() if each)
    assert found == calls.replace("AB", "A B")


def test_every_condition_type_that_a_file_can_say_is_read():
    assert len(READERS) == 42 and {"Threshold", "WhenFinished", "WhenFinishedAny", "WhenFinishedAll"} < set(READERS)


def test_default_call_ends_when_all_have_run():
    assert text(Schedule(chain("ABC")).call()) == "A B C"
    assert text(Schedule(chain("ABC", edges=False)).call()) == "ABC"


def test_time_of_an_interval_goes_on_from_call_to_call():
    schedule = Schedule(chain("A", {"A": condition("TimeInterval", repeat="1 ms", start="2 ms", end="5ms")}, PASSES))
    assert [text(schedule.call()) for _ in range(2)] == ["A A A A", "- - - -"]


def test_threshold_reads_a_value():
    values = iter([0, 1, 2, 3])
    end = condition("Threshold", dependency="A", parameter="o", threshold=2, comparator=">=")
    schedule = Schedule(chain("A", end=end), read=lambda reading: next(values))
    assert schedule.has_threshold and schedule.period() is None
    assert text(schedule.call()) == "A"


@pytest.mark.parametrize(
    "comparator, threshold, is_met",
    [("<", 2, False), ("<=", 2, True), ("==", 2.05, True), ("!=", 2.05, False), (">", 1, True), (">=", 2.5, False)],
)
def test_threshold_compares_one_element_within_tolerance(comparator, threshold, is_met):
    end = condition(
        "Threshold", dependency="A", parameter="o", threshold=threshold, comparator=comparator, indices=[1], atol=0.1
    )
    (reading,) = Schedule(chain("A", end=end)).plan.readings
    assert reading.is_met([7.0, 2.0]) is is_met


def test_threshold_of_an_array_is_refused():
    end = condition("Threshold", dependency="A", parameter="o", threshold=1, comparator=">")
    with pytest.raises(RunError, match=r"needs one number, and 'o' of node 'A' holds \[1, 2\]"):
        list(Schedule(chain("A", end=end), read=lambda reading: [1, 2]).call())


def test_finished_port_ends_a_call():
    graph = chain("A", end=condition("WhenFinished", dependency="A"))
    with pytest.raises(UnsupportedError, match="node 'A' does not say when it has finished"):
        Schedule(graph)
    graph.nodes["A"].output_ports["finished"] = OutputPort("finished")
    values = iter([0, 0, 1])
    assert text(Schedule(graph, read=lambda reading: next(values)).call()) == "A"


def test_period_has_a_lead_and_a_cycle():
    later = condition("AfterNEnvironmentStateUpdates", n=2)
    often = condition("EveryNPasses", n=3, time_scale="LIFE")
    period = Schedule(chain("AB", {"A": often, "B": later}, condition("AfterNPasses", n=1))).period()
    assert period is not None
    assert [text(call) for call in period.lead] == ["A", "-", "B"]
    assert [text(call) for call in period.cycle] == ["A B", "B", "B"]
    assert [text(period[at]) for at in (0, 1, 3, 4, 5, 6)] == ["A", "-", "A B", "B", "B", "A B"]


def test_period_that_is_too_long_is_not_told():
    every = condition("EveryNPasses", n=101, time_scale="LIFE")
    assert Schedule(chain("A", {"A": every}, PASSES)).period(limit=100) is None


def test_state_is_integers_that_can_be_put_back():
    schedule = Schedule(chain("AB", {"B": condition("EveryNPasses", n=3, time_scale="LIFE")}, PASSES))
    list(schedule.call())
    before = list(schedule.state)
    second = text(schedule.call())
    assert all(type(each) is int for each in before) and before != schedule.state
    schedule.restore(before)
    assert text(schedule.call()) == second


def test_endless_call_is_an_error():
    with pytest.raises(RunError, match="the call never ends: after 65 passes the schedule is where it was before"):
        list(Schedule(chain("AB", {"B": condition("Never")})).call())


def test_call_of_too_many_passes_is_an_error():
    end = condition("Threshold", dependency="A", parameter="o", threshold=1, comparator=">")
    with pytest.raises(IterationLimitError, match="more than 100 passes"):
        list(Schedule(chain("A", end=end), read=lambda reading: 0, max_passes=100).call())


def test_cycle_without_a_cut_is_an_error():
    graph = chain("AB")
    graph.edges["BA"] = Edge("BA", "B", "o", "A", "i")
    with pytest.raises(LoadError, match="nodes 'A', 'B' wait for each other in a cycle"):
        Schedule(graph)
    graph.nodes["A"].input_ports["i"].default_value = 1
    assert Schedule(graph).sets == (("A",), ("B",))


def test_order_within_a_set_is_that_of_the_file_and_noted():
    schedule = Schedule(chain("BA", {"B": condition("BeforeNCalls", dependency="A", n=1)}, PASSES, edges=False))
    assert text(schedule.call()) == "BA A A A"
    assert schedule.plan.warnings == (
        "the condition of node 'B' counts calls of 'A', which is considered at the same time; "
        "the order of the nodes in the file decides",
    )


@pytest.mark.parametrize(
    "given, message",
    [
        (condition("Sometimes"), "there is no condition type 'Sometimes'"),
        (condition("While", func="f"), "condition While calls a Python function, which no file can hold"),
        (condition("AtPass"), "condition AtPass: 'n' must be a number, not None"),
        (condition("AtPass", n=float("nan")), "condition AtPass: 'n' must be a finite number, not nan"),
        (condition("AtPass", n=1, m=2), "condition AtPass: has no argument 'm'"),
        (condition("AtPass", n=1, time_scale="DAY"), "'DAY' is not a time scale"),
        (condition("JustRan", dependency="Z"), "condition JustRan: there is no node 'Z'"),
        (condition("JustRan", dependencies=["A", "B"]), "condition JustRan: needs one node as `dependency`, not 2"),
        (condition("EveryNPasses", n=0), "condition EveryNPasses: 'n' must be a whole number above 0, not 0"),
        (condition("Not", condition=3), "condition Not: 3 is not a condition"),
        (
            condition("Not", condition=condition("AddEdgeTo", node="A")),
            "condition AddEdgeTo changes the order of nodes and cannot be part of another condition",
        ),
        (condition("TimeInterval"), "condition TimeInterval: needs 'repeat', 'start' or 'end'"),
        (condition("TimeInterval", start="3 ms", end="1 ms"), "condition TimeInterval: 'start' is later than 'end'"),
        (condition("Threshold", dependency="A", comparator="~"), "condition Threshold: '~' is not a comparator"),
    ],
)
def test_condition_that_cannot_be_read_is_refused_with_its_place(given, message):
    with pytest.raises(LoadError) as caught:
        Schedule(chain("AB", {"B": given}))
    assert str(caught.value).startswith(f"condition of node 'B' in graph 'g': {message}")


def test_termination_has_no_calls_since_its_node_ran():
    with pytest.raises(LoadError, match=r"termination of graph 'g': condition EveryNCalls: .* has no node"):
        Schedule(chain("A", end=condition("EveryNCalls", dependency="A", n=1)))


def test_conditions_that_lie_too_deep_are_refused():
    deep = condition("Always")
    for _ in range(2000):
        deep = condition("Not", condition=deep)
    with pytest.raises(LoadError, match="condition of node 'A' in graph 'g': conditions lie more than 64 deep"):
        Schedule(chain("A", {"A": deep}))


def test_long_chain_is_planned():
    ids = [f"n{at}" for at in range(3000)]
    graph = Graph("g", {id: Node(id, {"i": InputPort("i")}, output_ports={"o": OutputPort("o")}) for id in ids})
    for sender, receiver in pairwise(ids):
        graph.edges[receiver] = Edge(receiver, sender, "o", receiver, "i")
    assert len(Schedule(graph).sets) == 3000
