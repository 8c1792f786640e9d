"""Graphs of modeci_mdf's Python objects as documents."""

import numpy as np
import pytest
from mdf.models import data, node

import whorl
from whorl.errors import LoadError
from whorl.formats.mdf.execution_engine import EvaluableGraph, EvaluableParameter
from whorl.formats.mdf.reading import model_of


def counter(mdf, id: str):
    parameter = mdf.Parameter(id="x", value="x + 1", default_initial_value=0)
    ports = [mdf.InputPort(id="i")], [mdf.OutputPort(id="o", value="x")]
    return mdf.Node(id=id, input_ports=ports[0], parameters=[parameter], output_ports=ports[1])


def test_objects_with_nested_conditions_and_time_scales(mdf):
    scale = pytest.importorskip("graph_scheduler").TimeScale.ENVIRONMENT_STATE_UPDATE
    a, b = counter(mdf, "A"), counter(mdf, "B")
    every = mdf.Condition(type="EveryNCalls", kwargs={"dependency": a, "n": 2})
    twice = mdf.Condition(type="Not", condition=mdf.Condition(type="Not", condition=every))
    end = mdf.Condition(type="AfterNCalls", dependency="B", n=3)
    conditions = mdf.ConditionSet(node_specific={"B": twice}, termination={scale: end})
    graph = EvaluableGraph(mdf.Graph(id="g", nodes=[a, b], conditions=conditions))
    graph.evaluate(initializer={"i": 0})
    assert (graph.enodes["A"].get_output(), graph.enodes["B"].get_output()) == (6, 3)
    assert graph.scheduler.execution_list[None][-1] == {a, b} and graph.enodes["A"].node is a


def test_model_of_objects_is_loaded(mdf):
    model = mdf.Model(id="m", graphs=[mdf.Graph(id="g", nodes=[counter(mdf, "A")])], metadata={"by": "hand"})
    actual = whorl.load(model, integrator="rk4")
    assert isinstance(actual, whorl.MdfModel)
    assert (actual.document.id, actual.document.metadata, actual.integrator) == ("m", {"by": "hand"}, "rk4")
    assert actual.simulate(3)["A.o"].tolist() == [1, 2, 3, 4]
    assert whorl.run(model, {"steps": 2})["A.o"].tolist() == [1, 2, 3]


def test_document_is_loaded():
    document = model_of(data({"N": node({"x": {"default_initial_value": 0, "value": "x + 1"}}, ("x",))}))
    assert whorl.load(document).simulate(1)["N.x"].tolist() == [1, 2]


def test_model_without_graphs_is_refused(mdf):
    with pytest.raises(LoadError) as caught:
        whorl.load(mdf.Model(id="m"))
    assert str(caught.value) == "model 'm' has no graph\n  fix: add one"


def test_objects_with_arrays(mdf):
    parameter = mdf.Parameter(
        id="x",
        value=np.array([2, 2]),
        conditions=[mdf.ParameterCondition(id="c", test="y > 1", value=np.array([7, 8]))],
    )
    node = mdf.Node(
        id="N", parameters=[mdf.Parameter(id="y", value=np.array([1, 2])), parameter],
        output_ports=[mdf.OutputPort(id="o", value="x", shape=(2,))],
    )  # fmt: skip
    graph = EvaluableGraph(mdf.Graph(id="g", nodes=[node]))
    graph.evaluate()
    assert graph.enodes["N"].get_output().tolist() == [2, 8]
    alone = EvaluableParameter(parameter)
    assert alone.evaluate({"y": np.array([3, 0])}).tolist() == [7, 2]


def test_text_of_an_operator_means_itself_in_objects_too():
    mdf = pytest.importorskip("modeci_mdf.mdf", reason="modeci_mdf is not installed")
    node = mdf.Node(id="n", input_ports=[mdf.InputPort(id="x", shape=(2, 3))])
    node.parameters.append(mdf.Parameter(id="equation", value="ij->ji"))
    node.parameters.append(mdf.Parameter(id="onnx_Einsum_1", function="onnx::Einsum", args={"Inputs": "['x']"}))
    node.output_ports.append(mdf.OutputPort(id="y", value="onnx_Einsum_1"))
    graph = EvaluableGraph(mdf.Graph(id="g", nodes=[node]))
    x = np.arange(6.0).reshape(2, 3)
    graph.evaluate(initializer={"x": x})
    np.testing.assert_array_equal(graph.enodes["n"].get_output(), x.T)
