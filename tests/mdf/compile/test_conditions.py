"""Schedules that hang on values: the compiled program runs the nodes that the interpreter runs."""

import numpy as np
import pytest
from mdf.compile.test_requests import by_interpreter
from mdf.models import model, node


def condition(type, **arguments):
    return {"type": type, "kwargs": arguments}


def threshold(comparator=">=", value=5):
    return condition("Threshold", dependency="A", parameter="n", threshold=value, comparator=comparator)


AROUND = "n + 1 if n < 6 else 0"
TO_A_HALF = "n + 1 if n < 6 else n - 5.5"
ONCE = {"environment_state_update": condition("AfterNCalls", dependency="A", n=1)}
EVERY_THIRD = condition("EveryNCalls", dependency="A", n=3)
LATER = condition("AfterNCalls", dependency="A", n=4, time_scale="LIFE")
CASES = {
    "node": (AROUND, {"node_specific": {"B": threshold()}, "termination": ONCE}),
    "equal": (AROUND, {"node_specific": {"B": threshold("==", 3)}, "termination": ONCE}),
    "unequal": (AROUND, {"node_specific": {"B": threshold("!=", 3)}, "termination": ONCE}),
    "not": (AROUND, {"node_specific": {"B": condition("Not", condition=threshold())}, "termination": ONCE}),
    "any": (
        AROUND,
        {"node_specific": {"B": condition("Any", dependencies=[threshold(), EVERY_THIRD])}, "termination": ONCE},
    ),
    "all": (AROUND, {"node_specific": {"B": condition("All", dependencies=[threshold(), LATER])}, "termination": ONCE}),
    "a few times": (
        AROUND,
        {"node_specific": {"B": condition("NWhen", condition=threshold(), n=3)}, "termination": ONCE},
    ),
    "just ran": (
        AROUND,
        {
            "node_specific": {"B": condition("All", dependencies=[threshold(), condition("JustRan", dependency="A")])},
            "termination": ONCE,
        },
    ),
    "end": (TO_A_HALF, {"termination": {"environment_state_update": threshold()}}),
    "end of two": (
        TO_A_HALF,
        {
            "termination": {
                "environment_state_update": condition("Any", dependencies=[threshold(), condition("AfterNPasses", n=4)])
            }
        },
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_program_runs_what_the_interpreter_runs(name):
    step, conditions = CASES[name]
    nodes = {
        "A": node({"n": {"default_initial_value": 0, "value": step}}, ("n",)),
        "B": node({"m": {"default_initial_value": 0, "value": "m + seen"}}, ("m",), {"seen": {}}),
    }
    tested = model(nodes, ["A.n -> B.seen"], conditions)
    assert tested.explain() == "compiled"
    actual, expected = tested.simulate(16), by_interpreter(tested, 16, None)
    for each in expected:
        np.testing.assert_array_equal(actual[each], expected[each])
    first = tested.simulate(7)
    rest = tested.simulate(9, state=first.state)
    for each in expected:
        np.testing.assert_array_equal(np.concatenate([first[each], rest[each]]), expected[each])
