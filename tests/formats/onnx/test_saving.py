"""ONNX files out: weights inside or beside the file."""

import numpy as np
import onnx
import pytest
from onnx_text import model

import whorl
from whorl.errors import SaveError
from whorl.formats.onnx import saving
from whorl.formats.onnx.saving import save_onnx, to_proto

W = np.random.default_rng(1).standard_normal((40, 30)).astype(np.float32)


def weighted(inside: bool = False) -> whorl.Module:
    """x plus weights of 4800 bytes, in a branch or not."""
    text = "y = Add(x, w)"
    if inside:
        text = "y = If (c) <then_branch = t () => (float[40, 30] r) { r = Add(x, w) }, "
        text += "else_branch = e () => (float[40, 30] r) { r = Neg(x) }>"
    source = model(f"main (bool c, float[40, 30] x) => (float[40, 30] y) {{ {text} }}")
    graph = source.graph.node[0].attribute[0].g if inside else source.graph
    graph.initializer.append(onnx.numpy_helper.from_array(W, "w"))
    return whorl.load(source)


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("name", ["m.onnx", "m.onnxtxt"])
def test_saved_model_computes_the_same(tmp_path, name, inside):
    save_onnx(weighted(inside), tmp_path / name)
    outputs = whorl.run(tmp_path / name, {"c": np.array(True), "x": W})
    np.testing.assert_array_equal(outputs["y"], W + W)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("inside", [False, True])
def test_weights_beyond_the_limit_lie_beside_the_file_aligned(tmp_path, monkeypatch, inside):
    monkeypatch.setattr(saving, "EXTERNAL_LIMIT", 100)
    save_onnx(weighted(inside), tmp_path / "m.onnx")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.onnx", "m.onnx.data"]
    proto = onnx.load(tmp_path / "m.onnx", load_external_data=False)
    graphs = [proto.graph, *(attribute.g for node in proto.graph.node for attribute in node.attribute)]
    (tensor,) = (each for graph in graphs for each in graph.initializer if each.external_data)
    entries = {entry.key: entry.value for entry in tensor.external_data}
    assert entries == {"location": "m.onnx.data", "offset": "0", "length": "4800"}
    outputs = whorl.run(tmp_path / "m.onnx", {"c": np.array(True), "x": W})
    np.testing.assert_array_equal(outputs["y"], W + W)


def test_text_has_all_weights_inside(tmp_path, monkeypatch):
    monkeypatch.setattr(saving, "EXTERNAL_LIMIT", 100)
    save_onnx(weighted(), tmp_path / "m.onnxtxt")
    assert [path.name for path in tmp_path.iterdir()] == ["m.onnxtxt"]


def test_small_constants_and_text_stay_in_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(saving, "EXTERNAL_LIMIT", 10)
    source = model("""main (float[2] x) => (float[2] y, string[2] z) <float[2] w = {1, 2}, string[2] s = {"a", "b"}> {
        y = Add(x, w) z = Identity(s)
    }""")
    save_onnx(whorl.load(source), tmp_path / "m.onnx")
    assert not any(tensor.external_data for tensor in onnx.load(tmp_path / "m.onnx").graph.initializer)
    assert whorl.run(tmp_path / "m.onnx", {"x": np.zeros(2, np.float32)})["z"].tolist() == ["a", "b"]


def test_folder_that_is_missing_is_named(tmp_path):
    path = tmp_path / "nowhere" / "m.onnx"
    with pytest.raises(SaveError) as caught:
        save_onnx(weighted(), path)
    assert str(caught.value) == f"cannot write {str(path)!r}: No such file or directory"


def test_proto_has_every_constant_inside():
    (tensor,) = to_proto(weighted()).graph.initializer
    np.testing.assert_array_equal(onnx.numpy_helper.to_array(tensor), W)
    assert not tensor.external_data
