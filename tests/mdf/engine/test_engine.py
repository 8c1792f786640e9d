"""The engine: small graphs as data, with the values that each call gives beside them."""

import numpy as np
import pytest

from whorl.errors import LoadError, RunError
from whorl.formats.mdf.reading import graph_of
from whorl.mdf.engine.engine import Engine


def engine(nodes, edges=None, conditions=None, **options) -> Engine:
    return Engine(graph_of("g", {"nodes": nodes, "edges": edges or {}, "conditions": conditions}), **options)


def node(parameters=None, output="x", inputs=None, functions=None) -> dict:
    return {
        "input_ports": inputs or {},
        "parameters": parameters or {},
        "functions": functions or {},
        "output_ports": {"o": {"value": output}},
    }


def edge(sender, receiver, port="i", **parameters) -> dict:
    ends = {"sender": sender, "sender_port": "o", "receiver": receiver, "receiver_port": port}
    return {**ends, "parameters": parameters}


def outputs(engine, *times, node="N", initializer=None) -> list:
    actual = []
    for at, time in enumerate(times):
        engine.evaluate(time, initializer if at == 0 else None)
        actual.append(engine.value((node, "output_ports", "o")))
    return actual


# ---- parameters --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.0 * 2", 2), ("5 / 2", 2.5), ("4 / 2", 2), ("1.0", 1.0), ("k", 2.0), ("k + 0", 2), ("numpy.sqrt(4)", 2.0)],
)
def test_whole_float_of_arithmetic_becomes_an_int(text, value):
    (actual,) = outputs(engine({"N": node({"k": {"value": 2.0}}, text)}), None)
    assert actual == value and isinstance(actual, type(value))


def test_values_may_change_their_shape():
    parameters = {"x": {"default_initial_value": [1.0], "value": "numpy.concatenate([x, x])"}}
    assert [value.shape for value in outputs(engine({"N": node(parameters)}), *[None] * 3)] == [(2,), (4,), (8,)]


# ---- ports and edges ---------------------------------------------------------------------------------------------

PASSES = {"termination": {"environment_state_update": {"type": "AfterNPasses", "kwargs": {"n": 3}}}}
SUM = {"x": {"default_initial_value": 0, "value": "x + i"}}


@pytest.mark.parametrize(("version", "total"), [("0.4.15", 10), ("0.4.13", 30)])
def test_value_in_a_port_is_used_once_or_retained(version, total):
    actual = engine({"N": node(SUM, inputs={"i": {}})}, conditions=PASSES, inputs=version)
    assert outputs(actual, None, initializer={"i": 10}) == [total]


@pytest.mark.parametrize(("reduce", "value"), [("overwrite", 3), ("add", 2 * 5 + 3), ("multiply", 2 * 5 * 3)])
@pytest.mark.parametrize("version", ["0.4.15", "0.4.13"])
def test_edges_into_one_port_are_combined(reduce, value, version):
    nodes = {"A": node({"x": {"value": 5}}), "B": node({"x": {"value": 3}})}
    nodes["N"] = node(output="i", inputs={"i": {"reduce": reduce}})
    actual = engine(nodes, {"a": edge("A", "N", weight=2), "b": edge("B", "N")}, inputs=version)
    assert outputs(actual, None, None) == [value, value]
    assert len(actual.warnings) == (reduce == "overwrite")


def test_combined_arrays_leave_their_senders_alone():
    nodes = {"A": node({"x": {"value": [1.0, 2.0]}}), "B": node({"x": {"value": 3}})}
    nodes["N"] = node(output="i", inputs={"i": {"reduce": "add", "shape": [2]}})
    actual = engine(nodes, {"a": edge("A", "N"), "b": edge("B", "N")})
    np.testing.assert_array_equal(outputs(actual, None)[0], [4.0, 5.0])
    np.testing.assert_array_equal(actual.value(("A", "output_ports", "o")), [1.0, 2.0])


def test_weight_may_be_an_array():
    nodes = {"A": node({"x": {"value": 2}}), "N": node(output="i", inputs={"i": {"shape": [2]}})}
    np.testing.assert_array_equal(outputs(engine(nodes, {"e": edge("A", "N", weight=[1, 3])}), None)[0], [2, 6])


def test_default_value_cuts_a_cycle():
    nodes = {
        "A": node(output="back + 1", inputs={"back": {"default_value": 100}}),
        "N": node(output="2 * i", inputs={"i": {}}),
    }
    actual = engine(nodes, {"there": edge("A", "N"), "back": edge("N", "A", "back")})
    assert outputs(actual, None, None, None) == [202, 406, 814]


def test_port_without_an_edge_has_zeros_of_its_shape():
    actual = engine({"N": node(output="i", inputs={"i": {"shape": [2]}})})
    first, second = outputs(actual, None, None)
    assert (first.dtype, second.dtype, second.shape) == (np.dtype(int), np.dtype(float), (2,))


def test_port_of_a_large_shape_takes_no_memory_until_it_is_used():
    ports = {f"i{at}": {"shape": [2**28]} for at in range(100)}
    actual = engine({"N": node(output="i0[5]", inputs=ports)})
    assert outputs(actual, None, None) == [0, 0]
    actual.restore(actual.save())


