"""`onnxruntime_session`: embedded once, found on disk again, options and providers passed on."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from compilers import needs_linker
from onnx_text import model

import whorl
from whorl.api import onnxruntime_session as module

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime has no wheel for this platform")
pytestmark = needs_linker
TEXT = """main (float[n] x, int64 k) => (float[n] y) {
    y = Loop (k, "", x) <body = step (int64 i, bool go, float[n] h) => (bool on, float[n] a) {
        on = Identity(go)
        a = Add(h, w)
    }>
}"""


def with_weight(value: float) -> onnx.ModelProto:
    made = model(TEXT)
    made.graph.initializer.append(onnx.numpy_helper.from_array(np.full(1, value, np.float32), "w"))
    return made


FEEDS = {"x": np.zeros(3, np.float32), "k": np.array(4)}


def test_model_is_embedded_once_for_later_sessions(tmp_path, monkeypatch):
    monkeypatch.setenv("WHORL_CACHE", str(tmp_path))
    session = whorl.onnxruntime_session(with_weight(2))
    assert isinstance(session, onnxruntime.InferenceSession) and session.run(None, FEEDS)[0].tolist() == [8, 8, 8]
    monkeypatch.setattr(module, "embed", None)
    again = whorl.onnxruntime_session(with_weight(2).SerializeToString(), providers=["CPUExecutionProvider"])
    assert again.run(None, FEEDS)[0].tolist() == [8, 8, 8]
    assert len(list((tmp_path / "embedded").iterdir())) == 1


def test_without_a_cache_the_folder_goes_with_the_session(tmp_path, monkeypatch):
    monkeypatch.setenv("WHORL_CACHE", "")
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = whorl.onnxruntime_session(with_weight(3), options)
    assert session.run(None, FEEDS)[0].tolist() == [12, 12, 12] and list(tmp_path.iterdir())
    del session
    assert not list(tmp_path.iterdir())


def test_weights_beside_the_model_come_along_and_count(tmp_path, monkeypatch):
    monkeypatch.setenv("WHORL_CACHE", str(tmp_path / "cache"))
    for value in (1, 5):
        folder = Path(tmp_path / "model")
        folder.mkdir(exist_ok=True)
        made = with_weight(value)
        made.graph.initializer.append(onnx.numpy_helper.from_array(np.full(3, value, np.float32), "v"))
        made.graph.node.append(onnx.helper.make_node("Add", ["y", "v"], ["z"]))
        made.graph.output[0].name = "z"
        onnx.save(made, folder / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
        session = whorl.onnxruntime_session(folder / "m.onnx")
        assert session.run(None, FEEDS)[0].tolist() == [5 * value] * 3


def test_least_used_models_go_where_all_take_too_much(tmp_path, monkeypatch):
    monkeypatch.setenv("WHORL_CACHE", str(tmp_path))
    monkeypatch.setattr(module.cache, "LARGEST", 1)
    for value in (1, 2):
        assert whorl.onnxruntime_session(with_weight(value)).run(None, FEEDS)[0][0] == 4 * value
    assert len(list((tmp_path / "embedded").iterdir())) == 1
