"""Models that others made: embedded, onnxruntime gives what it gave without, in session after session."""

import numpy as np
import onnx
import pytest
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, InvalidGraph, RuntimeException

import whorl
from embed.running import embedded_session, plain_session

REFUSED = (Fail, InvalidArgument, InvalidGraph, RuntimeException)
TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(double)": np.float64, "tensor(bool)": np.bool_}


def draw(session, rng, length):
    feeds = {}
    for value in session.get_inputs():
        shape = [n if isinstance(n, int) else length for n in value.shape]
        feeds[value.name] = np.array(rng.standard_normal(shape) * 3).astype(TYPES[value.type])
    return feeds


def test_model_of_the_corpus_gives_the_same(corpus_model, tmp_path):
    try:
        plain = plain_session(str(corpus_model))
        feeds = [draw(plain, np.random.default_rng(n), n) for n in (1, 3, 8)]
        expected = [plain.run(None, each) for each in feeds]
    except (*REFUSED, KeyError):
        with pytest.raises((*REFUSED, whorl.WhorlError, KeyError)):
            session, _ = embedded_session(corpus_model, tmp_path)
            for n in (1, 3, 8):
                session.run(None, draw(session, np.random.default_rng(n), n))
        return
    session, made = embedded_session(corpus_model, tmp_path)
    for each, outputs in zip(feeds, expected, strict=True):
        for e, actual in zip(outputs, session.run(None, each), strict=True):
            assert np.shape(actual) == np.shape(e)
            np.testing.assert_allclose(actual, e, rtol=1e-4, atol=1e-5)
    assert made.regions or not any(n.op_type in ("Loop", "Scan", "If") for n in onnx.load(corpus_model).graph.node)
