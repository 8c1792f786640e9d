"""Ops of the package onnxruntime-extensions, which whorl calls in its library, give what onnxruntime gives with them.

onnxruntime runs in another process, because the library keeps the functions of the one that registers it.
"""

import importlib.util
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx_text import model

import whorl
from exports.harness import require_all
from whorl.ir.definitions import DEFINITIONS

require_all()

pytestmark = pytest.mark.slow
RUN = """
import pickle, sys
import onnxruntime
library, model, feeds = pickle.load(sys.stdin.buffer)
options = onnxruntime.SessionOptions()
options.register_custom_ops_library(library)
results = onnxruntime.InferenceSession(model, options).run(None, feeds)
sys.stdout.buffer.write(pickle.dumps(results))
"""
WORDS = np.array(["Hello World", "žluť  b", "", "a,b"], object)
NUMBERS = np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32)
CASES = {
    "upper": ("main (string[n] x) => (string[n] y) { y = E.StringUpper (x) }", {"x": WORDS}),
    "length": ("main (string[n] x) => (int64[n] y) { y = E.StringLength (x) }", {"x": WORDS}),
    "concatenated": ("main (string[n] x) => (string[n] y) { y = E.StringConcat (x, x) }", {"x": WORDS}),
    "equal": ("main (string[n] x, string[n] w) => (bool[n] y) { y = E.StringEqual (x, w) }", {"x": WORDS, "w": WORDS}),
    "hashed": (
        "main (string[n] x, int64[k] b) => (int64[n] y) { y = E.StringToHashBucketFast (x, b) }",
        {"x": WORDS, "b": np.array([17])},
    ),
    "replaced once": (
        """main (string[n] x, string[k] p, string[k] r) => (string[n] y) {
            y = E.StringRegexReplace <global_replace = 0> (x, p, r)
        }""",
        {"x": WORDS, "p": np.array(["l"], object), "r": np.array(["L"], object)},
    ),
    "replaced": (
        "main (string[n] x, string[k] p, string[k] r) => (string[n] y) { y = E.StringRegexReplace (x, p, r) }",
        {"x": WORDS, "p": np.array(["l+"], object), "r": np.array(["-"], object)},
    ),
    "split": (
        "main (string[n] x, string[k] s, bool[k] e) => (int64[a, b] i, string[c] v, int64[d] w) "
        "{ i, v, w = E.StringSplit (x, s, e) }",
        {"x": WORDS, "s": np.array([","], object), "e": np.array([True])},
    ),
    "inverse": ("main (float[4, 4] x) => (float[4, 4] y) { y = E.Inverse (x) }", {"x": NUMBERS}),
    "signs": ("main (float[n, m] x) => (float[n, m] y, float[n, m] z) { y, z = E.NegPos (x) }", {"x": NUMBERS}),
    "summed": (
        "main (float[n, m] x, int64[n] s) => (float[k, m] y) { y = E.SegmentSum (x, s) }",
        {"x": NUMBERS, "s": np.array([0, 0, 1, 2])},
    ),
    "in a loop": (
        """main (float[4, 4] x, int64 k) => (float[4, 4] y, float[k, 4, 4] rows) {
            y, rows = Loop (k, "", x) <
                body = step (int64 i, bool go, float[4, 4] h) => (bool on, float[4, 4] a, float[4, 4] b) {
                    on = Identity (go)
                    low, high = E.NegPos (h)
                    a = Sub (high, x)
                    b = Add (low, high)
                }>
        }""",
        {"x": NUMBERS, "k": np.array(9)},
    ),
}


@pytest.fixture(autouse=True)
def registered():
    """Nothing is registered before and after a test."""
    DEFINITIONS.clear()
    yield
    DEFINITIONS.clear()


@pytest.fixture(scope="module")
def library():
    """The library in the package, which is not imported."""
    spec = importlib.util.find_spec("onnxruntime_extensions")
    assert spec is not None and spec.origin is not None
    paths = [path for path in Path(spec.origin).parent.glob("_extensions_pydll*") if path.suffix in (".so", ".pyd")]
    return str(paths[0])


@pytest.mark.parametrize("name", CASES)
def test_ops_of_the_package(name, library):
    text, feeds = CASES[name]
    proto = model(text.replace("E.", "ai.onnx.contrib."), 17, ', "ai.onnx.contrib": 1')
    sent = pickle.dumps((library, proto.SerializeToString(), feeds))
    made = subprocess.run([sys.executable, "-c", RUN], input=sent, capture_output=True, check=True)
    options = whorl.SessionOptions()
    options.register_custom_ops_library(library)
    session = whorl.InferenceSession(proto, options)
    for _ in range(2):
        for e, actual in zip(pickle.loads(made.stdout), session.run(None, feeds), strict=True):
            assert (actual.dtype, actual.shape) == (e.dtype, e.shape)
            if e.dtype == np.float32:
                np.testing.assert_allclose(actual, e, rtol=1e-5, atol=1e-5)
            else:
                np.testing.assert_array_equal(actual, e)
