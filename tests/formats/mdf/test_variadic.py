"""Variadic inputs as modeci_mdf's exporters write them: a text that lists ids, of ports or of parameters."""

import json

import mdf_reference
import numpy as np
import pytest

import whorl
from whorl.errors import RunError
from whorl.formats.mdf.execution_engine import EvaluableGraph

FORMS = ["['a', 'b']", "[a, b]", ["a", "b"]]
A, B = [[1.0, 2.0]], [[3.0, 4.0]]


def concat(inputs, ports=("a", "b"), axis=0, kind="parameters"):
    """A node that joins `a` and `b`; those that are no ports are parameters."""
    values = {"a": A, "b": B}
    call = {"function": "onnx::Concat", "args": {"inputs": inputs}}
    parameters = {"axis": {"value": axis}, **{id: {"value": values[id]} for id in values if id not in ports}}
    node = {
        "input_ports": {id: {"shape": [1, 2], "default_value": values[id]} for id in ports},
        "parameters": parameters,
    }
    node.setdefault(kind, {})["onnx_Concat_1"] = call
    node["output_ports"] = {"out": {"value": "onnx_Concat_1"}}
    return {"m": {"format": "ModECI MDF v0.4", "graphs": {"g": {"nodes": {"n": node}}}}}


def written(data, tmp_path):
    (tmp_path / "m.json").write_text(json.dumps(data))
    return tmp_path / "m.json"


@pytest.mark.parametrize("inputs", FORMS, ids=str)
@pytest.mark.parametrize("ports", [("a", "b"), ("a",), ("b",), ()], ids=str)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("kind", ["parameters", "functions"])
def test_concat_joins_ports_and_parameters_in_the_order_of_the_list(inputs, ports, axis, kind, tmp_path):
    path = written(concat(inputs, ports, axis, kind), tmp_path)
    expected = np.concatenate([A, B], axis)
    model = whorl.load(path)
    assert model.is_compiled()
    np.testing.assert_array_equal(model.simulate()["n.out"], expected[np.newaxis])
    graph = EvaluableGraph(model.graph)
    graph.evaluate()
    np.testing.assert_array_equal(graph.enodes["n"].get_output(), expected)


@pytest.mark.parametrize("inputs", FORMS[:2])
@pytest.mark.parametrize("ports", [("a", "b"), ("a",), ()], ids=str)
def test_concat_gives_what_modeci_mdf_gives(inputs, ports, tmp_path):
    path = written(concat(inputs, ports), tmp_path)
    ((values, _),) = mdf_reference.run_reference(path, [None])
    (actual,) = whorl.load(path).simulate()["n.out"]
    np.testing.assert_array_equal(actual, values["n", "output_ports", "out"])


def test_rows_of_an_input_are_spread_over_the_shape_of_their_port(tmp_path):
    model = whorl.load(written(concat("['b', 'a', 'b']"), tmp_path))
    run = model.simulate(1, inputs={"n.a": [[1.0, 2.0], [5.0, 6.0]], "n.b": [7.0]})
    np.testing.assert_array_equal(run["n.out"], [[[7, 7], [1, 2], [7, 7]], [[3, 4], [5, 6], [3, 4]]])
    with pytest.raises(RunError) as raised:
        model.simulate(inputs={"n.a": [[1.0, 2.0, 3.0]]})
    assert str(raised.value) == "inputs['n.a'] has the shape [3], expected [1, 2]"


def test_list_with_an_id_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(RunError) as raised:
        whorl.load(written(concat("[a, c]"), tmp_path)).simulate()
    assert str(raised.value).endswith(
        "parameter 'onnx_Concat_1' of node 'n': expression 'c': 'c' is not known here\n"
        "  fix: known are axis, a, b, onnx_Concat_1, inputs[0]"
    )


def test_list_in_a_branch_is_several_inputs(tmp_path):
    def branch(inputs):
        node = concat(inputs)["m"]["graphs"]["g"]["nodes"]["n"]
        node["input_ports"] = {"a": {}, "b": {}}
        return {"value": {"graph": {"nodes": {"n": node}, "metadata": {"onnx_inputs": [], "onnx_outputs": ["out"]}}}}

    choice = {
        "input_ports": {"a": {"default_value": A}, "b": {"default_value": B}, "which": {"default_value": 1.0}},
        "parameters": {
            "then_branch": branch("['a', 'b']"),
            "else_branch": branch("[b, a, b]"),
            "r": {"function": "onnx::If", "args": {"cond": "which"}},
        },
        "output_ports": {"out": {"value": "r"}},
    }
    model = whorl.load(written({"m": {"graphs": {"g": {"nodes": {"choice": choice}}}}}, tmp_path))
    np.testing.assert_array_equal(model.simulate()["choice.out"][0], [*A, *B])
    np.testing.assert_array_equal(model.simulate(initial={"choice.which": 0.0})["choice.out"][0], [*B, *A, *B])
