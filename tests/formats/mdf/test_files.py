"""MDF files in all their forms: what is read, what is written again, and what is refused with its place."""

import json

import numpy as np
import pytest

from whorl.errors import LoadError, SaveError
from whorl.formats.mdf.files import read_mdf, write_mdf
from whorl.formats.mdf.reading import model_of
from whorl.formats.mdf.writing import data_of
from whorl.mdf.model import Condition, Graph


def node(**fields):
    return {"input_ports": {"x": {}}, "output_ports": {"y": {"value": "x"}}, **fields}


def data(nodes=None, edges=None, **fields):
    return {"model": {"format": "ModECI MDF v0.4", "graphs": {"g": {"nodes": nodes or {"A": node()}, **fields}}}} | (
        {} if edges is None else {"model": {"format": "", "graphs": {"g": {"nodes": nodes, "edges": edges}}}}
    )


FULL = {
    "model": {
        "format": "ModECI MDF v0.4",
        "generating_application": "by hand",
        "onnx_opset_version": 15,
        "metadata": {"author": {"name": "somebody", "of": [1, None, True]}},
        "version_of_something_else": 3,
        "graphs": {
            "g": {
                "parameters": {"unused": 1.5},
                "nodes": {
                    "second": {
                        "metadata": {"color": [0.1, 0.2]},
                        "input_ports": {"x": {"shape": [2, 3], "type": "float", "reduce": "add", "default_value": 0}},
                        "functions": {
                            "f": {"function": "linear", "args": {"variable0": "x", "slope": "k"}},
                            "v": {"value": "f * 2", "unit": "mV"},
                        },
                        "parameters": {
                            "k": {"value": [[1, 2], [3, 4.5]]},
                            "V": {
                                "default_initial_value": -0.5,
                                "time_derivative": "k - V",
                                "conditions": [{"id": "reset", "test": "V > 1", "value": "0"}],
                            },
                            "goal": {"value": {"ISA": "count", "start": "two"}},
                        },
                        "output_ports": {"y": {"value": "v", "shape": None}},
                    },
                    "first": node(),
                },
                "edges": {
                    "e": {
                        "sender": "second",
                        "receiver": "first",
                        "sender_port": "y",
                        "receiver_port": "x",
                        "parameters": {"weight": [1, 2]},
                    }
                },
                "conditions": {
                    "node_specific": {
                        "first": {"type": "Any", "kwargs": {"dependencies": [{"type": "Always", "kwargs": {}}]}}
                    },
                    "termination": {"environment_state_update": {"type": "AfterPass", "kwargs": {"n": 6}}},
                },
            }
        },
    }
}


def test_reading_and_writing_changes_nothing():
    assert data_of(model_of(FULL)) == FULL


@pytest.mark.parametrize("ending", ["json", "yaml", "yml"])
def test_files_hold_what_the_document_says(tmp_path, ending):
    path = tmp_path / f"model.{ending}"
    write_mdf(model_of(FULL), path)
    again = read_mdf(path)
    assert data_of(again) == FULL
    assert list(again.graphs["g"].nodes) == ["second", "first"]
    assert again.graphs["g"].nodes["second"].functions["v"].extra == {"unit": "mV"}


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


@pytest.mark.parametrize(
    ("written", "shape"), [("(1,)", (1,)), ("(2, 3)", (2, 3)), ([4], (4,)), ("()", ()), ([], ()), (["batch", 3], None)]
)
def test_shapes_are_lists_or_texts(written, shape):
    model = model_of(data({"A": node(input_ports={"x": {"shape": written}})}))
    assert model.graphs["g"].nodes["A"].input_ports["x"].shape == shape


def test_bodies_are_graphs_with_their_metadata(tmp_path):
    body = {"nodes": {"n": node()}, "metadata": {"onnx_inputs": ["x"], "onnx_outputs": ["y"]}}
    nodes = {"A": node(parameters={"body": {"value": {"outer": {"inner": body}}}})}
    write_mdf(model_of(data(nodes)), tmp_path / "m.json")
    value = read_mdf(tmp_path / "m.json").graphs["g"].nodes["A"].parameters["body"].value
    assert isinstance(value["outer"]["inner"], Graph)
    assert data_of(read_mdf(tmp_path / "m.json")) == data(nodes)


