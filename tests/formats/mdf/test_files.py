"""MDF files in all their forms: what is read, what is written again, and what is refused with its place."""

import json

import numpy as np
import pytest

from whorl.errors import LoadError, SaveError
from whorl.formats.mdf.files import read_mdf, write_mdf
from whorl.formats.mdf.reading import model_of
from whorl.formats.mdf.writing import data_of
from whorl.mdf.model import Graph


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


@pytest.mark.parametrize("ending", ["json", "yaml", "yml"])
def test_files_hold_what_the_document_says(tmp_path, ending):
    path = tmp_path / f"model.{ending}"
    write_mdf(model_of(FULL), path)
    again = read_mdf(path)
    assert data_of(again) == FULL
    assert list(again.graphs["g"].nodes) == ["second", "first"]
    assert again.graphs["g"].nodes["second"].functions["v"].extra == {"unit": "mV"}


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


def test_bson_is_read(tmp_path):
    bson = pytest.importorskip("bson", reason="pymongo is not installed")
    (tmp_path / "m.bson").write_bytes(bson.encode(FULL))
    assert data_of(read_mdf(tmp_path / "m.bson")) == FULL


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


def test_writing_needs_a_known_ending(tmp_path):
    with pytest.raises(SaveError, match=r"use \.json, \.yaml or \.yml"):
        write_mdf(model_of(FULL), tmp_path / "m.xml")