def test_threshold_ends_a_call():
    end = {"type": "Threshold", "kwargs": {"dependency": "N", "parameter": "x", "threshold": 3, "comparator": ">="}}
    counts = node({"x": {"default_initial_value": 0, "value": "x + 1"}})
    actual = engine({"N": counts}, conditions={"termination": {"environment_state_update": end}})
    assert outputs(actual, None, None) == [3, 3]
    assert actual.last == ()


def test_onnx_function_runs_in_float64_unless_requested():
    parameters = {"k": {"value": [0.1]}, "x": {"function": "onnx::Mul", "args": {"A": "k", "B": "k"}}}
    (exact,) = outputs(engine({"N": node(parameters)}), None)
    (short,) = outputs(engine({"N": node(parameters)}, precision="float32"), None)
    assert exact[0] == 0.1 * 0.1 and short[0] == np.float32(0.1) * np.float32(0.1)


# ---- state, errors -----------------------------------------------------------------------------------------------


def test_state_is_saved_set_and_restored():
    conditions = {"node_specific": {"N": {"type": "EveryNPasses", "kwargs": {"n": 2, "time_scale": "LIFE"}}}, **PASSES}
    actual = engine({"N": node({"x": {"default_initial_value": [0.0], "value": "x + 1"}})}, conditions=conditions)
    actual.evaluate()
    saved = actual.save()
    after = [actual.evaluate(), outputs(actual, None)[0].tolist()]
    actual.restore(saved)
    assert [actual.evaluate(), outputs(actual, None)[0].tolist()] == after
    actual.set(("N", "parameters", "x"), np.array([10.0]))
    assert outputs(actual, None)[0] == 11.0 + (len([each for each in actual.last if each]) - 1)


def test_value_that_waits_in_a_port_is_saved_with_the_state():
    nodes = {"A": node({"x": {"value": 5}}), "N": node(output="i", inputs={"i": {"reduce": "add"}})}
    once = {"node_specific": {"N": {"type": "AtPass", "kwargs": {"n": 7}}}, **PASSES}
    actual, again = (engine(nodes, {"e": edge("A", "N")}, conditions=once) for _ in range(2))
    actual.evaluate(initializer={"i": 100})
    again.restore(actual.save())
    for each in (actual, again):
        each.nodes["N"].inputs["i"].give(5)
        assert each.value(("N", "input_ports", "i")) == 105


def test_values_are_read_by_location():
    actual = engine({"N": node({"k": {"value": 2}})})
    assert actual.value(("N", "parameters", "k")) is None
    with pytest.raises(RunError, match="there is no 'z' among the parameters of node 'N'"):
        actual.value(("N", "parameters", "z"))


def test_error_names_node_part_and_expression():
    actual = engine({"N": node({"x": {"default_initial_value": 0, "value": "x + missing"}})})
    with pytest.raises(RunError) as caught:
        actual.evaluate()
    assert str(caught.value).startswith(
        "parameter 'x' of node 'N': expression 'x + missing': 'missing' is not known here"
    )


@pytest.mark.parametrize(
    ("reduce", "weight", "message"),
    [
        ("add", 1, "input port 'i': its values cannot be joined: operands could not be broadcast"),
        ("overwrite", [1, 2, 3, 4], "input port 'i', edge from 'o' of node 'A': the weight cannot scale its value"),
    ],
)
def test_values_that_do_not_go_together_are_an_error(reduce, weight, message):
    nodes = {"A": node({"x": {"value": [1, 2]}}), "B": node({"x": {"value": [1, 2, 3]}})}
    nodes["N"] = node(output="i", inputs={"i": {"reduce": reduce}})
    with pytest.raises(RunError, match=message):
        engine(nodes, {"a": edge("A", "N", weight=weight), "b": edge("B", "N")}).evaluate()


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ({"N": node(functions={"f": {"value": "g"}, "g": {"value": "f"}})}, "node 'N': functions 'f', 'g' need each"),
        ({"N": node({"x": {"value": "__import__('os')"}})}, "parameter 'x' of node 'N': expression .* is refused"),
    ],
)
def test_graph_without_meaning_is_refused(nodes, message):
    with pytest.raises(LoadError, match=message):
        engine(nodes)


def test_threshold_on_nothing_is_refused():
    end = {"type": "Threshold", "kwargs": {"dependency": "N", "parameter": "y", "threshold": 3, "comparator": ">="}}
    with pytest.raises(LoadError, match="graph 'g': a threshold names 'y', which node 'N' has not"):
        engine({"N": node({"x": {"value": 1}})}, conditions={"termination": {"environment_state_update": end}})


def test_random_numbers_come_from_who_is_requested():
    drawn = []

    def draws(node: str, part: str):
        def draw(name, position, arguments, keywords):
            drawn.append((node, part, name, position, tuple(arguments)))
            return 0.5

        return draw

    parameters = {"x": {"value": "2 * numpy.random.normal(1, 3)"}}
    assert outputs(engine({"N": node(parameters)}, draws=draws), None) == [1]
    assert set(drawn) == {("N", "x", "normal", 0, (1, 3))}
