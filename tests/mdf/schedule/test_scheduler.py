"""Schedules: which nodes each call runs, for conditions with the calls beside them."""

from itertools import pairwise

import pytest

from whorl.errors import IterationLimitError, LoadError, RunError
from whorl.mdf.model import Condition, ConditionSet, Edge, Graph, InputPort, Node, OutputPort
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


def test_period_has_a_lead_and_a_cycle():
    later = condition("AfterNEnvironmentStateUpdates", n=2)
    often = condition("EveryNPasses", n=3, time_scale="LIFE")
    period = Schedule(chain("AB", {"A": often, "B": later}, condition("AfterNPasses", n=1))).period()
    assert period is not None
    assert [text(call) for call in period.lead] == ["A", "-", "B"]
    assert [text(call) for call in period.cycle] == ["A B", "B", "B"]
    assert [text(period[at]) for at in (0, 1, 3, 4, 5, 6)] == ["A", "-", "A B", "B", "B", "A B"]


def test_period_that_is_too_long_is_not_reported():
    every = condition("EveryNPasses", n=101, time_scale="LIFE")
    assert Schedule(chain("A", {"A": every}, PASSES)).period(limit=100) is None


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


def test_termination_has_no_calls_since_its_node_ran():
    with pytest.raises(LoadError, match=r"termination of graph 'g': condition EveryNCalls: .* has no node"):
        Schedule(chain("A", end=condition("EveryNCalls", dependency="A", n=1)))


def test_long_chain_is_planned():
    ids = [f"n{at}" for at in range(3000)]
    graph = Graph("g", {id: Node(id, {"i": InputPort("i")}, output_ports={"o": OutputPort("o")}) for id in ids})
    for sender, receiver in pairwise(ids):
        graph.edges[receiver] = Edge(receiver, sender, "o", receiver, "i")
    assert len(Schedule(graph).sets) == 3000
