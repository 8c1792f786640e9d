"""Which parts of a node follow its integrated parameters within a time step."""

import pytest
from mdf.models import model, node

from whorl.errors import UnsupportedError
from whorl.mdf.integration.dependencies import Dependencies


def dependencies(parameters, **parts):
    return Dependencies(model({"N": node(parameters, **parts)}).graph.nodes["N"])


def state(derivative, start=0.0):
    return {"default_initial_value": start, "time_derivative": derivative}


def test_parts_that_follow_a_state_are_in_the_order_in_which_they_need_each_other():
    actual = dependencies(
        {
            "x": state("rate + fixed"),
            "y": state("x"),
            "rate": {"value": "2 * f"},
            "fixed": {"value": "3 * k"},
            "k": {"value": 2},
        },
        functions={"f": {"value": "x + 1"}},
    )
    assert actual.states == ("x", "y")
    assert [part.id for part in actual.parts(["x", "y"], ["x", "y"])] == ["f", "rate"]
    assert actual.parts(["x"], ["y"]) == []


def test_arguments_defaults_and_conditions_are_read():
    pulse = {"value": 1, "conditions": {"late": {"test": "t > 1", "value": 0}}}
    actual = dependencies(
        {"t": state("1"), "variable0": state("f + I"), "I": pulse}, functions={"f": {"function": "linear"}}
    )
    assert [part.id for part in actual.parts(["variable0"], ["variable0"])] == ["f"]
    assert [part.id for part in actual.parts(["variable0"], ["t"])] == ["I"]


def test_parameter_with_a_memory_keeps_its_value_within_a_step():
    actual = dependencies(
        {"x": state("count"), "count": {"value": "count + x"}, "a": {"value": "b + x"}, "b": {"value": "a"}}
    )
    assert actual.states == ("x",)
    assert actual.parts(["x"], ["x"]) == []


def test_draw_within_a_step_is_refused():
    noisy = {"x": state("y"), "y": {"value": "x + numpy.random.normal(0, 1)"}}
    actual = dependencies(noisy)
    with pytest.raises(UnsupportedError) as caught:
        actual.parts(["x"], ["x"])
    assert str(caught.value) == (
        "node 'N': 'y' draws random numbers within a time step\n  fix: use the integrator 'euler'"
    )


def test_draw_that_stands_still_over_a_step_is_none_of_its_parts():
    actual = dependencies({"x": state("noise - x"), "noise": {"value": "numpy.random.normal(0, 1)"}})
    assert actual.parts(["x"], ["x"]) == []