def test_arrays_may_lie_beside_the_file(tmp_path):
    weights = np.arange(200.0).reshape(20, 10)
    model = model_of(data({"A": node(parameters={"W": {"value": 0}, "b": {"value": [1, 2]}})}))
    model.graphs["g"].nodes["A"].parameters["W"].value = weights
    write_mdf(model, tmp_path / "net.json", npz=True)
    assert (tmp_path / "net.npz").exists()
    again = read_mdf(tmp_path / "net.json").graphs["g"].nodes["A"].parameters
    np.testing.assert_array_equal(again["W"].value, weights)
    write_mdf(read_mdf(tmp_path / "net.json"), tmp_path / "plain.json")
    assert (
        json.loads((tmp_path / "plain.json").read_text())["model"]["graphs"]["g"]["nodes"]["A"]["parameters"]["W"][
            "value"
        ]
        == weights.tolist()
    )
    (tmp_path / "net.npz").unlink()
    with pytest.raises(LoadError, match=r"parameter 'W' in node 'A'.* there is no net\.npz"):
        read_mdf(tmp_path / "net.json")


def test_xml_of_modelspec_is_read(tmp_path):
    text = """<?xml version="1.0" encoding="UTF-8"?>
    <Model id="m"><Graph id="g"><Node id="A">
      <InputPort id="x" shape="(2, 3)" type="float"/>
      <Parameter id="k" value="[1, 2.5]"/><Parameter id="s" value="k * 2"/><Parameter id="n" value="3"/>
      <OutputPort id="y" value="s"/></Node>
      <Node id="B"><InputPort id="x"/></Node>
      <Edge id="e" sender="A" receiver="B" sender_port="y" receiver_port="x"/>
      <conditions/></Graph></Model>"""
    (tmp_path / "m.xml").write_text(text)
    graph = read_mdf(tmp_path / "m.xml").graphs["g"]
    assert {id: each.value for id, each in graph.nodes["A"].parameters.items()} == {"k": [1, 2.5], "s": "k * 2", "n": 3}
    assert (graph.nodes["A"].input_ports["x"].shape, graph.edges["e"].receiver) == ((2, 3), "B")


def test_bson_is_read(tmp_path):
    bson = pytest.importorskip("bson", reason="pymongo is not installed")
    (tmp_path / "m.bson").write_bytes(bson.encode(FULL))
    assert data_of(read_mdf(tmp_path / "m.bson")) == FULL


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
def test_what_is_wrong_is_named_with_its_place(name):
    content, message = WRONG[name]
    with pytest.raises(LoadError) as raised:
        model_of(content)
    assert message in str(raised.value)


def bomb():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 9)]
    return "\n".join(lines)


HOSTILE = {
    "json twice": ("m.json", '{"m": {"graphs": {"g": {"nodes": {"A": {}, "A": {}}}}}}', "the id 'A' stands twice"),
    "json deep": ("m.json", "[" * 100_000 + "]" * 100_000, "nested too deeply"),
    "json cut": ("m.json", '{"m": ', r"line 1, column 7.* it is not JSON"),
    "json digits": ("m.json", '{"m": ' + "9" * 10_000 + "}", "it is not JSON"),
    "json bytes": ("m.json", b"\xff\xfe\x00", "it is not text in UTF-8"),
    "yaml twice": ("m.yaml", "m:\n  graphs: {}\n  graphs: {}", r"line 3.* the id 'graphs' stands twice"),
    "yaml bomb": ("m.yaml", bomb(), "its aliases multiply without end"),
    "yaml cycle": ("m.yaml", "m: &a [*a]", "an alias stands inside what it names"),
    "yaml object": ("m.yaml", "m: !!python/object/apply:os.getcwd []", "it has the tag"),
    "yaml deep": ("m.yaml", "[" * 5000 + "]" * 5000, "nested too deeply"),
    "yaml cut": ("m.yaml", "m: [1, 2", "it is not YAML"),
    "yaml key": ("m.yaml", "on: {graphs: {}}", "the key on is not a text\n  fix: put it in quotes"),
    "xml bomb": ("m.xml", '<!DOCTYPE m [<!ENTITY a "b">]><Model>&a;</Model>', "it has entities"),
    "xml root": ("m.xml", "<net/>", "its root is 'net', expected Model"),
    "xml cut": ("m.xml", "<Model>", "it is not XML"),
    "ending": ("m.txt", "{}", r"'m\.txt' has no ending of an MDF file"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused(tmp_path, name):
    file, content, message = HOSTILE[name]
    (tmp_path / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(LoadError, match=message):
        read_mdf(tmp_path / file)


def test_dates_of_yaml_are_texts(tmp_path):
    text = "m: {graphs: {g: {nodes: {A: {metadata: {made: 2024-05-01}}}}}}"
    (tmp_path / "m.yaml").write_text(text)
    assert read_mdf(tmp_path / "m.yaml").graphs["g"].nodes["A"].metadata == {"made": "2024-05-01"}


def test_writing_needs_a_known_ending(tmp_path):
    with pytest.raises(SaveError, match=r"use \.json, \.yaml or \.yml"):
        write_mdf(model_of(FULL), tmp_path / "m.xml")
