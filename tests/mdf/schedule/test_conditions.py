"""Conditions as predicates: which calls each type lets run."""

import pytest
from mdf.schedule.test_scheduler import PASSES, chain, condition, text

from whorl.errors import LoadError, UnsupportedError
from whorl.mdf.model import Condition, OutputPort
from whorl.mdf.schedule.conditions import READERS
from whorl.mdf.schedule.scheduler import Schedule


@pytest.mark.parametrize(
    ("type", "kwargs", "calls"),
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
    actual = text(each for each in schedule.call() if each)
    assert actual == calls.replace("AB", "A B")


def test_every_condition_type_that_a_file_can_say_is_read():
    assert len(READERS) == 42 and {"Threshold", "WhenFinished", "WhenFinishedAny", "WhenFinishedAll"} < set(READERS)


def test_finished_port_ends_a_call():
    graph = chain("A", end=condition("WhenFinished", dependency="A"))
    with pytest.raises(UnsupportedError, match="node 'A' does not say when it has finished"):
        Schedule(graph)
    graph.nodes["A"].output_ports["finished"] = OutputPort("finished")
    values = iter([0, 0, 1])
    assert text(Schedule(graph, read=lambda reading: next(values)).call()) == "A"


@pytest.mark.parametrize(
    ("passed", "message"),
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
def test_condition_that_cannot_be_read_is_refused_with_its_location(passed, message):
    with pytest.raises(LoadError) as caught:
        Schedule(chain("AB", {"B": passed}))
    assert str(caught.value).startswith(f"condition of node 'B' in graph 'g': {message}")
