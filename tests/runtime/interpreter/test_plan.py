"""Runs on each backend: what no iteration collects, what a run keeps in memory."""

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


def test_collected_slices_do_not_keep_what_they_are_cut_from():
    source = model("""main (int64 n, float x) => (float[k, 1] ys, seq(float[1]) s) {
        size = Constant <value_ints = [100000]> ()
        zero = Constant <value_ints = [0]> ()
        one = Constant <value_ints = [1]> ()
        empty = SequenceEmpty ()
        s, ys = Loop (n, "", empty) <body = b (int64 i, bool c, seq(float[1]) t)
            => (bool d, seq(float[1]) u, float[1] y) {
            d = Identity(c)
            wide = Expand(x, size)
            negative = Neg(wide)
            y = Slice(negative, zero, one)
            u = SequenceInsert(t, y)
        }>
    }""")
    session = whorl.InferenceSession(source)
    (ys, items) = session.run(None, {"n": np.int64(50), "x": np.float32(1)})
    assert ys.tolist() == [[-1]] * 50 and len(items) == 50
    options = whorl.RunOptions()
    options.max_memory = 3_000_000
    session.run(None, {"n": np.int64(50), "x": np.float32(1)}, options)
