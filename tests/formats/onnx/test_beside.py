"""Files beside a model: which ones it names, and how they come to where a copy is written."""

import numpy as np
import onnx
import pytest
from onnx_text import model

from whorl.formats.onnx import beside
from whorl.formats.onnx.beside import bring_files, locations
from whorl.formats.onnx.files import read_proto


@pytest.fixture
def saved(tmp_path):
    made = model("main (float[2] x) => (float[2] y) { z = Add(x, a) y = Add(z, b) }")
    made.graph.initializer.extend(onnx.numpy_helper.from_array(np.ones(2, np.float32), name) for name in "ab")
    onnx.save(made, tmp_path / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
    return read_proto(tmp_path / "m.onnx")


def test_files_are_named_once(saved):
    assert locations(saved) == ["m.data"]
    assert locations(model("main (float[2] x) => (float[2] y) { y = Neg(x) }")) == []


@pytest.mark.parametrize("links", [True, False])
def test_files_are_linked_or_copied(saved, tmp_path, monkeypatch, links):
    if not links:
        monkeypatch.setattr(beside.os, "link", lambda *_: (_ for _ in ()).throw(OSError()))
    for _ in range(2):
        bring_files(saved, tmp_path, tmp_path / "other")
    assert (tmp_path / "other" / "m.data").read_bytes() == (tmp_path / "m.data").read_bytes()


def test_model_that_is_written_where_it_was_needs_nothing(saved, tmp_path):
    bring_files(saved, tmp_path, tmp_path)
    bring_files(saved, None, tmp_path / "other")
    assert {path.name for path in tmp_path.iterdir()} == {"m.onnx", "m.data"}
