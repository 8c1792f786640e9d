"""ONNX models as MDF files: written, read back and evaluated they give what the ONNX model gives."""

import json

import numpy as np
import onnx
import pytest

import whorl
from whorl.formats.mdf.files import read_mdf, write_mdf
from whorl.formats.mdf.onnx.importer import model_from_onnx
from whorl.formats.mdf.writing import data_of
from whorl.mdf.engine.engine import Engine


def evaluated(source, feeds, path, precision="float64"):
    """The outputs of the imported model, by the names that the ONNX model gives them."""
    model = model_from_onnx(source)
    write_mdf(model, path)
    again = read_mdf(path)
    assert data_of(again) == data_of(model)
    graph = next(iter(again.graphs.values()))
    engine = Engine(graph, precision=precision)
    names = [each.name for each in whorl.load(source).main.arguments if each.name in feeds]
    ids = dict(zip(names, graph.metadata["onnx_inputs"], strict=True))
    engine.evaluate(None, {ids[name]: value for name, value in feeds.items()})
    ports = {id: part.value for node in engine.nodes.values() for id, part in node.outputs.items()}
    return [ports[id] for id in graph.metadata["onnx_outputs"]]


def parsed(text, opset=15):
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]>\n{text}')


FLAT = parsed("""
    net (float[2, 3] "x.1", float[3] "/w") => (float[2, 2] y, float[2, 3] same) <float[3, 2] W = {1, 0, 0, 1, 1, 1}> {
        "a.b" = Add("x.1", "/w")
        p = MatMul("a.b", W)
        y = Clip(p, , limit)
        limit = Constant<value_float = 3.0>()
        same = Concat<axis = 1>(left, right)
        left, right = Split<axis = 1>("x.1", sizes)
        sizes = Constant<value_ints = [1, 2]>()
    }""")


def test_constants_are_parameters_and_inputs_are_ports():
    graph = model_from_onnx(FLAT).graphs["net"]
    node = next(node for node in graph.nodes.values() if "B" in node.parameters)
    assert node.parameters["B"].value == [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    types = {"x_1": [2, 3], "_w": [3], "y": [2, 2], "same": [2, 3]}
    assert graph.metadata == {
        "onnx_inputs": ["x_1", "_w"],
        "onnx_outputs": ["y", "same"],
        "onnx_types": {id: {"dtype": "float32", "shape": shape} for id, shape in types.items()},
        "onnx_names": {"x_1": "x.1", "_w": "/w"},
    }
    assert graph.nodes["Add"].input_ports["x_1"].shape == (2, 3)
    assert len(graph.edges) == 4


def test_models_of_other_versions_are_rewritten(tmp_path):
    text = "net (float[2, 3] x) => (float[2] y) {{ {} y = ReduceMean{}(x{}) }}"
    old = parsed(text.format("", "<axes = [1], keepdims = 0>", ""), 11)
    new = parsed(text.format("axes = Constant<value_ints = [1]>()", "<keepdims = 0>", ", axes"), 20)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for model in (old, new):
        assert evaluated(model, {"x": x}, tmp_path / "m.yaml")[0].tolist() == [1.0, 4.0]


def test_recorded_loops_as_nodes(corpus, tmp_path):
    folders = sorted((corpus / "mdf_loop").glob("*/model.onnx"))
    if not folders:
        pytest.skip("the corpus has no mdf_loop")
    for path in folders:
        meta = json.loads((path.parent / "meta.json").read_text())
        feeds = dict(np.load(path.parent / "inputs.npz"))
        actual = evaluated(path, feeds, tmp_path / "m.json")
        expected = whorl.run(path, feeds)
        for name, value in zip(meta["outputs"], actual, strict=True):
            assert np.shape(value) == expected[name].shape, path.parent.name
            np.testing.assert_allclose(value, expected[name], rtol=1e-6, err_msg=path.parent.name)
    assert len(folders) == 24


def test_weights_may_go_into_an_array_file(tmp_path):
    weights = np.arange(600, dtype=np.float32).reshape(20, 30) / 7
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["x", "W"], ["y"])],
        "net",
        [onnx.helper.make_tensor_value_info("x", 1, [2, 20])],
        [onnx.helper.make_tensor_value_info("y", 1, [2, 30])],
        [onnx.numpy_helper.from_array(weights, "W")],
    )
    model = model_from_onnx(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 15)]))
    write_mdf(model, tmp_path / "m.json", npz=True)
    assert (tmp_path / "m.json").stat().st_size < 2500
    x = np.arange(40.0).reshape(2, 20)
    for each in (model, read_mdf(tmp_path / "m.json")):
        engine = Engine(each.graphs["net"])
        engine.evaluate(None, {"x": x})
        np.testing.assert_allclose(engine.nodes["MatMul"].outputs["y"].value, x @ weights.astype(float), rtol=1e-12)
    simulated = whorl.load(tmp_path / "m.json").simulate(record=["MatMul.y"], initial={"MatMul.x": x})
    np.testing.assert_allclose(simulated["MatMul.y"][0], x @ weights.astype(float), rtol=1e-12)
