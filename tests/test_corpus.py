"""Third-party models with loops: each loads, is described, runs, and agrees with onnxruntime where that runs it."""

import numpy as np
import pytest

import whorl
from whorl.api.describe import describe
from whorl.api.synthetic import synthetic_feeds
from whorl.cli import main
from whorl.ir.verify import verify

SPECIAL = {"ort_crop_and_resize": {"input2:0": np.array([0, 1], np.int32)}}
"""Inputs that may not be just any numbers: here, which image each box is cut from."""
RTOL, ATOL = 1e-4, 1e-5

pytestmark = pytest.mark.slow


def feeds_for(path, module):
    return synthetic_feeds(module, seed=1) | SPECIAL.get(path.stem, {})


def test_model_loads_verifies_and_is_described(corpus_model, capsys):
    module = whorl.load(corpus_model)
    verify(module)
    loops = [entry for entry in describe(module)["control_flow"] if entry["kind"] in ("Loop", "If")]
    assert loops
    assert main(["show", str(corpus_model)]) == 0
    assert loops[0]["kind"] in capsys.readouterr().out


@pytest.mark.parametrize("backend", ["interpreter", "native"])
def test_model_agrees_with_onnxruntime(corpus_model, backend):
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime has no wheel for this platform")
    options = whorl.SessionOptions()
    options.backend = backend
    session = whorl.InferenceSession(corpus_model, options)
    feeds = feeds_for(corpus_model, session.module)
    actual = session.run(None, feeds)
    expected = ort.InferenceSession(str(corpus_model), providers=["CPUExecutionProvider"]).run(None, feeds)
    for e, f in zip(expected, actual, strict=True):
        assert (f.dtype, f.shape) == (e.dtype, e.shape)
        np.testing.assert_allclose(f, e, rtol=RTOL, atol=ATOL)


def test_model_written_and_read_again_gives_the_same(corpus_model, tmp_path, monkeypatch):
    monkeypatch.setenv("WHORL_BACKEND", "native")
    module = whorl.load(corpus_model)
    whorl.save(module, tmp_path / "again.onnx")
    feeds = feeds_for(corpus_model, module)
    expected, actual = whorl.run(module, feeds), whorl.run(tmp_path / "again.onnx", feeds)
    assert expected.keys() == actual.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(actual[name], value)
