"""Loops at run time: what no iteration collects."""

import numpy as np
import pytest
from onnx_text import model, run

import whorl

pytestmark = pytest.mark.usefixtures("each_backend")

X = np.zeros((2, 0), np.float32)


def test_zero_trips_with_an_empty_optional_among_the_carried_values():
    source = model("""main (int64 n, float[a, b] x) => (float[k, a, b] ys) {
        o = Optional <type: type_proto = float> ()
        "", ys = Loop (n, "", o) <body = b (int64 i, bool c, optional(float) s)
            => (bool d, optional(float) s, float[e, f] y) { d = Identity(c) y = Neg(x) }>
    }""")
    assert [run(source, n=np.int64(n), x=X)[0].shape for n in (0, 1)] == [(0, 2, 0), (1, 2, 0)]


def test_zero_trips_with_open_lengths_follow_the_operands():
    source = model("""main (int64 n, float[a] x) => (float[k, a] ys) {
        ys = Loop (n, "") <body = b (int64 i, bool c) => (bool d, float[e] y)
            { d = Identity(c) y = Concat<axis = 0>(x, x) }>
    }""")
    session = whorl.InferenceSession(source)
    for length in (3, 1, 3, *range(100)):
        (ys,) = session.run(None, {"n": np.int64(0), "x": np.zeros(length, np.float32)})
        assert ys.shape == (0, 2 * length)
