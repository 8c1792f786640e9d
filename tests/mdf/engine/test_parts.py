"""The parts of a node: how each gets its next value."""

from mdf.engine.test_engine import engine, node, outputs


def test_parameter_sees_the_ones_before_it_updated_and_itself_as_it_was():
    parameters = {
        "x": {"default_initial_value": 1, "value": "x + y"},
        "y": {"default_initial_value": 10, "value": "x"},
    }
    actual = engine({"N": node(parameters, "(x, y)")})
    assert outputs(actual, None, None, None) == [(11, 11), (22, 22), (44, 44)]


def test_time_derivative_begins_anew_without_a_time_step():
    actual = engine({"N": node({"x": {"default_initial_value": 1, "time_derivative": "-x"}})})
    assert outputs(actual, None, 0.5, 0.5, None, 0.5) == [1, 0.5, 0.25, 1, 0.5]


def test_time_derivative_goes_from_its_initial_value_where_the_first_call_has_a_time_step():
    actual = engine({"N": node({"k": {"value": 4}, "x": {"default_initial_value": "k / 2", "time_derivative": "1"}})})
    assert outputs(actual, 0.25) == [2.25]


def test_condition_sees_its_own_previous_value_and_the_last_that_has_wins():
    conditions = {"high": {"test": "x > 2", "value": 0}, "even": {"test": "x == 2", "value": "x * 10"}}
    actual = engine({"N": node({"x": {"default_initial_value": 0, "value": "x + 1", "conditions": conditions}})})
    assert [int(value) for value in outputs(actual, *[None] * 6)] == [1, 2, 20, 0, 1, 2]


def test_condition_alone_gives_a_parameter_its_value():
    actual = engine({"N": node({"x": {"conditions": {"c": {"test": "1 > 2", "value": 5}}}})})
    assert outputs(actual, None) == [0.0]


def test_parameter_of_a_function_of_its_node_is_evaluated_after_it():
    actual = engine({"N": node({"k": {"value": 3}, "x": {"value": "f + 1"}}, functions={"f": {"value": "2 * k"}})})
    assert outputs(actual, None, None) == [7, 7]


def test_function_sees_parameters_as_they_were():
    parameters = {"x": {"default_initial_value": 0, "value": "x + 1"}}
    actual = engine({"N": node(parameters, "(x, f)", functions={"f": {"value": "x"}})})
    assert outputs(actual, None, None) == [(1, 0), (2, 1)]
