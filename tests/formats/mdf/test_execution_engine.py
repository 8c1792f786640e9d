"""modeci_mdf's interface on whorl's engine: its objects and files in, its attributes out."""

import contextlib
import io
import json

import numpy as np
import pytest

from whorl.errors import UnsupportedError
from whorl.formats.mdf.execution_engine import EvaluableFunction, EvaluableGraph, EvaluableParameter
from whorl.mdf.model import Function, Parameter, ParameterCondition

COUNTER = {"x": {"default_initial_value": 0, "value": "x + 1"}}
TWO = {
    "nodes": {
        "A": {"input_ports": {"i": {}}, "parameters": COUNTER, "output_ports": {"o": {"value": "x + i"}}},
        "B": {
            "input_ports": {"i": {}},
            "functions": {"f": {"function": "linear", "args": {"variable0": "i", "slope": 2, "intercept": 1}}},
            "output_ports": {"o": {"value": "f"}, "twice": {"value": "2 * f"}},
        },
    },
    "edges": {"AB": {"sender": "A", "sender_port": "o", "receiver": "B", "receiver_port": "i"}},
}


def test_graph_of_a_file_is_evaluated_call_by_call():
    graph = EvaluableGraph({"g": TWO})
    graph.evaluate(initializer={"i": 10})
    graph.evaluate(time_increment=0.1, array_format="numpy")
    assert graph.enodes["A"].evaluable_parameters["x"].curr_value == 2
    assert graph.enodes["B"].evaluable_functions["f"].curr_value == 5
    assert graph.enodes["B"].evaluable_inputs["i"].curr_value is None
    assert graph.enodes["B"].get_output() == (5, 10) and graph.enodes["B"].get_output("twice") == 10
    assert graph.output_enodes == [graph.enodes["B"]] and graph.enodes["A"].get_output() == 2
    assert graph.order_of_execution == ["A", "B"] * 2
    assert [{node.id for node in each} for each in graph.scheduler.execution_list[None]] == [{"A"}, {"B"}] * 2
    assert graph.root_nodes == ["A"] and [edge.id for edge in graph.ordered_edges] == ["AB"]


def test_values_can_be_set():
    graph = EvaluableGraph(TWO)
    graph.evaluate()
    graph.enodes["A"].evaluable_parameters["x"].curr_value = 41
    graph.enodes["A"].evaluable_inputs["i"].set_input_value(100)
    graph.evaluate()
    assert graph.enodes["A"].get_output() == 142


def test_edges_are_ordered_from_the_roots():
    nodes = {id: {"input_ports": {"i": {}}, "output_ports": {"o": {"value": "i"}}} for id in "CBA"}
    nodes["A"]["input_ports"]["i"]["default_value"] = 1
    ends = {"BC": ("B", "C"), "CA": ("C", "A"), "AB": ("A", "B")}
    edges = {
        id: {"sender": ends[id][0], "sender_port": "o", "receiver": ends[id][1], "receiver_port": "i"} for id in ends
    }
    graph = EvaluableGraph({"nodes": nodes, "edges": edges})
    assert graph.root_nodes == ["A"] and [edge.id for edge in graph.ordered_edges] == ["AB", "BC", "CA"]


def test_other_array_formats_are_refused():
    with pytest.raises(UnsupportedError, match="arrays cannot be in the format 'tensorflow'"):
        EvaluableGraph(TWO).evaluate(array_format="tensorflow")


@pytest.mark.parametrize(
    ("value", "names", "expected"),
    [
        ("3 + 4", {}, 7),
        ("[x, 4]", {"x": 3}, [3, 4]),
        ([1, 2], {}, [1, 2]),
        ("a + b", {"a": np.array([1, 2]), "b": 1}, [2, 3]),
        ("p * 2", {"p": 8}, 16),
    ],
)
def test_parameter_alone_is_evaluated(value, names, expected):
    parameter = EvaluableParameter(Parameter("p", value), verbose=True)
    np.testing.assert_array_equal(parameter.evaluate(names), expected)
    np.testing.assert_array_equal(parameter.get_current_value(names), expected)
    np.testing.assert_array_equal(parameter.curr_value, expected)


