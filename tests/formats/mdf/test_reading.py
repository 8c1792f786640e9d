"""Plain data as documents: every form that a file may have, and faults with their location."""

import pytest
from formats.mdf.test_files import FULL, data, node

from whorl.errors import LoadError
from whorl.formats.mdf.reading import model_of
from whorl.mdf.model import Condition


def test_conditions_are_nested_objects():
    conditions = model_of(FULL).graphs["g"].conditions
    assert conditions is not None
    assert conditions.node_specific["first"].kwargs["dependencies"] == [Condition("Always", {}, {"kwargs": {}})]


def test_flat_conditions_have_their_arguments_beside_the_type():
    flat = {"node_specific": {"A": {"type": "EveryNCalls", "dependency": {"id": "A"}, "n": 2}}}
    conditions = model_of(data(conditions=flat)).graphs["g"].conditions
    assert conditions.node_specific["A"].kwargs == {"dependency": "A", "n": 2}


def test_both_forms_of_functions_say_the_same():
    forms = {"function": {"linear": {"slope": 2}}}, {"function": "linear", "args": {"slope": 2}}
    first, second = (model_of(data({"A": node(functions={"f": form})})) for form in forms)
    assert first == second


WRONG = {
    "no object": ([], "its content is a list, expected an object with one model"),
    "two models": ({"a": {}, "b": {}}, "it has the entries 'a', 'b', expected one model"),
    "no graphs": ({"a": {"x": 1}}, "'a' has no graphs, so it is not an MDF model"),
    "empty graphs": ({"a": {"graphs": {}}}, "model 'a': there is no graph in it"),
    "nodes": (data("text"), "graph 'g': nodes is 'text', expected an object with the ids as keys"),
    "node": (data({"A": 3}), "node 'A' in graph 'g': its content is 3, expected an object"),
    "port": (
        data({"A": node(input_ports={"x": []})}),
        "input port 'x' in node 'A' in graph 'g': its content is a list, expected an object",
    ),
    "shape": (
        data({"A": node(input_ports={"x": {"shape": "(1,-2)"}})}),
        "input port 'x' in node 'A' in graph 'g': shape is '(1,-2)', expected a list of whole numbers\n"
        "  fix: write a shape as [2, 3]",
    ),
    "huge": (
        data({"A": node(input_ports={"x": {"shape": [100000, 100000]}})}),
        "input port 'x' in node 'A' in graph 'g': shape [100000, 100000] has more than 268435456 elements",
    ),
    "endless axis of no elements": (
        data({"A": node(input_ports={"x": {"shape": [0, 2**62]}})}),
        f"input port 'x' in node 'A' in graph 'g': shape [0, {2**62}] has more than 268435456 elements",
    ),
    "reduce": (
        data({"A": node(input_ports={"x": {"reduce": "max"}})}),
        "input port 'x' in node 'A' in graph 'g': reduce is 'max', expected overwrite, add or multiply",
    ),
    "derivative": (
        data({"A": node(parameters={"V": {"time_derivative": 3}})}),
        "parameter 'V' in node 'A' in graph 'g': time_derivative is 3, expected a text\n  fix: put it in quotes",
    ),
    "metadata": (data({"A": node(metadata=1)}), "node 'A' in graph 'g': metadata is 1, expected an object"),
    "twice": (data({"A": node(parameters=[{"id": "k"}, {"id": "k"}])}), "parameters has the id 'k' twice"),
    "args": (data({"A": node(functions={"f": {"args": 2}})}), "function 'f' in node 'A' in graph 'g': args is 2"),
    "edge": (data({"A": node()}, {"e": {"sender": "A"}}), "edge 'e' in graph 'g': it has no sender_port"),
    "missing node": (
        data({"A": node()}, {"e": {"sender": "B", "sender_port": "y", "receiver": "A", "receiver_port": "x"}}),
        "edge 'e' in graph 'g': sender is 'B', and there is no such node\n  fix: there are 'A'",
    ),
    "missing port": (
        data({"A": node()}, {"e": {"sender": "A", "sender_port": "z", "receiver": "A", "receiver_port": "x"}}),
        "edge 'e' in graph 'g': sender_port is 'z', and node 'A' has no such port\n  fix: there are 'y'",
    ),
    "condition": (
        data(conditions={"node_specific": {"A": {"kwargs": {}}}}),
        "condition of 'A' in conditions in graph 'g': a condition is an object, expected an object with a type",
    ),
    "condition of": (data(conditions={"node_specific": {"B": {"type": "Always"}}}), "there is no node 'B'"),
    "array": (data({"A": node(parameters={"W": {"value": {"npz": "W"}}})}), "array 'W' is in a file of arrays"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_with_its_location(name):
    content, message = WRONG[name]
    with pytest.raises(LoadError) as raised:
        model_of(content)
    assert message in str(raised.value)
