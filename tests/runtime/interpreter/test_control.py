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


@pytest.mark.parametrize(("lengths", "expected"), [((3, 3), 3), ((1, 1), 1), ((1, 4), 0), ((3, 4), 0), ((), 0)])
def test_zero_trips_over_a_sequence_collect_the_lengths_that_all_its_tensors_have(lengths, expected):
    source = model("""main (int64 n, seq(float[a]) s) => (float[k, b] ys) {
        ys = Loop (n, "") <body = b (int64 i, bool c) => (bool d, float[e] y)
            { d = Identity(c) y = SequenceAt(s, i) }>
    }""")
    session, tensors = whorl.InferenceSession(source), [np.zeros(n, np.float32) for n in lengths]
    for _ in range(2):
        assert session.run(None, {"n": np.int64(0), "s": tensors})[0].shape == (0, expected)


@pytest.mark.parametrize(("n", "m", "expected"), [(3, 3, 3), (1, 1, 1), (1, 4, 0)])
def test_zero_trips_over_a_sequence_that_the_model_makes_collect_the_lengths_of_its_tensors(n, m, expected):
    source = model("""main (int64 n, float[a] x, float[b] y) => (float[k, c] ys) {
        s = SequenceConstruct(x, y)
        ys = Loop (n, "") <body = b (int64 i, bool c) => (bool d, float[e] y1)
            { d = Identity(c) y1 = SequenceAt(s, i) }>
    }""")
    x, y = np.zeros(n, np.float32), np.zeros(m, np.float32)
    assert run(source, n=np.int64(0), x=x, y=y)[0].shape == (0, expected)