def test_parameter_alone_has_conditions_and_goes_on_in_time():
    parameter = EvaluableParameter(
        Parameter("p", default_initial_value=1, time_derivative="k", conditions=[ParameterCondition("c", "p > 3", 0)])
    )
    assert [float(parameter.evaluate({"k": 2, "p": p}, dt)) for p, dt in ((0, None), (1, 0.5), (4, 0.5))] == [1, 2, 0]


def test_function_alone_is_evaluated():
    function = EvaluableFunction(Function("f", "linear", {"variable0": "x", "slope": 2, "intercept": 1}))
    assert function.evaluate({"x": 4}) == 9 and function.curr_value == 9


def test_random_numbers_are_the_ones_of_numpy():
    parameters = {"x": {"default_initial_value": 0, "value": "x * 0 + numpy.random.normal(0, 2)"}}
    graph = EvaluableGraph({"nodes": {"N": {"parameters": parameters, "output_ports": {"o": {"value": "x"}}}}})
    np.random.seed(3)
    graph.evaluate()
    np.random.seed(3)
    assert graph.enodes["N"].get_output() == np.random.normal(0, 2)


# ---- with modeci_mdf's objects -----------------------------------------------------------------------------------


def test_loaded_file_with_parameter_conditions(mdf, tmp_path):
    utils = pytest.importorskip("modeci_mdf.utils")
    parameter = {"default_initial_value": 0, "value": "x + 1", "conditions": {"c": {"test": "x > 1", "value": 0}}}
    nodes = {"N": {"parameters": {"x": parameter}, "output_ports": {"o": {"value": "x"}}}}
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"m": {"format": "ModECI MDF v0.4", "graphs": {"g": {"nodes": nodes}}}}))
    with contextlib.redirect_stdout(io.StringIO()):
        graph = EvaluableGraph(utils.load_mdf(str(path)).graphs[0])
    values = []
    for _ in range(4):
        graph.evaluate()
        values.append(int(graph.enodes["N"].get_output()))
    assert values == [1, 2, 0, 1]


def chain(*operators: str) -> dict:
    """A graph of ONNX functions of one input, each of which takes the result of the one before."""
    nodes, edges = {}, {}
    for at, operator in enumerate(operators):
        port, parameter = f"t{at}", f"/{at}/{operator}"
        nodes[f"n{at}"] = {
            "input_ports": {port: {"shape": [2, 3], "type": "float"}},
            "parameters": {parameter: {"function": f"onnx::{operator}", "args": {"input": port}}},
            "output_ports": {f"t{at + 1}": {"value": parameter}},
        }
        if at:
            ends = {"sender": f"n{at - 1}", "sender_port": port, "receiver": f"n{at}", "receiver_port": port}
            edges[f"e{at}"] = ends
    return {"nodes": nodes, "edges": edges}


def test_model_that_modeci_mdf_exports_gives_the_same_in_onnxruntime(mdf, monkeypatch, tmp_path):
    ort = pytest.importorskip("onnxruntime")
    exporter = pytest.importorskip("modeci_mdf.interfaces.onnx.exporter")
    utils = pytest.importorskip("modeci_mdf.utils")
    monkeypatch.setattr(exporter, "EvaluableGraph", EvaluableGraph)
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"m": {"format": "ModECI MDF v0.4", "graphs": {"g": chain("Sin", "Sin", "Cos")}}}))
    with contextlib.redirect_stdout(io.StringIO()):
        model = utils.load_mdf(str(path))
        (exported,) = exporter.mdf_to_onnx(model)
    exported.opset_import[0].version, exported.ir_version = 13, 8
    array = np.array([[0, 0, 0], [1, 1, 1]], np.float32)
    (expected,) = ort.InferenceSession(exported.SerializeToString()).run(None, {exported.graph.input[0].name: array})
    graph = EvaluableGraph(model.graphs[0])
    graph.evaluate(initializer={"t0": array})
    np.testing.assert_array_equal(graph.output_enodes[0].get_output(), expected)
